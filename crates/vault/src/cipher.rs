//! XChaCha20-Poly1305 with a 32-byte key, encoded as base64.

use crate::Aad;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::{AeadInOut, KeyInit, Tag, XChaCha20Poly1305, XNonce};
use gatehouse_domain::{ErrorCode, Problem, Random};
use zeroize::Zeroizing;

pub(crate) const KEY_BYTES: usize = 32;
/// The length of a nonce: 192 bits.
pub(crate) const NONCE_BYTES: usize = 24;
/// The length of the Poly1305 tag.
pub(crate) const TAG_BYTES: usize = 16;

/// Why encryption, decryption or key derivation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CryptoError {
    /// The text is not base64, or is too short for a nonce and a tag.
    #[error("the stored text is not a ciphertext")]
    Malformed,
    /// The key or the context is wrong, or bytes were modified. The cipher cannot distinguish these cases.
    #[error("the ciphertext was made with another key, for another context, or has been changed")]
    NotAuthentic,
    /// The plaintext exceeds the cipher's limit (256 GiB).
    #[error("the plaintext is too long")]
    TooLong,
    /// Argon2id failed, most likely because it could not allocate its memory.
    #[error("the key could not be derived: not enough memory")]
    Derivation,
}

impl From<CryptoError> for Problem {
    fn from(error: CryptoError) -> Self {
        match error {
            CryptoError::Derivation => Self::new(
                ErrorCode::Internal,
                "There was not enough memory to derive the key; try again.",
            ),
            _ => Self::internal(),
        }
    }
}

/// Encrypts with a fresh random nonce. Returns base64 of nonce ‖ ciphertext ‖ tag.
pub(crate) fn seal(
    key: &[u8; KEY_BYTES],
    random: &dyn Random,
    aad: &Aad,
    plaintext: &[u8],
) -> Result<String, CryptoError> {
    let nonce: [u8; NONCE_BYTES] = random.bytes();
    // Allocates the full capacity at once: growing would leave a copy of the plaintext in memory.
    let mut sealed = Vec::with_capacity(NONCE_BYTES + plaintext.len() + TAG_BYTES);
    sealed.extend_from_slice(&nonce);
    sealed.extend_from_slice(plaintext);
    let (_, body) = sealed.split_at_mut(NONCE_BYTES);
    let tag = XChaCha20Poly1305::new(key.into())
        .encrypt_inout_detached(
            &XNonce::from(nonce),
            aad.to_string().as_bytes(),
            body.into(),
        )
        .map_err(|_| CryptoError::TooLong)?;
    sealed.extend_from_slice(&tag);
    Ok(STANDARD.encode(sealed))
}

/// Decrypts the output of [`seal`] for the same key and context.
pub(crate) fn open(
    key: &[u8; KEY_BYTES],
    aad: &Aad,
    text: &str,
) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
    let sealed = STANDARD.decode(text).map_err(|_| CryptoError::Malformed)?;
    let (nonce, rest) = sealed
        .split_first_chunk::<NONCE_BYTES>()
        .ok_or(CryptoError::Malformed)?;
    let (body, tag) = rest
        .split_last_chunk::<TAG_BYTES>()
        .ok_or(CryptoError::Malformed)?;
    let mut plaintext = Zeroizing::new(body.to_vec());
    XChaCha20Poly1305::new(key.into())
        .decrypt_inout_detached(
            &XNonce::from(*nonce),
            aad.to_string().as_bytes(),
            plaintext.as_mut_slice().into(),
            &Tag::from(*tag),
        )
        .map_err(|_| CryptoError::NotAuthentic)?;
    Ok(plaintext)
}

