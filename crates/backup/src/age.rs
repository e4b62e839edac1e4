//! The age file format, version 1, with X25519 and scrypt recipients. Source:
//! <https://github.com/C2SP/C2SP/blob/main/age.md>. `docs/decisions/0016-age.md` explains why the crate `age` is
//! not used.

mod header;
mod keys;
mod stream;

pub use keys::{FileKey, Identity, Recipient};
pub use stream::{Decryptor, Encryptor};

use gatehouse_domain::Random;
use hkdf::Hkdf;
use sha2::Sha256;
use std::io::{self, BufRead, Write};
use zeroize::Zeroizing;

/// Length of the key of one file.
const FILE_KEY_BYTES: usize = 16;
/// Length of the nonce before the payload.
const NONCE_BYTES: usize = 16;

type Key = Zeroizing<[u8; 32]>;

/// Why a file could not be encrypted or decrypted.
#[derive(Debug, thiserror::Error)]
pub enum AgeError {
    #[error("not an age recipient; enter the whole public key, age1…, that age-keygen prints")]
    Recipient,
    #[error("more than {} age recipients", keys::MAX_RECIPIENTS)]
    TooManyRecipients,
    #[error("no age identity found; a line must begin with AGE-SECRET-KEY-1")]
    Identity,
    #[error("not the key of a file")]
    FileKey,
    /// The header is not of version 1, or is damaged.
    #[error("the encryption header is damaged or of an unknown version")]
    Header,
    /// No stanza of the header can be opened with this identity.
    #[error("the file is not encrypted to this identity or passphrase")]
    WrongKey,
    /// The file requires more work than [`keys::MAX_LOG_N`] allows.
    #[error("the passphrase's work factor of the file is too high")]
    TooMuchWork,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Returns whether the data begins like an age file.
pub fn is_encrypted(start: &[u8]) -> bool {
    start.starts_with(header::VERSION.as_bytes())
}

/// Reads a header without a key. Its MAC is not verified.
pub(crate) fn check_header(mut from: impl BufRead) -> Result<(), AgeError> {
    header::read(&mut from).map(drop)
}

/// Writes the header of a file with this key, which must be new. The returned writer encrypts.
/// [`Encryptor::finish`] must be called.
pub fn encrypt<W: Write>(
    mut to: W,
    recipient: &Recipient,
    file_key: &FileKey,
    random: &dyn Random,
) -> Result<Encryptor<W>, AgeError> {
    let stanzas = recipient.wrap(file_key, random)?;
    to.write_all(header::encode(&stanzas, file_key)?.as_bytes())?;
    let nonce: [u8; NONCE_BYTES] = random.bytes();
    to.write_all(&nonce)?;
    Ok(Encryptor::new(to, &payload_key(file_key, &nonce)?))
}

/// Reads and verifies the header. The returned reader decrypts.
pub fn decrypt<R: BufRead>(mut from: R, identity: &Identity) -> Result<Decryptor<R>, AgeError> {
    let header = header::read(&mut from)?;
    let file_key = identity.unwrap(&header.stanzas)?;
    header.verify(&file_key)?;
    let mut nonce = [0; NONCE_BYTES];
    from.read_exact(&mut nonce)?;
    Ok(Decryptor::new(from, &payload_key(&file_key, &nonce)?))
}

fn payload_key(file_key: &FileKey, nonce: &[u8; NONCE_BYTES]) -> Result<Key, AgeError> {
    derive(file_key.as_slice(), nonce, b"payload")
}

/// Derives a key with HKDF-SHA-256.
fn derive(secret: &[u8], salt: &[u8], info: &[u8]) -> Result<Key, AgeError> {
    let mut key = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(Some(salt), secret)
        .expand(info, key.as_mut_slice())
        .map_err(|_| AgeError::Header)?;
    Ok(key)
}

#[cfg(test)]
mod tests;
