//! Keys in DER: PKCS #8, PKCS #1 and SEC 1.

use super::{
    EC, ED25519, Import, MAX_PBKDF2_ITERATIONS, MAX_SCRYPT_BYTES, MAX_SCRYPT_LANES, P256, P384,
    P521, RSA, bad_key, new_key, unreadable,
};
use crate::SecretsError;
use pkcs8::der::SecretDocument;
use pkcs8::der::asn1::{ObjectIdentifier, OctetStringRef};
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::Kdf as Pbes2Kdf;
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef};
use rsa::pkcs1::DecodeRsaPrivateKey;
use sec1::{EcParameters, EcPrivateKey};
use ssh_key::PrivateKey;
use ssh_key::private::{EcdsaKeypair, Ed25519Keypair, RsaKeypair};

pub(super) fn decrypt_pkcs8(der: &[u8], import: &Import) -> Result<SecretDocument, SecretsError> {
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

/// Returns whether the key derivation stays within the limits. Called before deriving anything.
pub(super) fn is_affordable(kdf: &Pbes2Kdf) -> Result<bool, SecretsError> {
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

pub(super) fn read_pkcs8(der: &[u8]) -> Result<PrivateKey, SecretsError> {
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

pub(super) fn read_pkcs1(der: &[u8]) -> Result<PrivateKey, SecretsError> {
    let key = rsa::RsaPrivateKey::from_pkcs1_der(der).map_err(unreadable)?;
    new_key(RsaKeypair::try_from(key).map_err(unreadable)?.into())
}

pub(super) fn read_sec1(
    der: &[u8],
    curve: Option<ObjectIdentifier>,
) -> Result<PrivateKey, SecretsError> {
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
