//! Passkeys: registration, login and the list. `ceremony.rs` implements the ceremonies. This module decides who may
//! start one, stores the results, and applies their effects.

pub mod api;
mod ceremony;
mod challenge;
mod list;
mod login;
mod origins;
mod register;

use crate::error::AuthError;
use crate::request_context::RequestContext;
use crate::state::Auth;
use ceremony::{CeremonyError, RelyingParty, rp_id_for};
use origins::Pages;

impl From<CeremonyError> for AuthError {
    fn from(error: CeremonyError) -> Self {
        match &error {
            CeremonyError::Refused(cause) => {
                tracing::info!(%cause, "a passkey ceremony was refused");
                Self::InvalidCredentials
            }
            CeremonyError::Malformed(_) => Self::field(
                "credential",
                "expected the result of PublicKeyCredential.toJSON()",
            ),
            CeremonyError::Damaged(cause) => {
                tracing::error!(%cause, "a stored passkey or ceremony cannot be read");
                Self::Internal("a stored passkey or ceremony cannot be read")
            }
            CeremonyError::Host(_) => no_passkeys_here(),
        }
    }
}

fn no_passkeys_here() -> AuthError {
    AuthError::field(
        "host",
        "passkeys require a host name; open this server by its host name, not its IP address",
    )
}

impl Auth {
    /// Returns the relying-party ID for a page of this origin, or `None` if passkeys do not work there.
    pub(crate) fn rp_id(&self, context: &RequestContext, origin: Option<&str>) -> Option<String> {
        let host = context
            .host
            .as_ref()
            .and_then(|authority| authority.host.name());
        let settings = self.0.settings.load();
        rp_id_for(host, origin, settings.given.external_url.as_ref())
    }

    fn relying_party(
        &self,
        context: &RequestContext,
        origin: Option<&str>,
    ) -> Result<(String, RelyingParty), AuthError> {
        let rp_id = self.rp_id(context, origin).ok_or_else(no_passkeys_here)?;
        let party = self.party_of(context, &rp_id)?;
        Ok((rp_id, party))
    }

    /// Returns the relying party for a request. The relying party accepts responses only from pages that this
    /// request may come from.
    fn party_of(&self, context: &RequestContext, rp_id: &str) -> Result<RelyingParty, AuthError> {
        let settings = self.0.settings.load();
        let pages = Pages {
            host: context.host.as_ref(),
            is_https: context.https,
            has_proxy: settings.given.proxy.is_configured(),
            external_url: settings.origins.external_url.as_ref(),
            allowed_origins: &settings.origins.allowed_origins,
        };
        Ok(RelyingParty::new(rp_id, &pages.of(rp_id))?)
    }
}
