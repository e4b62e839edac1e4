//! The kinds of audit rows that this crate writes. The crate `secrets` writes the vault's own
//! kinds.

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
/// The first password or passkey was stored.
pub const SETUP_COMPLETED: &str = "setup.completed";
/// A wrong setup code.
pub const SETUP_CODE_WRONG: &str = "setup_code.wrong";
/// A code had too many wrong attempts and was replaced.
pub const SETUP_CODE_REPLACED: &str = "setup_code.replaced";
/// The last code had too many wrong attempts; remote setup is closed.
pub const SETUP_CODE_CLOSED: &str = "setup_code.closed";
/// The operator reopened remote setup.
pub const SETUP_CODE_RENEWED: &str = "setup_code.renewed";
/// The first password was set; passkeys existed already.
pub const PASSWORD_SET: &str = "password.set";
/// The password was changed.
pub const PASSWORD_CHANGED: &str = "password.changed";
/// A wrong current password at a password change.
pub const PASSWORD_CHANGE_FAILED: &str = "password.change_failed";
/// A user ended a session.
pub const SESSION_ENDED: &str = "session.ended";
/// A user ended all other sessions.
pub const SESSIONS_ENDED: &str = "sessions.ended";
pub const API_KEY_CREATED: &str = "api_key.created";
pub const API_KEY_REVOKED: &str = "api_key.revoked";
pub const DEVICE_PAIRED: &str = "device.paired";
pub const DEVICE_REVOKED: &str = "device.revoked";
/// A browser subscribed to notifications through a push service.
pub const PUSH_SUBSCRIBED: &str = "push.subscribed";
/// A user removed a browser from the notifications.
pub const PUSH_REMOVED: &str = "push.removed";
pub const PASSKEY_ADDED: &str = "passkey.added";
pub const PASSKEY_RENAMED: &str = "passkey.renamed";
/// A passkey was refused at login.
pub const PASSKEY_FAILED: &str = "passkey.failed";
pub const PASSKEY_REMOVED: &str = "passkey.removed";
/// The operation "Remove all authentication".
pub const AUTH_RESET: &str = "auth.reset";
/// The oldest rows of this log were deleted.
pub const AUDIT_CUT: &str = "audit.cut";
/// Settings that a remote caller changed while auth was disabled were restored.
pub const SETTINGS_REVERTED: &str = "settings.reverted";
/// A wrong password or recovery key for the vault.
pub const VAULT_KEY_REFUSED: &str = "vault.key_refused";
/// A scheduled backup was created. Dispatch writes the same kind for a requested backup.
pub const BACKUP_CREATED: &str = "backup.created";
/// A backup, or a part of it, was sent to a caller.
pub const BACKUP_DOWNLOADED: &str = "backup.downloaded";
/// A scheduled backup failed.
pub const BACKUP_FAILED: &str = "backup.failed";
/// The trial restore of a backup succeeded.
pub const BACKUP_VERIFIED: &str = "backup.verified";
/// The trial restore of a backup failed.
pub const BACKUP_UNUSABLE: &str = "backup.unusable";
/// The trial restore of a backup did not run, for example for lack of disk space.
pub const BACKUP_NOT_VERIFIED: &str = "backup.not_verified";
/// The database was restored from a backup.
pub const BACKUP_RESTORED: &str = "backup.restored";
/// The database was copied from another database.
pub const DATABASE_MOVED: &str = "database.moved";
