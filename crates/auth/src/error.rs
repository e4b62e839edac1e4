//! Errors of this crate and the responses that callers get.

use crate::kdf_queue::KdfError;
use crate::throttle::RetryAfter;
use gatehouse_domain::{ErrorCode, Problem, Scope};
use gatehouse_secrets::VaultError;
use gatehouse_store::StoreError;

/// How long a confirmation is valid.
pub const CONFIRMATION_SECONDS: u64 = 900;

/// An operation was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// The request has no valid credential.
    #[error("not authenticated")]
    NotAuthenticated,
    /// Setup is not complete, and the connection is not local.
    #[error("setup is required")]
    SetupRequired,
    /// The password, passkey or key is wrong.
    #[error("wrong credentials")]
    InvalidCredentials,
    #[error("the scope {} is missing", .0.name())]
    ScopeMissing(Scope),
    /// The requested credential is wider than its maker in this field.
    #[error("`{0}` is wider than the maker's")]
    WiderThanMaker(&'static str),
    /// A credential with limits tried to create access without limits.
    #[error("the credential has limits that a way in without any would leave")]
    Limited,
    /// The credential's `only` does not include the method or path.
    #[error("the credential is for other methods and paths")]
    OutsideOnly,
    /// Nothing may be stored before setup is complete.
    #[error("setup comes first")]
    SetupFirst,
    #[error("the setup code is wrong or missing")]
    SetupCode,
    /// Too many wrong attempts used up all setup codes.
    #[error("remote setup is closed")]
    SetupClosed,
    #[error("a recent confirmation is needed")]
    ConfirmationRequired,
    /// `auth.step_up_for_keys` excludes API keys and devices.
    #[error("it is not for API keys and devices")]
    NotForKeys,
    /// Too many attempts.
    #[error(transparent)]
    Wait(#[from] RetryAfter),
    #[error("the field {field} is refused: {reason}")]
    Field { field: &'static str, reason: String },
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The current state does not allow the operation. The text is shown to the caller.
    #[error("{0}")]
    Conflict(&'static str),
    /// The vault's key or password is wrong.
    #[error("wrong vault key")]
    VaultBadKey,
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Password hashing failed, or its queue is full.
    #[error(transparent)]
    Kdf(#[from] KdfError),
    /// A bug in Gatehouse.
    #[error("{0}")]
    Internal(&'static str),
}

impl AuthError {
    pub(crate) fn field(field: &'static str, reason: impl Into<String>) -> Self {
        Self::Field {
            field,
            reason: reason.into(),
        }
    }
}

impl From<AuthError> for Problem {
    fn from(error: AuthError) -> Self {
        let say = |code, message: &str| Self::new(code, message);
        match error {
            AuthError::NotAuthenticated => {
                say(ErrorCode::NotAuthenticated, "Log in, or send an API key.")
            }
            AuthError::SetupRequired => say(
                ErrorCode::SetupRequired,
                "Setup is not complete; finish it with the setup code.",
            ),
            AuthError::InvalidCredentials => say(
                ErrorCode::InvalidCredentials,
                "These credentials are not right.",
            ),
            AuthError::ScopeMissing(scope) => say(
                ErrorCode::Forbidden,
                &format!("This needs the scope {}.", scope.name()),
            )
            .with("required_scope", scope.name()),
            AuthError::WiderThanMaker(field) => say(
                ErrorCode::Forbidden,
                &format!(
                    "A credential cannot make a wider one: `{field}` exceeds its own. Leave it \
                     out to inherit it."
                ),
            )
            .with("field", field),
            AuthError::Limited => say(
                ErrorCode::Forbidden,
                "A credential with `expires_at`, `allowed_cidrs` or `only` cannot do this: it would \
                 open a way in without these limits. Log in, or use a credential without limits.",
            ),
            AuthError::OutsideOnly => say(
                ErrorCode::Forbidden,
                "This credential is for other methods and paths; its `only` does not name this.",
            )
            .with("required", "only"),
            AuthError::SetupFirst => say(
                ErrorCode::Forbidden,
                "Nothing is stored before setup is complete. Complete setup with the setup code \
                 that is printed where the server runs.",
            ),
            AuthError::SetupCode => say(
                ErrorCode::Forbidden,
                "The setup code is wrong or missing; it is printed where the server runs.",
            ),
            AuthError::SetupClosed => say(
                ErrorCode::Forbidden,
                "Remote setup is closed after too many wrong codes; restart the server or run \
                 `gatehouse auth setup-code`.",
            ),
            AuthError::ConfirmationRequired => say(
                ErrorCode::ConfirmationRequired,
                "Confirm that it is you, with the password or a passkey.",
            )
            .with("max_age_seconds", CONFIRMATION_SECONDS),
            AuthError::NotForKeys => say(
                ErrorCode::ConfirmationRequired,
                "API keys and devices may not do this while `auth.step_up_for_keys` is on; log in \
                 with the password or a passkey.",
            )
            .with("max_age_seconds", CONFIRMATION_SECONDS),
            AuthError::Wait(wait) => wait.into(),
            AuthError::Field { field, reason } => Self::invalid_params(field, reason),
            AuthError::NotFound(what) => Self::not_found(what),
            AuthError::Conflict(message) => say(ErrorCode::Conflict, message),
            AuthError::VaultBadKey => say(
                ErrorCode::VaultBadKey,
                "This password or key does not open the vault.",
            ),
            AuthError::Vault(error) => error.into(),
            AuthError::Store(error) => error.into(),
            AuthError::Kdf(error) => error.into(),
            AuthError::Internal(_) => Self::internal(),
        }
    }
}