/// Returns whether the text has the length of a ciphertext of `plaintext_bytes` bytes. Needs no key.
pub(crate) fn has_shape_of(text: &str, plaintext_bytes: usize) -> bool {
    STANDARD
        .decode(text)
        .is_ok_and(|b| b.len() == NONCE_BYTES + plaintext_bytes + TAG_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::HEXLOWER;
    use gatehouse_domain::SeededRandom;
    use proptest::prelude::*;

    /// Checks the vector of draft-irtf-cfrg-xchacha-03, appendix A.3.1.
    #[test]
    fn published_vector_of_xchacha20_poly1305() {
        let key: [u8; 32] = std::array::from_fn(|i| 0x80 + u8::try_from(i).unwrap());
        let nonce: [u8; 24] = std::array::from_fn(|i| 0x40 + u8::try_from(i).unwrap());
        let aad = HEXLOWER.decode(b"50515253c0c1c2c3c4c5c6c7").unwrap();
        let mut text = *b"Ladies and Gentlemen of the class of '99: If I could offer you \
            only one tip for the future, sunscreen would be it.";
        let tag = XChaCha20Poly1305::new((&key).into())
            .encrypt_inout_detached(&XNonce::from(nonce), &aad, text.as_mut_slice().into())
            .unwrap();
        assert_eq!(
            HEXLOWER.encode(&text),
            "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb\
             731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452\
             2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9\
             21f9664c97637da9768812f615c68b13b52e"
        );
        assert_eq!(HEXLOWER.encode(&tag), "c0875924c1c7987947deafd8780acf49");
    }

    #[test]
    fn too_short_or_not_base64_is_malformed() {
        let short = STANDARD.encode([0; NONCE_BYTES + TAG_BYTES - 1]);
        let empty_message = STANDARD.encode([0; NONCE_BYTES + TAG_BYTES]);
        let aad = Aad::ProviderKeys;
        for text in ["", "%", "AAA", "plain text", &short] {
            assert_eq!(
                open(&[1; 32], &aad, text).unwrap_err(),
                CryptoError::Malformed
            );
        }
        assert_eq!(
            open(&[1; 32], &aad, &empty_message).unwrap_err(),
            CryptoError::NotAuthentic
        );
    }

    #[test]
    fn every_encryption_has_its_own_nonce() {
        let random = SeededRandom::new(3);
        let one = seal(&[1; 32], &random, &Aad::ProviderKeys, b"x").unwrap();
        let other = seal(&[1; 32], &random, &Aad::ProviderKeys, b"x").unwrap();
        assert_ne!(one[..32], other[..32]);
    }

    proptest! {
        #[test]
        fn what_was_sealed_opens(
            key: [u8; 32], seed: u64, name in ".*", plain in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let aad = Aad::env(&name);
            let text = seal(&key, &SeededRandom::new(seed), &aad, &plain).unwrap();
            prop_assert!(has_shape_of(&text, plain.len()));
            prop_assert!(!has_shape_of(&text, plain.len() + 1));
            prop_assert_eq!(&*open(&key, &aad, &text).unwrap(), &plain);
        }

        #[test]
        fn a_flipped_bit_another_context_or_key_is_refused(
            key: [u8; 32], seed: u64, name in "[a-z]{0,8}",
            plain in prop::collection::vec(any::<u8>(), 0..100),
            at: prop::sample::Index, bit in 0..8u8, key_at in 0..32usize,
        ) {
            let aad = Aad::env(&name);
            let text = seal(&key, &SeededRandom::new(seed), &aad, &plain).unwrap();
            let mut bytes = STANDARD.decode(&text).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let flipped = STANDARD.encode(bytes);
            prop_assert_eq!(open(&key, &aad, &flipped).unwrap_err(), CryptoError::NotAuthentic);
            for other in [Aad::env(&format!("{name}x")), Aad::ssh_key(&name), Aad::WrappedDek] {
                prop_assert_eq!(open(&key, &other, &text).unwrap_err(), CryptoError::NotAuthentic);
            }
            let mut wrong = key;
            wrong[key_at] ^= 1 << bit;
            prop_assert_eq!(open(&wrong, &aad, &text).unwrap_err(), CryptoError::NotAuthentic);
        }

        #[test]
        fn any_text_is_an_answer_not_a_panic(text in ".*") {
            prop_assert!(open(&[1; 32], &Aad::ProviderKeys, &text).is_err());
        }
    }
}
