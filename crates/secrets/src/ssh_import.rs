//! Parses private keys of other programs: OpenSSH's format, and PEM with PKCS#8 (plain or encrypted), PKCS#1 (RSA) or
//! SEC1 (elliptic curves).

mod der;

use crate::SecretsError;
use der::{decrypt_pkcs8, read_pkcs1, read_pkcs8, read_sec1};
use pkcs8::der::SecretDocument;
use pkcs8::der::asn1::ObjectIdentifier;
use secrecy::{ExposeSecret, SecretString};
use ssh_key::private::KeypairData;
use ssh_key::{Kdf, PrivateKey};

/// OIDs: PKCS#1 (RFC 8017), RFC 5480, RFC 8410.
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const P521: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");

/// Maximum bcrypt rounds, about 15 ms each. `ssh-keygen` writes 24 (16 before OpenSSH 9.4).
const MAX_BCRYPT_ROUNDS: u32 = 256;
/// Maximum PBKDF2 iterations: more than any program writes by default.
const MAX_PBKDF2_ITERATIONS: u32 = 2_000_000;
/// Maximum scrypt memory (128 · N · r bytes): twice OpenSSL's default.
const MAX_SCRYPT_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum scrypt lanes. The time grows linearly with the number of lanes.
const MAX_SCRYPT_LANES: u16 = 4;

/// The key and passphrase to import.
pub(crate) struct Import {
    pub(crate) private_key: SecretString,
    pub(crate) passphrase: Option<SecretString>,
}

fn bad_key(reason: &str) -> SecretsError {
    SecretsError::invalid("private_key", reason)
}

fn unreadable<E>(_: E) -> SecretsError {
    bad_key("the key is damaged or its type is not supported")
}

fn no_passphrase() -> SecretsError {
    SecretsError::invalid(
        "passphrase",
        "the key is encrypted; its passphrase is required",
    )
}

impl Import {
    fn passphrase(&self) -> Result<&str, SecretsError> {
        let passphrase = self.passphrase.as_ref().map(ExposeSecret::expose_secret);
        passphrase.ok_or_else(no_passphrase)
    }
}

/// Parses a key. Can take seconds, because the author of the key chose the cost of the passphrase derivation,
/// within limits.
pub(crate) fn read(import: &Import) -> Result<PrivateKey, SecretsError> {
    let text = import.private_key.expose_secret().trim();
    let first_line = text.lines().next().unwrap_or_default().trim_end();
    match first_line {
        "-----BEGIN OPENSSH PRIVATE KEY-----" => read_openssh(text, import),
        "-----BEGIN PRIVATE KEY-----" => read_pkcs8(document(text)?.as_bytes()),
        "-----BEGIN ENCRYPTED PRIVATE KEY-----" => {
            let document = document(text)?;
            read_pkcs8(decrypt_pkcs8(document.as_bytes(), import)?.as_bytes())
        }
        "-----BEGIN RSA PRIVATE KEY-----" => read_pkcs1(document(text)?.as_bytes()),
        "-----BEGIN EC PRIVATE KEY-----" => {
            let document = document(text)?;
            read_sec1(document.as_bytes(), None)
        }
        line if line.starts_with("-----BEGIN DSA PRIVATE KEY") => {
            Err(bad_key("DSA keys are not supported; they are too weak"))
        }
        line if line.starts_with("PuTTY-User-Key-File") => {
            Err(bad_key("this is a PuTTY key; export it as an OpenSSH key"))
        }
        line if line.starts_with("-----BEGIN ") && line.contains("PUBLIC KEY") => {
            Err(bad_key("this is a public key; the private key is required"))
        }
        line if line.starts_with("ssh-") || line.starts_with("ecdsa-") => {
            Err(bad_key("this is a public key; the private key is required"))
        }
        _ => Err(bad_key("not a private key in OpenSSH or PEM format")),
    }
}

fn document(text: &str) -> Result<SecretDocument, SecretsError> {
    if text.contains("Proc-Type:") {
        return Err(bad_key(
            "the old encrypted PEM format is not supported; convert the key with `ssh-keygen -p \
             -f <file>`",
        ));
    }
    let (_, document) = SecretDocument::from_pem(text).map_err(unreadable)?;
    Ok(document)
}

fn read_openssh(text: &str, import: &Import) -> Result<PrivateKey, SecretsError> {
    let key = PrivateKey::from_openssh(format!("{text}\n")).map_err(unreadable)?;
    if !key.is_encrypted() {
        return supported(key);
    }
    match key.kdf() {
        Kdf::Bcrypt { rounds, .. } if *rounds > MAX_BCRYPT_ROUNDS => {
            return Err(bad_key(
                "the key is protected with more than 256 rounds; reduce them with `ssh-keygen -p \
                 -a 64 -f <file>`",
            ));
        }
        _ => {}
    }
    let opened = key.decrypt(import.passphrase()?);
    supported(opened.map_err(|_| SecretsError::WrongPassphrase)?)
}

/// Accepts only key types that are strong enough and can be used without a person present.
fn supported(key: PrivateKey) -> Result<PrivateKey, SecretsError> {
    match key.key_data() {
        KeypairData::Ed25519(_) | KeypairData::Ecdsa(_) | KeypairData::Rsa(_) => Ok(key),
        _ => Err(bad_key("only ed25519, ECDSA and RSA keys are supported")),
    }
}

fn new_key(data: KeypairData) -> Result<PrivateKey, SecretsError> {
    PrivateKey::new(data, "").map_err(unreadable)
}

#[cfg(test)]
mod tests;
