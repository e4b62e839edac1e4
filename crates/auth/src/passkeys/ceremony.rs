//! The `WebAuthn` ceremonies (W3C Web Authentication Level 3), implemented with `webauthn-rs`: produces options and
//! verifies responses. This module does not depend on the database or on requests: states and credentials are
//! passed as JSON text.

use data_encoding::BASE64URL_NOPAD;
use serde_json::Value;
use url::Url;
use webauthn_rs::prelude::{
    CreationChallengeResponse, CredentialID, DiscoverableAuthentication, Passkey,
    PasskeyRegistration, PublicKeyCredential, RegisterPublicKeyCredential,
    RequestChallengeResponse, Url as ProtocolUrl, Uuid, WebauthnError,
};
use webauthn_rs::{Webauthn, WebauthnBuilder};

/// Why a ceremony failed.
#[derive(Debug, thiserror::Error)]
pub enum CeremonyError {
    /// The authenticator's response is invalid: wrong challenge, origin, signature or counter.
    #[error("the authenticator's response was refused")]
    Refused(#[source] WebauthnError),
    /// The response does not have the form of `PublicKeyCredential.toJSON()`.
    #[error("the credential is malformed")]
    Malformed(#[source] serde_json::Error),
    /// A stored state or credential cannot be parsed or serialized.
    #[error("a stored ceremony or passkey is damaged")]
    Damaged(#[source] serde_json::Error),
    /// The host cannot be a relying party.
    #[error("passkeys do not work on this host")]
    Host(#[source] WebauthnError),
}

/// The options for the browser, and the state to keep until the response arrives.
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
    /// The authenticator's credential ID, base64url without padding.
    pub credential_id: String,
    /// The serialized credential.
    pub credential: String,
}

/// A host for which passkeys are registered and used.
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

/// Base64url without padding, as browsers encode credential IDs.
fn spell(id: &[u8]) -> String {
    BASE64URL_NOPAD.encode(id)
}

impl RelyingParty {
    /// Creates the relying party for a host name and the exact origins of its pages. If `origins`
    /// is empty, only `https://{rp_id}` on the default port is accepted.
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

    /// Starts a registration. Excludes existing passkeys, so an authenticator cannot be registered
    /// twice. The new passkey must be discoverable, so login needs no user name.
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

    /// Completes a registration.
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

    /// Starts a login with any discoverable passkey; suitable for conditional UI.
    pub fn begin_login(&self) -> Result<Begun, CeremonyError> {
        let (mut challenge, state): (RequestChallengeResponse, DiscoverableAuthentication) = self
            .webauthn
            .start_discoverable_authentication()
            .map_err(CeremonyError::Refused)?;
        // With `conditional`, `navigator.credentials.get()` waits for autofill and shows no dialog. The client
        // chooses the mediation.
        challenge.mediation = None;
        let options = serde_json::to_value(&challenge).map_err(CeremonyError::Damaged)?;
        Ok(Begun {
            options,
            state: text_of(&state)?,
        })
    }

    /// Completes a login with the stored credential that the response names. Returns the credential
    /// with its new counter. Refuses a counter that does not increase: the authenticator may have
    /// been cloned.
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

/// Returns the credential ID in an unverified response, in the encoding of stored IDs.
pub fn named_credential(answer: &Value) -> Option<String> {
    let named = answer.get("rawId").or_else(|| answer.get("id"))?.as_str()?;
    let bytes = BASE64URL_NOPAD
        .decode(named.trim_end_matches('=').as_bytes())
        .ok()?;
    Some(spell(&bytes))
}

/// Requires a discoverable credential. `webauthn-rs` does not require the authenticator to store
/// the key.
fn discoverable(challenge: &CreationChallengeResponse) -> Result<Value, CeremonyError> {
    let mut options = serde_json::to_value(challenge).map_err(CeremonyError::Damaged)?;
    let selection = options.pointer_mut("/publicKey/authenticatorSelection");
    if let Some(selection) = selection.and_then(Value::as_object_mut) {
        selection.insert("residentKey".to_owned(), "required".into());
        selection.insert("requireResidentKey".to_owned(), true.into());
    }
    Ok(options)
}

/// Returns the relying-party ID for a request: the host of the requesting page. This is the Origin's host if it
/// matches the external URL, otherwise the request's host. Returns `None` for an IP address.
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
mod tests;
