//! The recovery key: 128 random bits in a form that people can type.

use crate::cipher::{CryptoError, KEY_BYTES};
use crate::kdf::{self, KdfParams};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatehouse_domain::{ErrorCode, Problem, Random};
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use std::fmt;
use zeroize::Zeroizing;

/// 32 letters of five bits each. Omits I, O, 0 and 1, which are easily confused.
const ALPHABET: [u8; 32] = *b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const KEY_LETTERS: usize = 26;
const CHECK_LETTERS: usize = 6;
const LETTERS: usize = KEY_LETTERS + CHECK_LETTERS;
const GROUP: usize = 4;
const CHECK_CONTEXT: &[u8] = b"gatehouse/recovery/check";
const HASH_CONTEXT: &[u8] = b"gatehouse/recovery/hash/v1";
const KEK_SALT: &[u8] = b"gatehouse/vault/recovery/v1";

/// Why a text is not a recovery key. API callers get the same error as for a wrong key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRecoveryKey {
    /// A character outside the alphabet.
    #[error("a recovery key contains only the letters A-Z without I and O, and the digits 2-9")]
    Character,
    /// Not 32 letters.
    #[error("a recovery key has 32 letters and digits")]
    Length,
    /// Well-formed, but the check letters or the padding bits are wrong.
    #[error("the recovery key is mistyped: its check letters do not match")]
    Checksum,
}

impl From<InvalidRecoveryKey> for Problem {
    fn from(_: InvalidRecoveryKey) -> Self {
        Self::new(
            ErrorCode::VaultBadKey,
            "The recovery key does not unlock the vault.",
        )
    }
}

/// 128 random bits that open the vault when the password is lost. Zeroized on drop.
pub struct RecoveryKey(Box<Zeroizing<[u8; 16]>>);

impl RecoveryKey {
    pub fn generate(random: &dyn Random) -> Self {
        let mut bytes = Box::new(Zeroizing::new([0; 16]));
        random.fill(bytes.as_mut_slice());
        Self(bytes)
    }

    /// Parses typed text. Ignores case, hyphens and white space. The two padding bits must be zero
    /// and the check letters must match.
    pub fn parse(text: &str) -> Result<Self, InvalidRecoveryKey> {
        let mut values = Zeroizing::new([0_u8; LETTERS]);
        let mut places = values.iter_mut();
        for letter in text.chars().filter(|c| !is_separator(*c)) {
            let value = value_of(letter).ok_or(InvalidRecoveryKey::Character)?;
            *places.next().ok_or(InvalidRecoveryKey::Length)? = value;
        }
        if places.len() != 0 {
            return Err(InvalidRecoveryKey::Length);
        }
        let (key, check) = values.split_at(KEY_LETTERS);
        let (last, key) = key.split_last().ok_or(InvalidRecoveryKey::Length)?;
        if last & 0b11 != 0 {
            return Err(InvalidRecoveryKey::Checksum);
        }
        let high = key
            .iter()
            .fold(0_u128, |bits, value| bits << 5 | u128::from(*value));
        let bits = high << 3 | u128::from(last >> 2);
        let parsed = Self(Box::new(Zeroizing::new(bits.to_be_bytes())));
        let check = check
            .iter()
            .fold(0_u32, |bits, value| bits << 5 | u32::from(*value));
        if check != parsed.check() {
            return Err(InvalidRecoveryKey::Checksum);
        }
        Ok(parsed)
    }

    /// Returns the text to show: `XXXX-XXXX-…`, 8 groups of 4.
    pub fn to_display(&self) -> SecretString {
        let letters = self.letters();
        let mut text = Zeroizing::new(String::with_capacity(LETTERS + LETTERS / GROUP));
        for (place, letter) in letters.iter().enumerate() {
            if place > 0 && place.is_multiple_of(GROUP) {
                text.push('-');
            }
            text.push(char::from(*letter));
        }
        SecretString::from(text.as_str())
    }

    /// Returns base64 of SHA-256(`gatehouse/recovery/hash/v1` ‖ the 32 letters). Identifies the current key without
    /// a derivation. A fast hash is sufficient because the input is not a password: trying 2^128 random values is
    /// infeasible at any speed.
    pub fn hash(&self) -> String {
        let digest = Sha256::new()
            .chain_update(HASH_CONTEXT)
            .chain_update(self.letters().as_slice());
        STANDARD.encode(digest.finalize())
    }

    /// Derives the wrapping key: Argon2id over the 32 letters with a fixed salt.
    pub(crate) fn derive_kek(&self) -> Result<Zeroizing<[u8; KEY_BYTES]>, CryptoError> {
        kdf::derive(self.letters().as_slice(), KEK_SALT, KdfParams::RECOVERY)
    }

    /// Returns the first 30 bits of SHA-256(`gatehouse/recovery/check` ‖ bytes).
    fn check(&self) -> u32 {
        let digest = Sha256::new()
            .chain_update(CHECK_CONTEXT)
            .chain_update(self.0.as_slice());
        let [a, b, c, d, ..] = <[u8; 32]>::from(digest.finalize());
        u32::from_be_bytes([a, b, c, d]) >> 2
    }

    fn letters(&self) -> Zeroizing<[u8; LETTERS]> {
        let key = u128::from_be_bytes(**self.0);
        let check = u128::from(self.check());
        let mut letters = Zeroizing::new([0; LETTERS]);
        let (key_letters, check_letters) = letters.split_at_mut(KEY_LETTERS);
        for (letter, place) in key_letters.iter_mut().zip(0_u32..) {
            // 26 letters encode 130 bits, so the last letter ends in two zero bits.
            let value = if place == 25 {
                key << 2
            } else {
                key >> (123 - 5 * place)
            };
            *letter = letter_of(value);
        }
        for (letter, place) in check_letters.iter_mut().zip(0_u32..) {
            *letter = letter_of(check >> (25 - 5 * place));
        }
        letters
    }
}

/// Returns whether the character is the ASCII hyphen or one that word processors insert.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '\u{2010}' | '\u{2011}')
}

fn value_of(letter: char) -> Option<u8> {
    let upper = letter.to_ascii_uppercase();
    let place = ALPHABET
        .iter()
        .position(|known| char::from(*known) == upper)?;
    u8::try_from(place).ok()
}

/// Encodes the low five bits.
fn letter_of(value: u128) -> u8 {
    ALPHABET
        .iter()
        .copied()
        .nth((value & 31) as usize)
        .unwrap_or_default()
}

impl fmt::Debug for RecoveryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecoveryKey(..)")
    }
}

#[cfg(test)]
mod tests;
