//! Parses private keys of other programs: OpenSSH's format, and PEM with PKCS#8 (plain or encrypted), PKCS#1 (RSA) or
//! SEC1 (elliptic curves).

use crate::SecretsError;
use pkcs8::der::SecretDocument;
use pkcs8::der::asn1::{ObjectIdentifier, OctetStringRef};
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::Kdf as Pbes2Kdf;
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef};
use rsa::pkcs1::DecodeRsaPrivateKey;
use sec1::{EcParameters, EcPrivateKey};
use secrecy::{ExposeSecret, SecretString};
use ssh_key::private::{EcdsaKeypair, Ed25519Keypair, KeypairData, RsaKeypair};
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

/// Parses a key. May take seconds: the key's author chose the cost of the passphrase derivation,
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

/// Accepts only key types that work without a person present and are strong enough.
fn supported(key: PrivateKey) -> Result<PrivateKey, SecretsError> {
    match key.key_data() {
        KeypairData::Ed25519(_) | KeypairData::Ecdsa(_) | KeypairData::Rsa(_) => Ok(key),
        _ => Err(bad_key("only ed25519, ECDSA and RSA keys are supported")),
    }
}

fn new_key(data: KeypairData) -> Result<PrivateKey, SecretsError> {
    PrivateKey::new(data, "").map_err(unreadable)
}

fn decrypt_pkcs8(der: &[u8], import: &Import) -> Result<SecretDocument, SecretsError> {
    let info = EncryptedPrivateKeyInfoRef::try_from(der).map_err(unreadable)?;
    let EncryptionScheme::Pbes2(scheme) = &info.encryption_algorithm else {
        return Err(unsupported_protection());
    };
    if !is_affordable(&scheme.kdf)? {
        return Err(bad_key(
            "its key derivation is too expensive (at most 2,000,000 iterations of PBKDF2, or 64 \
             MiB and 4 lanes of scrypt)",
        ));
    }
    match info.decrypt(import.passphrase()?) {
        Ok(document) => Ok(document),
        Err(pkcs8::Error::EncryptedPrivateKey(
            pkcs8::pkcs5::Error::UnsupportedAlgorithm { .. }
            | pkcs8::pkcs5::Error::AlgorithmParametersInvalid { .. },
        )) => Err(unsupported_protection()),
        Err(_) => Err(SecretsError::WrongPassphrase),
    }
}

/// Whether the key derivation stays within the limits. Checked before deriving anything.
fn is_affordable(kdf: &Pbes2Kdf) -> Result<bool, SecretsError> {
    match kdf {
        Pbes2Kdf::Pbkdf2(params) => Ok(params.iteration_count <= MAX_PBKDF2_ITERATIONS),
        Pbes2Kdf::Scrypt(params) => {
            let bytes = params
                .cost_parameter
                .saturating_mul(u64::from(params.block_size))
                .saturating_mul(128);
            Ok(bytes <= MAX_SCRYPT_BYTES && params.parallelization <= MAX_SCRYPT_LANES)
        }
        _ => Err(unsupported_protection()),
    }
}

fn unsupported_protection() -> SecretsError {
    bad_key("its encryption is not supported; convert the key with `ssh-keygen -p -f <file>`")
}

fn read_pkcs8(der: &[u8]) -> Result<PrivateKey, SecretsError> {
    let info = PrivateKeyInfoRef::try_from(der).map_err(unreadable)?;
    let key = info.private_key.as_bytes();
    match info.algorithm.oid {
        RSA => read_pkcs1(key),
        EC => {
            let curve = info.algorithm.parameters_oid().map_err(unreadable)?;
            read_sec1(key, Some(curve))
        }
        // RFC 8410, section 7: the seed is an OCTET STRING inside the OCTET STRING.
        ED25519 => {
            use pkcs8::der::Decode;
            let seed = <&OctetStringRef>::from_der(key).map_err(unreadable)?;
            let seed: &[u8; 32] = seed.as_bytes().try_into().map_err(unreadable)?;
            new_key(Ed25519Keypair::from_seed(seed).into())
        }
        _ => Err(bad_key("only ed25519, ECDSA and RSA keys are supported")),
    }
}

fn read_pkcs1(der: &[u8]) -> Result<PrivateKey, SecretsError> {
    let key = rsa::RsaPrivateKey::from_pkcs1_der(der).map_err(unreadable)?;
    new_key(RsaKeypair::try_from(key).map_err(unreadable)?.into())
}

fn read_sec1(der: &[u8], curve: Option<ObjectIdentifier>) -> Result<PrivateKey, SecretsError> {
    let key = EcPrivateKey::try_from(der).map_err(unreadable)?;
    let named = key.parameters.map(|EcParameters::NamedCurve(oid)| oid);
    let scalar = key.private_key;
    let pair = match curve.or(named) {
        Some(P256) => {
            let private = p256::SecretKey::from_slice(scalar).map_err(unreadable)?;
            EcdsaKeypair::NistP256 {
                public: private.public_key().into(),
                private: private.into(),
            }
        }
        Some(P384) => {
            let private = p384::SecretKey::from_slice(scalar).map_err(unreadable)?;
            EcdsaKeypair::NistP384 {
                public: private.public_key().into(),
                private: private.into(),
            }
        }
        Some(P521) => {
            let private = p521::SecretKey::from_slice(scalar).map_err(unreadable)?;
            EcdsaKeypair::NistP521 {
                public: private.public_key().into(),
                private: private.into(),
            }
        }
        _ => {
            return Err(bad_key(
                "only the curves P-256, P-384 and P-521 are supported",
            ));
        }
    };
    new_key(pair.into())
}

#[cfg(test)]
mod tests;
