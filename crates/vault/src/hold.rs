//! The key pair for deliveries that arrive while the vault is sealed. Anyone who can read the record can encrypt
//! with the public key. Decryption requires the data key. This module does not depend on the content of deliveries.
//!
//! The scheme is X25519 with a fresh key pair per message, HKDF-SHA-256, and XChaCha20-Poly1305.
//! `docs/vault-format.md` specifies the bytes.

use crate::cipher::{self, CryptoError, KEY_BYTES};
use crate::{Aad, Dek};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use curve25519_dalek::MontgomeryPoint;
use gatehouse_domain::Random;
use hkdf::Hkdf;
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

const INFO: &[u8] = b"gatehouse/hold/v1";

/// Encrypts deliveries. Not secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldPublicKey([u8; KEY_BYTES]);

/// Decrypts held deliveries. Zeroized on drop, never printed.
pub struct HoldPrivateKey(Zeroizing<[u8; KEY_BYTES]>);

impl HoldPublicKey {
    /// Parses the column of the vault record. Returns `None` unless it is base64 of 32 bytes.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }

    pub(crate) const fn from_bytes(bytes: [u8; KEY_BYTES]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    pub(crate) fn encode(&self) -> String {
        STANDARD.encode(self.0)
    }

    /// Encrypts for this context. Returns base64 of the ephemeral public key, a dot, and base64 of
    /// nonce ‖ ciphertext ‖ tag.
    pub fn encrypt(
        &self,
        random: &dyn Random,
        aad: &Aad,
        plaintext: &[u8],
    ) -> Result<String, CryptoError> {
        let ephemeral = HoldPrivateKey::generate(random);
        let sender = ephemeral.public();
        let key = shared_key(&ephemeral, &self.0, &sender.0, &self.0)?;
        let sealed = cipher::seal(&key, random, aad, plaintext)?;
        Ok(format!("{}.{sealed}", sender.encode()))
    }
}

impl HoldPrivateKey {
    pub(crate) fn generate(random: &dyn Random) -> Self {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        random.fill(key.as_mut_slice());
        Self(key)
    }

    pub(crate) fn public(&self) -> HoldPublicKey {
        HoldPublicKey(MontgomeryPoint::mul_base_clamped(*self.0).to_bytes())
    }

    /// Returns the Diffie-Hellman secret with another key pair.
    pub(crate) fn agree(
        &self,
        theirs: &HoldPublicKey,
    ) -> Result<Zeroizing<[u8; KEY_BYTES]>, CryptoError> {
        let secret = Zeroizing::new(MontgomeryPoint(theirs.0).mul_clamped(*self.0).to_bytes());
        // RFC 7748, section 6.1: a public key of low order makes the secret zero.
        if *secret == [0; KEY_BYTES] {
            return Err(CryptoError::NotAuthentic);
        }
        Ok(secret)
    }

    /// Wraps the key with the data key. The AAD is `vault:hold`.
    pub(crate) fn wrap(&self, dek: &Dek, random: &dyn Random) -> Result<String, CryptoError> {
        dek.encrypt(random, &Aad::HoldKey, self.0.as_slice())
    }

    pub(crate) fn unwrap_with(dek: &Dek, wrapped: &str) -> Result<Self, CryptoError> {
        let bytes = dek.decrypt(&Aad::HoldKey, wrapped)?;
        let key = <[u8; KEY_BYTES]>::try_from(bytes.as_slice());
        Ok(Self(Zeroizing::new(
            key.map_err(|_| CryptoError::Malformed)?,
        )))
    }

    /// Decrypts the output of [`HoldPublicKey::encrypt`] for the same context.
    pub fn decrypt(&self, aad: &Aad, text: &str) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        let (sender, sealed) = text.split_once('.').ok_or(CryptoError::Malformed)?;
        let sender = HoldPublicKey::parse(sender).ok_or(CryptoError::Malformed)?;
        let key = shared_key(self, &sender.0, &sender.0, &self.public().0)?;
        cipher::open(&key, aad, sealed)
    }
}

impl fmt::Debug for HoldPrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HoldPrivateKey").finish_non_exhaustive()
    }
}

/// Derives the message key from the Diffie-Hellman secret and both public keys.
fn shared_key(
    mine: &HoldPrivateKey,
    theirs: &[u8; KEY_BYTES],
    sender: &[u8; KEY_BYTES],
    receiver: &[u8; KEY_BYTES],
) -> Result<Zeroizing<[u8; KEY_BYTES]>, CryptoError> {
    let secret = mine.agree(&HoldPublicKey::from_bytes(*theirs))?;
    let salt = [sender.as_slice(), receiver].concat();
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    Hkdf::<Sha256>::new(Some(&salt), secret.as_slice())
        .expand(INFO, key.as_mut_slice())
        .map_err(|_| CryptoError::Malformed)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::HEXLOWER;
    use gatehouse_domain::SeededRandom;

    fn key(hex: &str) -> HoldPrivateKey {
        let bytes = HEXLOWER.decode(hex.as_bytes()).unwrap();
        HoldPrivateKey(Zeroizing::new(bytes.try_into().unwrap()))
    }

    fn aad() -> Aad {
        Aad::held("dlv_1")
    }

    /// Checks the vector of RFC 7748, section 6.1.
    #[test]
    fn published_vector_of_x25519() {
        let alice = key("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
        let bob = key("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
        assert_eq!(
            HEXLOWER.encode(&alice.public().0),
            "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
        );
        let shared = |mine: &HoldPrivateKey, theirs: &HoldPrivateKey| {
            let point = MontgomeryPoint(theirs.public().0).mul_clamped(*mine.0);
            HEXLOWER.encode(&point.to_bytes())
        };
        let expected = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
        assert_eq!(shared(&alice, &bob), expected);
        assert_eq!(shared(&bob, &alice), expected);
    }

    #[test]
    fn only_the_private_key_decrypts_and_only_for_the_same_context() {
        let random = SeededRandom::new(5);
        let mine = HoldPrivateKey::generate(&random);
        let text = mine.public().encrypt(&random, &aad(), b"a body").unwrap();
        assert_eq!(mine.decrypt(&aad(), &text).unwrap().as_slice(), b"a body");
        let refused = |key: &HoldPrivateKey, aad: &Aad, text: &str| {
            key.decrypt(aad, text).map(drop).unwrap_err()
        };
        let other = HoldPrivateKey::generate(&random);
        assert_eq!(refused(&other, &aad(), &text), CryptoError::NotAuthentic);
        assert_eq!(
            refused(&mine, &Aad::held("dlv_2"), &text),
            CryptoError::NotAuthentic
        );
        for malformed in ["", ".", "AAAA", "AAAA.AAAA"] {
            assert_eq!(refused(&mine, &aad(), malformed), CryptoError::Malformed);
        }
    }

    #[test]
    fn a_sender_key_of_low_order_is_refused() {
        let random = SeededRandom::new(6);
        let mine = HoldPrivateKey::generate(&random);
        let sealed = cipher::seal(&[0; KEY_BYTES], &random, &aad(), b"x").unwrap();
        let text = format!("{}.{sealed}", HoldPublicKey([0; KEY_BYTES]).encode());
        assert_eq!(
            mine.decrypt(&aad(), &text).map(drop).unwrap_err(),
            CryptoError::NotAuthentic
        );
    }
}
