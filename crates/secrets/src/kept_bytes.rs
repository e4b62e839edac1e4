//! Bytes that others keep in files of their own, and that may be lost: encrypted with the data key while
//! there is one. Nothing migrates them: what cannot be opened any more is made anew by its owner.

use crate::Secrets;
use gatehouse_vault::{Aad, Status};
use zeroize::Zeroizing;

/// Bytes as they may lie in a file.
#[derive(Debug, PartialEq, Eq)]
pub enum KeptBytes {
    /// As they are: there is no vault.
    Plain(Vec<u8>),
    /// Encrypted: base64 text.
    Encrypted(String),
}

impl Secrets {
    /// Bytes of the voice cache as they may be kept under this name now; nothing while the vault is
    /// sealed, because then they would lie there in clear.
    pub fn keep_bytes(&self, name: &str, bytes: &[u8]) -> Option<KeptBytes> {
        let (_, status, dek) = self.0.known();
        match (status, dek) {
            (Status::Sealed, _) => None,
            (_, None) => Some(KeptBytes::Plain(bytes.to_vec())),
            (_, Some(dek)) => {
                let sealed = dek.encrypt(&*self.0.random, &aad(name), bytes);
                sealed.ok().map(KeptBytes::Encrypted)
            }
        }
    }

    /// Gives back what was kept under this name. Nothing when it cannot be opened now: the vault is
    /// sealed or has another key, or it lies in clear although there is a vault.
    pub fn kept_bytes(&self, name: &str, kept: KeptBytes) -> Option<Zeroizing<Vec<u8>>> {
        let (_, status, dek) = self.0.known();
        match (kept, dek) {
            (KeptBytes::Plain(bytes), None) if status != Status::Sealed => {
                Some(Zeroizing::new(bytes))
            }
            (KeptBytes::Encrypted(text), Some(dek)) => dek.decrypt(&aad(name), &text).ok(),
            _ => None,
        }
    }
}

fn aad(name: &str) -> Aad {
    Aad::VoiceCache {
        name: name.to_owned(),
    }
}
