//! Wraps a file key for a recipient, and unwraps it.

use super::{FileKey, MAX_LOG_N, SALT_BYTES, SCRYPT, SCRYPT_SALT, X25519, X25519_INFO};
use crate::age::header::Stanza;
use crate::age::{AgeError, FILE_KEY_BYTES, Key, derive};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::Aead;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce};
use curve25519_dalek::MontgomeryPoint;
use gatehouse_domain::Random;
use scrypt::Params;
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

pub(super) fn wrap_x25519(
    public: &[u8; 32],
    file_key: &FileKey,
    random: &dyn Random,
) -> Result<Stanza, AgeError> {
    let ephemeral: Key = Zeroizing::new(random.bytes());
    let share = MontgomeryPoint::mul_base_clamped(*ephemeral).to_bytes();
    let key = shared_key(&ephemeral, public, &share, public)?;
    Ok(Stanza {
        arguments: vec![X25519.to_owned(), STANDARD_NO_PAD.encode(share)],
        body: seal(&key, file_key)?,
    })
}

/// Unwraps the file key; `None` if the stanza is for another key or has a different type.
pub(super) fn open_x25519(key: &Key, stanza: &Stanza) -> Result<Option<FileKey>, AgeError> {
    if stanza.kind() != Some(X25519) {
        return Ok(None);
    }
    let [_, share] = stanza.arguments.as_slice() else {
        return Err(AgeError::Header);
    };
    let share = bytes_of::<32>(share)?;
    let public = MontgomeryPoint::mul_base_clamped(**key).to_bytes();
    open(&shared_key(key, &share, &share, &public)?, &stanza.body)
}

/// Unwraps the file key; `None` if the passphrase is wrong or the stanza has a different type.
pub(super) fn open_scrypt(
    passphrase: &SecretString,
    stanza: &Stanza,
) -> Result<Option<FileKey>, AgeError> {
    if stanza.kind() != Some(SCRYPT) {
        return Ok(None);
    }
    let [_, salt, log_n] = stanza.arguments.as_slice() else {
        return Err(AgeError::Header);
    };
    if log_n.starts_with(['0', '+']) {
        return Err(AgeError::Header);
    }
    let log_n: u8 = log_n.parse().map_err(|_| AgeError::Header)?;
    if log_n > MAX_LOG_N {
        return Err(AgeError::TooMuchWork);
    }
    let key = stretch(passphrase, &bytes_of::<SALT_BYTES>(salt)?, log_n)?;
    open(&key, &stanza.body)
}

fn bytes_of<const N: usize>(text: &str) -> Result<[u8; N], AgeError> {
    let bytes = STANDARD_NO_PAD.decode(text).ok();
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or(AgeError::Header)
}

/// Derives the key that wraps the file key from the Diffie-Hellman secret.
fn shared_key(
    mine: &Key,
    theirs: &[u8; 32],
    share: &[u8; 32],
    recipient: &[u8; 32],
) -> Result<Key, AgeError> {
    let secret = Zeroizing::new(MontgomeryPoint(*theirs).mul_clamped(**mine).to_bytes());
    // RFC 7748, section 6.1: a public key of low order makes the secret zero.
    if *secret == [0; 32] {
        return Err(AgeError::Header);
    }
    let salt = [share.as_slice(), recipient].concat();
    derive(secret.as_slice(), &salt, X25519_INFO)
}

pub(super) fn stretch(passphrase: &SecretString, salt: &[u8], log_n: u8) -> Result<Key, AgeError> {
    let parameters = Params::new(log_n, 8, 1).map_err(|_| AgeError::Header)?;
    let salt = [SCRYPT_SALT, salt].concat();
    let mut key = Zeroizing::new([0; 32]);
    let passphrase = passphrase.expose_secret().as_bytes();
    scrypt::scrypt(passphrase, &salt, &parameters, key.as_mut_slice())
        .map_err(|_| AgeError::Header)?;
    Ok(key)
}

/// Encrypts the file key. The nonce is constant, because each wrapping key encrypts only one file key.
pub(super) fn seal(key: &Key, file_key: &FileKey) -> Result<Vec<u8>, AgeError> {
    let cipher = ChaCha20Poly1305::new((&**key).into());
    let sealed = cipher.encrypt(&Nonce::default(), file_key.as_slice());
    sealed.map_err(|_| AgeError::Header)
}

/// Decrypts the file key; `None` if the wrapping key is wrong.
fn open(key: &Key, body: &[u8]) -> Result<Option<FileKey>, AgeError> {
    // The format requires this check: a ciphertext of a different length could be decrypted with several keys.
    if body.len() != FILE_KEY_BYTES + 16 {
        return Err(AgeError::Header);
    }
    let cipher = ChaCha20Poly1305::new((&**key).into());
    let opened = cipher.decrypt(&Nonce::default(), body);
    let opened = opened.ok().map(Zeroizing::new);
    Ok(opened.and_then(|opened| FileKey::of(&opened)))
}
