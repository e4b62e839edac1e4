//! Where the passkey files join: what other operations need of them.

use crate::error::AuthError;
use crate::state::Auth;
use crate::visit::Caller;

impl Auth {
    /// Whether this is the right answer of a registered passkey to a `login` challenge.
    #[expect(clippy::unused_async, reason = "the passkey files replace this body")]
    pub(crate) async fn verify_passkey_confirmation(
        &self,
        _caller: &Caller<'_>,
        _challenge_id: String,
        _credential: serde_json::Value,
    ) -> Result<(), AuthError> {
        Err(AuthError::InvalidCredentials)
    }
}
