//! The kinds of audit rows that this room writes; the vault's own are in the room `secrets`.

/// A login, by password or passkey.
pub const LOGIN_SUCCEEDED: &str = "login.succeeded";
/// A wrong password at login.
pub const LOGIN_FAILED: &str = "login.failed";
/// A logout.
pub const LOGOUT: &str = "logout";
/// A wrong credential in a socket's `connect`.
pub const CONNECT_FAILED: &str = "connect.failed";
/// A wrong password or passkey at a confirmation.
pub const CONFIRM_FAILED: &str = "confirm.failed";
/// The first password or passkey.
pub const SETUP_COMPLETED: &str = "setup.completed";
/// A wrong setup code.
pub const SETUP_CODE_WRONG: &str = "setup_code.wrong";
/// Guessing used up a code; another took its place.
pub const SETUP_CODE_REPLACED: &str = "setup_code.replaced";
/// Guessing used up the last code; remote setup is closed.
pub const SETUP_CODE_CLOSED: &str = "setup_code.closed";
/// The operator opened remote setup again.
pub const SETUP_CODE_RENEWED: &str = "setup_code.renewed";
/// The first password beside passkeys.
pub const PASSWORD_SET: &str = "password.set";
/// Another password.
pub const PASSWORD_CHANGED: &str = "password.changed";
/// A wrong current password at a change.
pub const PASSWORD_CHANGE_FAILED: &str = "password.change_failed";
/// A session was ended by hand.
pub const SESSION_ENDED: &str = "session.ended";
/// All other sessions were ended by hand.
pub const SESSIONS_ENDED: &str = "sessions.ended";
/// An API key was minted.
pub const API_KEY_CREATED: &str = "api_key.created";
/// An API key was revoked.
pub const API_KEY_REVOKED: &str = "api_key.revoked";
/// A device was paired.
pub const DEVICE_PAIRED: &str = "device.paired";
/// A device was revoked.
pub const DEVICE_REVOKED: &str = "device.revoked";
/// A passkey was registered.
pub const PASSKEY_ADDED: &str = "passkey.added";
/// A passkey was renamed.
pub const PASSKEY_RENAMED: &str = "passkey.renamed";
/// A refused passkey at login.
pub const PASSKEY_FAILED: &str = "passkey.failed";
/// A passkey was removed.
pub const PASSKEY_REMOVED: &str = "passkey.removed";
/// 'Remove all auth'.
pub const AUTH_RESET: &str = "auth.reset";
/// The oldest rows of this log were cut off.
pub const AUDIT_CUT: &str = "audit.cut";
/// Settings that a remote caller changed while auth was disabled are as they were before.
pub const SETTINGS_REVERTED: &str = "settings.reverted";
/// A wrong password or key for the vault.
pub const VAULT_KEY_REFUSED: &str = "vault.key_refused";
