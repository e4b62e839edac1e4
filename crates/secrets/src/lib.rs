//! The vault's life over the store, and the secrets it protects: environment variables, SSH keys,
//! provider keys. [`Secrets`] is the handle; everything else hangs on it.
//!
//! Each step of the vault's life (initialize, unseal, seal, disable, enable, rotate) derives keys
//! first, outside any transaction; then one transaction compares the vault record with the one that
//! was opened and changes record and rows together; then, and only then, memory follows. One such
//! step runs at a time in a process, and no secret is written or read beside it.
//!
//! This room must not know HTTP, sessions or scopes: who may do something was decided by its caller.

mod auto_unseal;
mod env_reveal;
mod env_variables;
mod error;
mod handle;
pub mod kdf_queue;
mod kept_bytes;
mod key_of_service;
mod lifecycle;
mod pause;
mod plan;
mod protected;
mod provider_files;
mod provider_keys;
mod record;
mod rows;
mod seen;
mod ssh_import;
mod ssh_keys;
mod ssh_sign;
mod state;
mod write_secret;

pub use env_reveal::Revealed;
pub use env_variables::{EnvVariable, Environment, MAX_VALUE_BYTES};
pub use error::{SecretsError, VaultError};
pub use gatehouse_vault::Status;
pub use handle::{Progress, Secrets, SecretsSettings};
pub use kdf_queue::{KdfError, KdfQueue};
pub use kept_bytes::KeptBytes;
pub use key_of_service::KeyOfService;
pub use lifecycle::{DisableReport, Enabled};
#[cfg(feature = "testing")]
pub use pause::Pause;
pub use plan::VaultPlan;
pub use protected::SecretPlace;
pub use provider_files::FileError;
pub use provider_keys::ProviderKeyInfo;
pub use ssh_keys::SshKey;
pub use write_secret::FormedSecret;
