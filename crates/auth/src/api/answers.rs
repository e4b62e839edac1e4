//! Responses, in the order of the API contract's table.

mod devices;
mod vault;

use crate::identity::AuthMethod;
use crate::live_credential::LoginMethod;
use crate::locality::LocalityReport;
pub use devices::{Device, DeviceList, DevicePaired};
use gatehouse_domain::{ApiKeyId, AuthSessionId, Cidr, ScopeSet, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
pub use vault::{
    VaultAnswer, VaultDisableAnswer, VaultDisableReport, VaultRecoveryKeyAnswer, VaultStatusAnswer,
};

/// `{ok: true}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Done {
    /// Always true.
    pub ok: bool,
}

impl Done {
    pub const OK: Self = Self { ok: true };
}

/// `GET /api/auth/status`.
#[expect(clippy::struct_excessive_bools, reason = "the contract's shape")]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuthStatus {
    /// Whether neither a password nor a passkey is stored.
    pub setup_required: bool,
    /// Whether a password or a passkey is stored.
    pub setup_complete: bool,
    /// Whether this caller must send the setup code to complete setup.
    pub setup_code_required: bool,
    /// Whether a password is stored.
    pub has_password: bool,
    /// Whether at least one passkey is stored.
    pub has_passkeys: bool,
    /// Whether this caller is authenticated.
    pub authenticated: bool,
    /// How this caller is authenticated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_method: Option<AuthMethod>,
    /// What this caller may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<ScopeSet>,
    /// Whether every caller is admitted until setup is completed.
    pub auth_disabled: bool,
    /// Whether the connection is local.
    pub is_local: bool,
    /// Why the connection is not local. Only for authenticated callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locality: Option<LocalityReport>,
    /// Whether the host of this request is a name that passkeys can be bound to.
    pub webauthn_available: bool,
    /// `uninitialized`, `sealed`, `unsealed` or `disabled`.
    pub vault_status: String,
}

/// The response to setup and to a password change.
#[derive(Serialize, JsonSchema)]
pub struct SetupAnswer {
    /// Always true.
    pub ok: bool,
    /// The vault's recovery key. Returned only once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_key: Option<String>,
    /// Settings restored to their previous values, because a remote caller changed them while auth
    /// was disabled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings_reverted: Vec<String>,
}

/// `POST /api/auth/confirm`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfirmAnswer {
    /// Always true.
    pub ok: bool,
    /// When the confirmation expires.
    pub valid_until: Timestamp,
}

/// One login session.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionItem {
    pub id: AuthSessionId,
    /// When the session started.
    pub created_at: Timestamp,
    /// When the session was last used.
    pub last_seen_at: Timestamp,
    /// When the session expires.
    pub expires_at: Timestamp,
    /// When the password or a passkey was last verified.
    pub confirmed_at: Timestamp,
    /// How the user logged in.
    pub login_method: LoginMethod,
    /// The browser's User-Agent header.
    pub user_agent: Option<String>,
    /// The client's address at login.
    pub client_ip: Option<String>,
    /// Whether this is the caller's own session.
    pub current: bool,
    /// The API key or device that registered the passkey of this session. The session ends with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
}

/// `GET /api/auth/sessions`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionList {
    /// Active sessions, most recently used first.
    pub sessions: Vec<SessionItem>,
}

/// `DELETE /api/auth/sessions`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EndedAnswer {
    /// Always true.
    pub ok: bool,
    /// How many sessions were ended.
    pub ended: u64,
}

/// One API key, without its secret.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ApiKeyItem {
    pub id: ApiKeyId,
    /// A name chosen by the owner.
    pub label: String,
    /// The first characters of the key.
    pub prefix: String,
    /// What the key may do.
    pub scopes: ScopeSet,
    /// When the key was created.
    pub created_at: Timestamp,
    /// When the key expires; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When the key was last used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// The networks that may use the key; absent if unrestricted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The methods and paths that the key may call; absent if unrestricted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// The creator, as in the audit log: `session …`, `api_key …`, `device …`, `password`,
    /// `loopback` or `cli`. Absent for keys created before this field existed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
}

/// A suggested API key for one purpose.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeyPreset {
    /// The preset's name, such as `voice`.
    pub id: &'static str,
    /// What such a key is for.
    pub summary: &'static str,
    /// The scopes of the key.
    pub scopes: ScopeSet,
    /// The methods and paths that the key may call.
    pub only: Vec<&'static str>,
}

/// `GET /api/auth/api-keys`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ApiKeyList {
    /// All API keys, newest first.
    pub api_keys: Vec<ApiKeyItem>,
    /// Suggested keys to offer when a key is created.
    pub presets: Vec<KeyPreset>,
}

/// `POST /api/auth/api-keys`.
#[derive(Serialize, JsonSchema)]
pub struct ApiKeyCreated {
    pub id: ApiKeyId,
    /// The API key. Returned only once.
    pub key: String,
    /// The first characters of the key.
    pub prefix: String,
    /// What the key may do.
    pub scopes: ScopeSet,
}

/// `POST /api/auth/reset`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResetAnswer {
    /// Always true.
    pub ok: bool,
    /// The data that was not removed.
    pub kept: Vec<String>,
}

/// One row of the audit log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditEvent {
    pub id: String,
    /// When the event happened.
    pub at: Timestamp,
    /// The kind of event, such as `login.failed`.
    pub kind: String,
    /// Who caused the event.
    pub actor: String,
    /// The client's address.
    pub client_ip: Option<String>,
    /// Further data, depending on the kind.
    pub detail: serde_json::Value,
}

/// `audit.list`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditList {
    /// Rows, newest first.
    pub events: Vec<AuditEvent>,
    /// The cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
