//! Keys, authenticated encryption, the recovery key and the seal state machine.
//!
//! A random data key ([`Dek`]) encrypts every stored secret. The [`VaultRecord`] contains the data key wrapped
//! twice: with a key that Argon2id derives from the password, and with a key derived from the [`RecoveryKey`].
//! [`Keyring`] tracks whether the data key is in memory. `docs/vault-format.md` specifies the bytes.
//!
//! This crate is pure: it must not use SQL, HTTP, files or the clock. The functions on the record run Argon2id over
//! 64 MiB, so call them only where blocking is allowed.

mod aad;
mod cipher;
mod dek;
mod hold;
mod kdf;
mod keyring;
mod record;
mod recovery;
mod share;

pub use aad::Aad;
pub use cipher::CryptoError;
pub use dek::{Dek, DekId};
pub use hold::{HoldPrivateKey, HoldPublicKey};
pub use kdf::{KdfParams, KdfRefused};
pub use keyring::{Keyring, RecordState, Status, TransitionError};
pub use record::{
    OpenError, VaultRecord, create, new_recovery_key, open_with_password, open_with_recovery_key,
    rewrap_password, rotate,
};
pub use recovery::{InvalidRecoveryKey, RecoveryKey};
pub use share::{ClusterKey, MIN_CLUSTER_SECRET_CHARACTERS, ShareKey, SharePlace};
