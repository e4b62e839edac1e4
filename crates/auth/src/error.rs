//! Errors of this crate, and the responses to callers.

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
    /// The requested credential has wider limits than its creator in this field.
    #[error("`{0}` exceeds that of the creating credential")]
    WiderThanMaker(&'static str),
    /// A credential with limits tried to create access without limits.
    #[error("a limited credential cannot create access without limits")]
    Limited,
    /// A credential that ends with its creator tried to keep the credentials that a revoked one created.
    #[error("this credential cannot keep what another one created")]
    KeepsChildren,
    /// The credential's `only` does not include the method or path.
    #[error("the credential's `only` does not include this method or path")]
    OutsideOnly,
    /// Nothing may be stored before setup is complete.
    #[error("setup is not complete")]
    SetupFirst,
    #[error("the setup code is wrong or missing")]
    SetupCode,
    /// Too many wrong attempts used up all setup codes.
    #[error("remote setup is closed")]
    SetupClosed,
    #[error("a recent confirmation is needed")]
    ConfirmationRequired,
    /// `auth.step_up_for_keys` excludes API keys and devices.
    #[error("API keys and devices are not permitted")]
    NotForKeys,
    /// Too many attempts. Contains the delay.
    #[error(transparent)]
    Wait(#[from] RetryAfter),
    #[error("the field {field} is refused: {reason}")]
    Field { field: &'static str, reason: String },
    #[error("the {0} does not exist")]
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
        let forbidden = |message: &str| Self::new(ErrorCode::Forbidden, message);
        match error {
            AuthError::NotAuthenticated => {
                say(ErrorCode::NotAuthenticated, "Log in, or send an API key.")
            }
            AuthError::SetupRequired => say(
                ErrorCode::SetupRequired,
                "Setup is not complete. Open Gatehouse in a browser and enter the setup code \
                 from the gateway's output.",
            ),
            AuthError::InvalidCredentials => {
                say(ErrorCode::InvalidCredentials, "Incorrect credentials.")
            }
            AuthError::ScopeMissing(scope) => {
                forbidden(&format!("This requires the scope {}.", scope.name()))
                    .with("required_scope", scope.name())
            }
            AuthError::WiderThanMaker(field) => forbidden(&format!(
                "`{field}` exceeds that of your credential. Omit the field to inherit the value."
            ))
            .with("field", field),
            AuthError::Limited => forbidden(
                "A credential with `expires_at`, `allowed_cidrs` or `only` cannot do this: it \
                 would create access without these limits. Log in, or use a credential without \
                 limits.",
            ),
            AuthError::KeepsChildren => forbidden(
                "API keys and devices cannot use `keep_children`. Log in with the password or a \
                 passkey.",
            )
            .with("field", "keep_children"),
            AuthError::OutsideOnly => {
                forbidden("The `only` of this credential does not include this method or path.")
                    .with("required", "only")
            }
            AuthError::SetupFirst => forbidden(
                "Nothing can be stored before setup is complete. Complete setup with the setup \
                 code from the gateway's output.",
            ),
            AuthError::SetupCode => forbidden(
                "The setup code is wrong or missing. The server prints it to its standard output.",
            ),
            AuthError::SetupClosed => forbidden(
                "Remote setup is closed after too many wrong codes. Restart the server or run \
                 `gatehouse auth setup-code`.",
            ),
            AuthError::ConfirmationRequired => say(
                ErrorCode::ConfirmationRequired,
                "Confirm with the password or a passkey.",
            )
            .with("max_age_seconds", CONFIRMATION_SECONDS),
            AuthError::NotForKeys => say(
                ErrorCode::ConfirmationRequired,
                "API keys and devices cannot do this while `auth.step_up_for_keys` is on. Log in \
                 with the password or a passkey.",
            )
            .with("max_age_seconds", CONFIRMATION_SECONDS),
            AuthError::Wait(wait) => wait.into(),
            AuthError::Field { field, reason } => Self::invalid_params(field, reason),
            AuthError::NotFound(what) => Self::not_found(what),
            AuthError::Conflict(message) => say(ErrorCode::Conflict, message),
            AuthError::VaultBadKey => say(
                ErrorCode::VaultBadKey,
                "This password or key does not unlock the vault.",
            ),
            AuthError::Vault(error) => error.into(),
            AuthError::Store(error) => error.into(),
            AuthError::Kdf(error) => error.into(),
            AuthError::Internal(_) => Self::internal(),
        }
    }
}
