//! Bytes that other crates store in their own files and that may be lost. They are encrypted with the data key if
//! there is one. They are never migrated: the owner recreates bytes that can no longer be decrypted.

use crate::Secrets;
use gatehouse_vault::{Aad, Status};
use zeroize::Zeroizing;

/// Bytes in the form in which they may be stored.
#[derive(Debug, PartialEq, Eq)]
pub enum StorableBytes {
    /// Plaintext: the vault is disabled or does not exist.
    Plain(Vec<u8>),
    /// Ciphertext, as base64.
    Encrypted(String),
}

impl Secrets {
    /// Prepares bytes of the voice cache for storage under this name. Returns `None` while the vault is sealed,
    /// because the bytes could be stored only in plaintext.
    pub fn keep_bytes(&self, name: &str, bytes: &[u8]) -> Option<StorableBytes> {
        let (_, status, dek) = self.0.known();
        match (status, dek) {
            (Status::Sealed, _) => None,
            (_, None) => Some(StorableBytes::Plain(bytes.to_vec())),
            (_, Some(dek)) => {
                let sealed = dek.encrypt(&*self.0.random, &aad(name), bytes);
                sealed.ok().map(StorableBytes::Encrypted)
            }
        }
    }

    /// Reads bytes that were stored under this name. Returns `None` if they cannot be opened: the vault is sealed
    /// or has a different key, or the bytes are plaintext although a vault is enabled.
    pub fn kept_bytes(&self, name: &str, kept: StorableBytes) -> Option<Zeroizing<Vec<u8>>> {
        let (_, status, dek) = self.0.known();
        match (kept, dek) {
            (StorableBytes::Plain(bytes), None) if status != Status::Sealed => {
                Some(Zeroizing::new(bytes))
            }
            (StorableBytes::Encrypted(text), Some(dek)) => dek.decrypt(&aad(name), &text).ok(),
            _ => None,
        }
    }
}

fn aad(name: &str) -> Aad {
    Aad::VoiceCache {
        name: name.to_owned(),
    }
}
