//! The authentication state as read from the database, and the public facts about it.

use super::{AUTH_DISABLED, PasswordMark, password_mark};
use gatehouse_store::{Conn, StoreError};
use serde_json::Value;

/// The public facts about the authentication state.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, as the status reports them"
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthFacts {
    /// Whether a password or a passkey is stored.
    pub setup_complete: bool,
    pub has_password: bool,
    pub has_passkeys: bool,
    /// Whether row 1 applies.
    pub auth_disabled: bool,
}

/// The authentication state as read in one transaction.
#[derive(Clone)]
pub(crate) struct Settled {
    pub(crate) facts: AuthFacts,
    /// Identifies the current password.
    pub(crate) password_mark: Option<PasswordMark>,
    pub(super) setup_code: Option<String>,
}

impl Settled {
    /// Reads the state. A transaction that changes something calls it last.
    pub(crate) async fn read(conn: &mut Conn) -> Result<Self, StoreError> {
        let password = conn.find_password_hash().await?;
        let has_passkeys = conn.count_passkeys().await? > 0;
        let auth_disabled = conn.find_setting(AUTH_DISABLED).await? == Some(Value::Bool(true));
        let code = conn.find_setup_code().await?;
        Ok(Self {
            facts: AuthFacts {
                setup_complete: password.is_some() || has_passkeys,
                has_password: password.is_some(),
                has_passkeys,
                auth_disabled,
            },
            password_mark: password.as_deref().map(password_mark),
            setup_code: code.map(|row| row.code),
        })
    }
}

/// Returns whether setup is complete according to the database, for a command that opens nothing else.
pub async fn is_setup_complete(conn: &mut Conn) -> Result<bool, StoreError> {
    Ok(Settled::read(conn).await?.facts.setup_complete)
}
