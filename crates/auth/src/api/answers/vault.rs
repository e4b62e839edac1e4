//! Responses about the vault.

use schemars::JsonSchema;
use serde::Serialize;

/// `GET /api/auth/vault/status`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VaultStatusAnswer {
    /// `uninitialized`, `sealed`, `unsealed` or `disabled`.
    pub status: String,
}

/// The response to most vault operations.
#[derive(Serialize, JsonSchema)]
pub struct VaultAnswer {
    /// Always true.
    pub ok: bool,
    /// `uninitialized`, `sealed`, `unsealed` or `disabled`.
    pub status: String,
    /// The vault's recovery key. Returned only once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_key: Option<String>,
}

/// `POST /api/auth/vault/disable`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VaultDisableAnswer {
    /// Always true.
    pub ok: bool,
    /// Always `disabled`.
    pub status: String,
    /// Always true: the running process may still have secrets in memory that it read earlier.
    pub restart_advised: bool,
    /// How many secrets were decrypted.
    pub report: VaultDisableReport,
}

/// How many secrets of each kind were decrypted.
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
    /// Authorizations of MCP servers.
    pub mcp_authorizations: u64,
}

/// `POST /api/auth/vault/recovery-key`.
#[derive(Serialize, JsonSchema)]
pub struct VaultRecoveryKeyAnswer {
    /// Always true.
    pub ok: bool,
    /// The new recovery key. Returned only once.
    pub recovery_key: String,
}
