//! The `WebAuthn` ceremonies themselves (W3C Web Authentication Level 3), by `webauthn-rs`: options out,
//! answers in. Knows no database and no request; states and credentials travel as JSON text.

use data_encoding::BASE64URL_NOPAD;
use serde_json::Value;
use url::Url;
use webauthn_rs::prelude::{
    CreationChallengeResponse, CredentialID, DiscoverableAuthentication, Passkey,
    PasskeyRegistration, PublicKeyCredential, RegisterPublicKeyCredential,
    RequestChallengeResponse, Url as ProtocolUrl, Uuid, WebauthnError,
};
use webauthn_rs::{Webauthn, WebauthnBuilder};

/// A ceremony did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum CeremonyError {
    /// The authenticator's answer is not acceptable: wrong challenge, origin, signature or counter.
    #[error("the authenticator's answer was refused")]
    Refused(#[source] WebauthnError),
    /// The answer is not of the form that `PublicKeyCredential.toJSON()` gives.
    #[error("the credential is malformed")]
    Malformed(#[source] serde_json::Error),
    /// A state or credential of ours cannot be read or written.
    #[error("a stored ceremony or passkey is damaged")]
    Damaged(#[source] serde_json::Error),
    /// No relying party can be made of this host.
    #[error("passkeys do not work on this host")]
    Host(#[source] WebauthnError),
}

/// What goes to the browser and what stays here until the answer comes.
#[derive(Debug)]
pub struct Begun {
    /// `{publicKey: …}`.
    pub options: Value,
    /// The state, as JSON text.
    pub state: String,
}

/// A registered credential.
#[derive(Debug)]
pub struct Registered {
    /// The authenticator's credential id, base64url without padding.
    pub credential_id: String,
    /// The serialised credential.
    pub credential: String,
}

/// One host on which passkeys are made and used.
#[derive(Debug)]
pub struct RelyingParty {
    webauthn: Webauthn,
}

fn text_of<T: serde::Serialize>(value: &T) -> Result<String, CeremonyError> {
    serde_json::to_string(value).map_err(CeremonyError::Damaged)
}

fn stored<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, CeremonyError> {
    serde_json::from_str(text).map_err(CeremonyError::Damaged)
}

/// Base64url without padding, as the browser spells credential ids.
fn spell(id: &[u8]) -> String {
    BASE64URL_NOPAD.encode(id)
}

impl RelyingParty {
    /// The relying party of a host name, and the exact origins of its pages. Without any, it takes no
    /// answer but of the host's page on the port of HTTPS.
    pub fn new(rp_id: &str, origins: &[Url]) -> Result<Self, CeremonyError> {
        let secure = format!("https://{rp_id}");
        let secure = ProtocolUrl::parse(&secure)
            .map_err(|_| CeremonyError::Host(WebauthnError::Configuration))?;
        let (first, others) = origins.split_first().unwrap_or((&secure, &[]));
        let builder = WebauthnBuilder::new(rp_id, first)
            .map_err(CeremonyError::Host)?
            .rp_name("Gatehouse");
        let webauthn = others
            .iter()
            .fold(builder, WebauthnBuilder::append_allowed_origin)
            .build()
            .map_err(CeremonyError::Host)?;
        Ok(Self { webauthn })
    }

    /// Begins a registration. Passkeys that exist are excluded, so that one authenticator is not
    /// registered twice; the new one must be discoverable, so that login needs no user name.
    pub fn begin_registration(
        &self,
        user_handle: [u8; 16],
        existing: &[String],
    ) -> Result<Begun, CeremonyError> {
        let existing: Vec<CredentialID> = existing
            .iter()
            .map(|credential| Ok(stored::<Passkey>(credential)?.cred_id().clone()))
            .collect::<Result<_, CeremonyError>>()?;
        let (challenge, state) = self
            .webauthn
            .start_passkey_registration(
                Uuid::from_bytes(user_handle),
                "owner",
                "Owner",
                Some(existing),
            )
            .map_err(CeremonyError::Refused)?;
        let options = discoverable(&challenge)?;
        Ok(Begun {
            options,
            state: text_of(&state)?,
        })
    }

    /// Ends a registration.
    pub fn finish_registration(
        &self,
        state: &str,
        answer: Value,
    ) -> Result<Registered, CeremonyError> {
        let state: PasskeyRegistration = stored(state)?;
        let answer: RegisterPublicKeyCredential =
            serde_json::from_value(answer).map_err(CeremonyError::Malformed)?;
        let passkey = self
            .webauthn
            .finish_passkey_registration(&answer, &state)
            .map_err(CeremonyError::Refused)?;
        Ok(Registered {
            credential_id: spell(passkey.cred_id()),
            credential: text_of(&passkey)?,
        })
    }

    /// Begins a login with whichever discoverable passkey the person picks; fit for conditional UI.
    pub fn begin_login(&self) -> Result<Begun, CeremonyError> {
        let (challenge, state): (RequestChallengeResponse, DiscoverableAuthentication) = self
            .webauthn
            .start_discoverable_authentication()
            .map_err(CeremonyError::Refused)?;
        let options = serde_json::to_value(&challenge).map_err(CeremonyError::Damaged)?;
        Ok(Begun {
            options,
            state: text_of(&state)?,
        })
    }

    /// Ends a login with the stored credential that the answer names; the credential with its new
    /// counter. A counter that does not grow is refused: the authenticator may have been copied.
    pub fn finish_login(
        &self,
        state: &str,
        answer: Value,
        credential: &str,
    ) -> Result<String, CeremonyError> {
        let state: DiscoverableAuthentication = stored(state)?;
        let mut passkey: Passkey = stored(credential)?;
        let answer: PublicKeyCredential =
            serde_json::from_value(answer).map_err(CeremonyError::Malformed)?;
        let result = self
            .webauthn
            .finish_discoverable_authentication_v2(&answer, state, &passkey)
            .map_err(CeremonyError::Refused)?;
        passkey.update_credential(&result);
        text_of(&passkey)
    }
}

/// The credential id that an answer names, spelled as ours are, before anything of it is believed.
pub fn named_credential(answer: &Value) -> Option<String> {
    let named = answer.get("rawId").or_else(|| answer.get("id"))?.as_str()?;
    let bytes = BASE64URL_NOPAD
        .decode(named.trim_end_matches('=').as_bytes())
        .ok()?;
    Some(spell(&bytes))
}

/// `webauthn-rs` asks for a key that may be forgotten by the authenticator; a passkey must be kept.
fn discoverable(challenge: &CreationChallengeResponse) -> Result<Value, CeremonyError> {
    let mut options = serde_json::to_value(challenge).map_err(CeremonyError::Damaged)?;
    let selection = options.pointer_mut("/publicKey/authenticatorSelection");
    if let Some(selection) = selection.and_then(Value::as_object_mut) {
        selection.insert("residentKey".to_owned(), "required".into());
        selection.insert("requireResidentKey".to_owned(), true.into());
    }
    Ok(options)
}

/// The relying-party id for a request: the host of the page that asks. That is the Origin's host where
/// it is the external URL's, and else the request's own host where it is a name; an address has none.
pub fn rp_id_for(
    request_host: Option<&str>,
    origin: Option<&str>,
    external_url: Option<&Url>,
) -> Option<String> {
    let external = external_url.and_then(Url::domain);
    let origin = origin.and_then(|origin| Url::parse(origin).ok());
    match (origin.as_ref().and_then(Url::domain), external) {
        (Some(page), Some(external)) if page == external => Some(external.to_owned()),
        _ => request_host.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_asks_for_a_discoverable_key_with_user_verification() {
        let begun = RelyingParty::new("localhost", &[])
            .unwrap()
            .begin_registration([7; 16], &[])
            .unwrap();
        let selection = &begun.options["publicKey"]["authenticatorSelection"];
        assert_eq!(selection["residentKey"], "required");
        assert_eq!(selection["requireResidentKey"], true);
        assert_eq!(selection["userVerification"], "required");
        assert_eq!(begun.options["publicKey"]["rp"]["id"], "localhost");
    }

    #[test]
    fn a_login_names_no_credential() {
        let begun = RelyingParty::new("gate.example", &[])
            .unwrap()
            .begin_login()
            .unwrap();
        let public_key = &begun.options["publicKey"];
        assert_eq!(public_key["rpId"], "gate.example");
        assert!(
            public_key["allowCredentials"]
                .as_array()
                .is_none_or(Vec::is_empty)
        );
    }

    #[test]
    fn the_page_decides_the_relying_party() {
        let external: Url = "https://gate.example".parse().unwrap();
        let id = |host, origin| rp_id_for(host, origin, Some(&external));
        assert_eq!(id(Some("localhost"), None).as_deref(), Some("localhost"));
        let behind = id(Some("gatehouse.internal"), Some("https://gate.example"));
        assert_eq!(behind.as_deref(), Some("gate.example"));
        assert_eq!(id(None, Some("http://192.0.2.1")), None);
        assert_eq!(
            id(None, Some("https://gate.example")).as_deref(),
            Some("gate.example")
        );
        let foreign = id(Some("localhost"), Some("https://evil.example"));
        assert_eq!(foreign.as_deref(), Some("localhost"));
    }
}
