//! The vault lifecycle over the store, and the secrets that the vault protects: environment variables, SSH keys and
//! provider keys. [`Secrets`] is the handle for all operations.
//!
//! Each vault transition (initialize, unseal, seal, disable, enable, rotate) first derives keys, outside any
//! transaction. One transaction then compares the vault record with the one that was opened, and changes the record
//! and the rows together. The state in memory changes after the commit. A process runs one transition at a time. No
//! secret is read or written during a transition.
//!
//! This crate must not depend on HTTP, sessions or scopes: the caller has authorized the operation.

mod auto_unseal;
mod env_reveal;
mod env_variables;
mod error;
mod handle;
mod hold;
pub mod kdf_queue;
mod key_of_service;
mod lifecycle;
mod owner_seal;
mod pause;
mod plan;
mod protected;
mod provider_files;
mod provider_keys;
mod provider_rows;
mod record;
mod redactor;
mod request_start;
mod rows;
mod seen;
mod settings;
mod share;
mod ssh_import;
mod ssh_keys;
mod ssh_sign;
mod state;
mod storable_bytes;
mod uses;
mod write_secret;

pub use env_reveal::Revealed;
pub use env_variables::{EnvVariable, Environment, MAX_VALUE_BYTES};
pub use error::{SecretsError, VaultError};
pub use gatehouse_vault::Status;
pub use handle::Secrets;
pub use kdf_queue::{KdfError, KdfQueue};
pub use key_of_service::KeyOfService;
pub use lifecycle::{DisableReport, Enabled};
#[cfg(feature = "testing")]
pub use pause::Pause;
pub use plan::VaultPlan;
pub use protected::SecretOwner;
pub use provider_files::{FileError, PROVIDER_FILES};
pub use provider_keys::{ProviderKeyInfo, storable_key};
pub use redactor::Redactor;
pub use settings::{Progress, SecretsSettings};
pub use ssh_keys::SshKey;
pub use storable_bytes::StorableBytes;
pub use uses::SecretKind;
pub use write_secret::FormedSecret;
