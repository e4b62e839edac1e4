//! Recipients and identities: the keys and passphrases that files are encrypted for, and that decrypt them. Also
//! contains the file key, which is wrapped for each recipient.

mod stanzas;

use super::header::Stanza;
use super::{AgeError, FILE_KEY_BYTES, Key};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, Hrp};
use data_encoding::HEXLOWER;
use gatehouse_domain::Random;
use secrecy::SecretString;
use stanzas::{open_scrypt, open_x25519, seal, stretch, wrap_x25519};
use zeroize::Zeroizing;

const X25519: &str = "X25519";
const X25519_INFO: &[u8] = b"age-encryption.org/v1/X25519";
const SCRYPT: &str = "scrypt";
const SCRYPT_SALT: &[u8] = b"age-encryption.org/v1/scrypt";
const SALT_BYTES: usize = 16;
/// Binary logarithm of scrypt's cost for new files, which use 128 MiB.
const LOG_N: u8 = 17;
/// The highest accepted cost, with which scrypt uses 1 GiB.
pub(super) const MAX_LOG_N: u8 = 20;
/// The maximum number of public keys of a new file. Each key adds about 100 bytes to the header.
pub(super) const MAX_RECIPIENTS: usize = 20;

/// The key of one file, which is wrapped for each recipient. It decrypts only this file. It is on the heap, because
/// each move of an array would leave a copy in memory.
pub struct FileKey(Box<Zeroizing<[u8; FILE_KEY_BYTES]>>);

/// The recipients that can decrypt a new file.
pub enum Recipient {
    /// The holders of these X25519 keys.
    PublicKeys(Vec<[u8; 32]>),
    Passphrase(SecretString),
}

/// Decrypts files.
pub enum Identity {
    /// X25519 keys.
    SecretKeys(Vec<Key>),
    Passphrase(SecretString),
    /// The key of the file itself. The header is verified with it, and its stanzas are not needed.
    FileKey(FileKey),
}

impl FileKey {
    /// Returns the key of a new file.
    pub fn generate(random: &dyn Random) -> Self {
        Self(Box::new(Zeroizing::new(random.bytes())))
    }

    /// Parses the text of [`Self::to_hex`].
    pub fn parse_hex(text: &str) -> Result<Self, AgeError> {
        let bytes = HEXLOWER.decode(text.as_bytes()).map(Zeroizing::new);
        let key = bytes.ok().and_then(|bytes| Self::of(&bytes));
        key.ok_or(AgeError::FileKey)
    }

    /// Returns the key in hexadecimal.
    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(HEXLOWER.encode(self.as_slice()))
    }

    /// Copies the key; `None` if the length is wrong.
    fn of(bytes: &[u8]) -> Option<Self> {
        Some(Self(Box::new(Zeroizing::new(bytes.try_into().ok()?))))
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        self.0.as_slice()
    }
}

impl Recipient {
    /// Parses one or more `age1…` keys, separated by spaces or commas.
    pub fn parse(text: &str) -> Result<Self, AgeError> {
        let texts = text.split([' ', ',']).filter(|text| !text.is_empty());
        let keys = texts
            .map(|text| bech32_key(text.trim(), "age").map(|key| *key))
            .collect::<Option<Vec<_>>>();
        match keys {
            Some(keys) if keys.len() > MAX_RECIPIENTS => Err(AgeError::TooManyRecipients),
            Some(keys) if !keys.is_empty() => Ok(Self::PublicKeys(keys)),
            _ => Err(AgeError::Recipient),
        }
    }

    /// Wraps the file key once for each public key, or for the passphrase.
    pub(super) fn wrap(
        &self,
        file_key: &FileKey,
        random: &dyn Random,
    ) -> Result<Vec<Stanza>, AgeError> {
        match self {
            Self::PublicKeys(keys) => {
                let wrapped = keys.iter().map(|key| wrap_x25519(key, file_key, random));
                wrapped.collect()
            }
            // The format allows no other stanza beside a passphrase stanza.
            Self::Passphrase(passphrase) => {
                let salt: [u8; SALT_BYTES] = random.bytes();
                let key = stretch(passphrase, &salt, LOG_N)?;
                Ok(vec![Stanza {
                    arguments: vec![
                        SCRYPT.to_owned(),
                        STANDARD_NO_PAD.encode(salt),
                        LOG_N.to_string(),
                    ],
                    body: seal(&key, file_key)?,
                }])
            }
        }
    }
}

impl Identity {
    /// Parses an identity file: one `AGE-SECRET-KEY-1…` per line; empty lines and lines with `#` are skipped.
    pub fn parse(text: &str) -> Result<Self, AgeError> {
        let lines = text.lines().map(str::trim);
        let keys = lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| bech32_key(line, "AGE-SECRET-KEY-").ok_or(AgeError::Identity))
            .collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() {
            return Err(AgeError::Identity);
        }
        Ok(Self::SecretKeys(keys))
    }

    pub(super) fn unwrap(&self, stanzas: &[Stanza]) -> Result<FileKey, AgeError> {
        // A passphrase stanza must be the only stanza of its header.
        let has_passphrase = stanzas.iter().any(|stanza| stanza.kind() == Some(SCRYPT));
        if has_passphrase && stanzas.len() > 1 {
            return Err(AgeError::Header);
        }
        match self {
            Self::SecretKeys(keys) => {
                let mut pairs = keys
                    .iter()
                    .flat_map(|key| stanzas.iter().map(move |stanza| (key, stanza)));
                pairs
                    .find_map(|(key, stanza)| open_x25519(key, stanza).transpose())
                    .unwrap_or(Err(AgeError::WrongKey))
            }
            Self::Passphrase(passphrase) => match stanzas {
                [stanza] => open_scrypt(passphrase, stanza)?.ok_or(AgeError::WrongKey),
                _ => Err(AgeError::WrongKey),
            },
            Self::FileKey(key) => Ok(FileKey(key.0.clone())),
        }
    }
}

impl std::fmt::Debug for FileKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileKey").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recipient").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// Decodes a key; `None` unless the text is Bech32 of 32 bytes with this prefix.
fn bech32_key(text: &str, prefix: &str) -> Option<Key> {
    let checked = CheckedHrpstring::new::<Bech32>(text).ok()?;
    if checked.hrp() != Hrp::parse(prefix).ok()? {
        return None;
    }
    let bytes = Zeroizing::new(checked.byte_iter().collect::<Vec<u8>>());
    Some(Zeroizing::new(bytes.as_slice().try_into().ok()?))
}
