//! The data key, encryption with it, and its commitment, which does not reveal it. This module does not depend on
//! how the key is wrapped or where ciphertexts are stored.

use crate::Aad;
use crate::cipher::{self, CryptoError, KEY_BYTES};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatehouse_domain::Random;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

const COMMITMENT_CONTEXT: &[u8] = b"gatehouse/dek/v1";

/// Identifies one data key. Every write of a secret is a compare-and-set on this ID. A value that is encrypted with
/// the old key can therefore not be stored after a rotation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DekId(String);

impl DekId {
    pub(crate) fn generate(random: &dyn Random) -> Self {
        Self(format!("dek_{:032x}", u128::from_be_bytes(random.bytes())))
    }

    /// Creates an ID from the text in a vault record. Does not validate it.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the ID with its prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DekId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The data key: 256 random bits that encrypt every stored secret. Zeroized on drop, never cloned,
/// never printed.
pub struct Dek {
    id: DekId,
    // Boxed: moving the key would otherwise leave copies of it on the stack.
    key: Box<Zeroizing<[u8; KEY_BYTES]>>,
}

impl Dek {
    /// Generates a random key with a new ID.
    pub fn generate(random: &dyn Random) -> Self {
        let mut key = Box::new(Zeroizing::new([0; KEY_BYTES]));
        random.fill(key.as_mut_slice());
        Self {
            id: DekId::generate(random),
            key,
        }
    }

    /// Builds a key from unwrapped bytes. Returns `None` unless there are 32.
    pub(crate) fn from_bytes(id: DekId, bytes: &[u8]) -> Option<Self> {
        if bytes.len() != KEY_BYTES {
            return None;
        }
        let mut key = Box::new(Zeroizing::new([0; KEY_BYTES]));
        key.copy_from_slice(bytes);
        Some(Self { id, key })
    }

    pub(crate) fn expose(&self) -> &[u8; KEY_BYTES] {
        &self.key
    }

    pub fn id(&self) -> &DekId {
        &self.id
    }

    /// Returns base64 of HMAC-SHA-256(DEK, `gatehouse/dek/v1`). Identifies the key without revealing anything about
    /// it.
    pub fn commitment(&self) -> String {
        STANDARD.encode(self.commitment_mac().finalize().into_bytes())
    }

    /// Returns whether this key produced the commitment. Compares in constant time.
    pub fn matches_commitment(&self, commitment: &str) -> bool {
        STANDARD
            .decode(commitment)
            .is_ok_and(|bytes| self.commitment_mac().verify_slice(&bytes).is_ok())
    }

    fn commitment_mac(&self) -> Hmac<Sha256> {
        // HMAC pads a key with zeros to its block size of 64 bytes. The padding is done here, because the
        // constructor for keys of this fixed length cannot fail.
        let mut block = Zeroizing::new([0; 64]);
        for (to, from) in block.iter_mut().zip(self.key.iter()) {
            *to = *from;
        }
        let mut mac = <Hmac<Sha256> as KeyInit>::new((&*block).into());
        mac.update(COMMITMENT_CONTEXT);
        mac
    }

    /// Encrypts for this context. Returns base64 (standard alphabet, padded) of nonce ‖ ciphertext
    /// ‖ tag.
    pub fn encrypt(
        &self,
        random: &dyn Random,
        aad: &Aad,
        plaintext: &[u8],
    ) -> Result<String, CryptoError> {
        cipher::seal(&self.key, random, aad, plaintext)
    }

    /// Decrypts the output of [`Dek::encrypt`] for the same context.
    pub fn decrypt(&self, aad: &Aad, text: &str) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        cipher::open(&self.key, aad, text)
    }
}

impl fmt::Debug for Dek {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dek")
            .field("id", &self.id.0)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::SeededRandom;

    #[test]
    fn the_commitment_is_the_documented_hmac() {
        // Computed with: printf gatehouse/dek/v1 | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707… -binary |
        // base64
        let dek = Dek::from_bytes(DekId::from_text("dek_x"), &[7; 32]).unwrap();
        assert_eq!(
            dek.commitment(),
            "N7IOiiOlrEXvr9GgnRYdnnWGTPghi8pNzKkrBazM8h0="
        );
        assert!(dek.matches_commitment(&dek.commitment()));
        let other = Dek::from_bytes(DekId::from_text("dek_x"), &[8; 32]).unwrap();
        for wrong in [&other.commitment(), "", "AAAA", "no base64"] {
            assert!(!dek.matches_commitment(wrong));
        }
    }

    #[test]
    fn only_32_bytes_are_a_key() {
        for (length, is_key) in [(0, false), (31, false), (32, true), (33, false)] {
            let dek = Dek::from_bytes(DekId::from_text("d"), &vec![1; length]);
            assert_eq!(dek.is_some(), is_key);
        }
    }

    #[test]
    fn two_keys_differ_in_key_and_id_and_debug_shows_the_id_alone() {
        let random = SeededRandom::new(1);
        let (one, other) = (Dek::generate(&random), Dek::generate(&random));
        assert_ne!(one.expose(), other.expose());
        assert_ne!(one.id(), other.id());
        assert_eq!(one.id().as_str().len(), 4 + 32);
        assert_eq!(
            format!("{one:?}"),
            format!("Dek {{ id: \"{}\", .. }}", one.id())
        );
    }
}
