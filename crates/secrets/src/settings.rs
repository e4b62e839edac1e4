//! The settings of this crate, and the progress of its long operations.

use std::path::PathBuf;

/// The settings of this crate.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a separate setting; together they do not form a state"
)]
pub struct SecretsSettings {
    /// `auth.vault_enabled`.
    pub vault_enabled: bool,
    /// Whether the environment or the command line fixes `vault_enabled`; the database then has no
    /// effect.
    pub vault_enabled_fixed: bool,
    /// `vault.plaintext_while_sealed`.
    pub plaintext_while_sealed: bool,
    /// `vault.keep_plaintext_provider_keys`.
    pub keep_plaintext_provider_keys: bool,
    /// The directory with the provider key files.
    pub data_dir: PathBuf,
}

/// Progress of a long vault operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// `migrate`, `disable` or `rotate`.
    pub operation: &'static str,
    /// Secrets processed.
    pub done: u64,
    /// Secrets in total.
    pub total: u64,
}
