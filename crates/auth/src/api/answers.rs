//! Answers, in the order of the contract's table.

use crate::identity::AuthMethod;
use crate::live::LoginMethod;
use crate::locality::LocalityReport;
use gatehouse_domain::{ApiKeyId, AuthSessionId, Cidr, DeviceId, ScopeSet, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// `{ok: true}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Done {
    /// Always true.
    pub ok: bool,
}

impl Done {
    /// The one value.
    pub const OK: Self = Self { ok: true };
}

/// `GET /api/auth/status`.
#[expect(clippy::struct_excessive_bools, reason = "the contract's shape")]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuthStatus {
    /// No password and no passkey is stored.
    pub setup_required: bool,
    /// A password or a passkey is stored.
    pub setup_complete: bool,
    /// This caller must send the setup code to complete setup.
    pub setup_code_required: bool,
    /// A password is stored.
    pub has_password: bool,
    /// At least one passkey is stored.
    pub has_passkeys: bool,
    /// This caller is let in.
    pub authenticated: bool,
    /// How.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_method: Option<AuthMethod>,
    /// What they may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<ScopeSet>,
    /// Everyone is let in until setup is completed.
    pub auth_disabled: bool,
    /// The connection is local.
    pub is_local: bool,
    /// Why it is not; for callers who are let in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locality: Option<LocalityReport>,
    /// The host of this request is a name that passkeys can be bound to.
    pub webauthn_available: bool,
    /// `uninitialized`, `sealed`, `unsealed` or `disabled`.
    pub vault_status: String,
}

/// Setup, and a change of the password.
#[derive(Serialize, JsonSchema)]
pub struct SetupAnswer {
    /// Always true.
    pub ok: bool,
    /// The vault's recovery key, shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_key: Option<String>,
    /// Settings that a remote caller had changed while auth was disabled: they are as they were before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings_reverted: Vec<String>,
}

/// `POST /api/auth/confirm`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfirmAnswer {
    /// Always true.
    pub ok: bool,
    /// Until when the confirmation counts.
    pub valid_until: Timestamp,
}

/// One login.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionItem {
    /// Its id.
    pub id: AuthSessionId,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_seen_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When the person last proved to be there.
    pub confirmed_at: Timestamp,
    /// How it began.
    pub login_method: LoginMethod,
    /// What the browser called itself.
    pub user_agent: Option<String>,
    /// Where it logged in from.
    pub client_ip: Option<String>,
    /// This is the caller's own.
    pub current: bool,
}

/// `GET /api/auth/sessions`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionList {
    /// Live logins, the most recently used first.
    pub sessions: Vec<SessionItem>,
}

/// `DELETE /api/auth/sessions`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EndedAnswer {
    /// Always true.
    pub ok: bool,
    /// How many were ended.
    pub ended: u64,
}

/// One API key, without its secret.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ApiKeyItem {
    /// Its id.
    pub id: ApiKeyId,
    /// What its owner calls it.
    pub label: String,
    /// Its first characters.
    pub prefix: String,
    /// What it may do.
    pub scopes: ScopeSet,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When it was last used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// Where it may be used from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The methods and paths that it may call; absent when all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// Who made it, as in the audit log: `session …`, `api_key …`, `device …`, `password`,
    /// `loopback` or `cli`; absent for keys older than this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
}

/// A usual key for one purpose.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeyPreset {
    /// Its name, such as `voice`.
    pub id: &'static str,
    /// What such a key is for.
    pub summary: &'static str,
    /// The scopes that it has.
    pub scopes: ScopeSet,
    /// The methods and paths that it may call.
    pub only: Vec<&'static str>,
}

/// `GET /api/auth/api-keys`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ApiKeyList {
    /// Every key, the newest first.
    pub api_keys: Vec<ApiKeyItem>,
    /// Usual keys for one purpose, to be offered where a key is made.
    pub presets: Vec<KeyPreset>,
}

/// `POST /api/auth/api-keys`.
#[derive(Serialize, JsonSchema)]
pub struct ApiKeyCreated {
    /// Its id.
    pub id: ApiKeyId,
    /// The key itself, shown this once.
    pub key: String,
    /// Its first characters.
    pub prefix: String,
    /// What it may do.
    pub scopes: ScopeSet,
}

/// `POST /api/auth/reset`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResetAnswer {
    /// Always true.
    pub ok: bool,
    /// What was not removed.
    pub kept: Vec<String>,
}

/// `GET /api/auth/vault/status`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VaultStatusAnswer {
    /// `uninitialized`, `sealed`, `unsealed` or `disabled`.
    pub status: String,
}

/// Most of the vault's operations.
#[derive(Serialize, JsonSchema)]
pub struct VaultAnswer {
    /// Always true.
    pub ok: bool,
    /// `uninitialized`, `sealed`, `unsealed` or `disabled`.
    pub status: String,
    /// The vault's recovery key, shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_key: Option<String>,
}

/// `POST /api/auth/vault/disable`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VaultDisableAnswer {
    /// Always true.
    pub ok: bool,
    /// `disabled`.
    pub status: String,
    /// Always true: what runs may still hold what it read earlier.
    pub restart_advised: bool,
    /// What was decrypted.
    pub report: VaultDisableReport,
}

/// How many records were decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VaultDisableReport {
    /// Environment variables.
    pub env_vars: u64,
    /// SSH keys.
    pub ssh_keys: u64,
    /// Secrets of channel accounts.
    pub channels: u64,
    /// Secrets of webhooks.
    pub webhooks: u64,
    /// Provider keys.
    pub provider_keys: u64,
}

/// `POST /api/auth/vault/recovery-key`.
#[derive(Serialize, JsonSchema)]
pub struct VaultRecoveryKeyAnswer {
    /// Always true.
    pub ok: bool,
    /// The new recovery key, shown this once.
    pub recovery_key: String,
}

/// One row of the audit log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditEvent {
    /// Its id.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: String,
    /// Who.
    pub actor: String,
    /// From where.
    pub client_ip: Option<String>,
    /// More.
    pub detail: serde_json::Value,
}

/// `audit.list`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditList {
    /// Rows, the newest first.
    pub events: Vec<AuditEvent>,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// `pairing.create`: the token is shown this once.
#[derive(Serialize, JsonSchema)]
pub struct DevicePaired {
    /// The device's id.
    pub id: DeviceId,
    /// What it connects with, as `auth.device_token` of `connect`.
    pub token: String,
    /// What it may do.
    pub scopes: ScopeSet,
}

/// One paired device.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Device {
    /// Its id.
    pub id: DeviceId,
    /// What its owner calls it.
    pub label: String,
    /// What it may do.
    pub scopes: ScopeSet,
    /// Whether a socket of it is open on the node that answers.
    pub online: bool,
    /// When it was last connected.
    pub last_seen_at: Option<Timestamp>,
    /// When it was paired.
    pub created_at: Timestamp,
    /// When it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Where it may connect from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The methods that it may call; absent when all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// Who paired it, as in the audit log; absent for devices older than this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
}

/// Every paired device, the newest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DeviceList {
    /// The devices.
    pub devices: Vec<Device>,
}
