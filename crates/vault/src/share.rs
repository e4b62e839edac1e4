//! Transfers the data key from one node to another over an untrusted medium that attackers can read and write, such
//! as a table of the database. Both nodes have a cluster secret, which the medium does not contain. This module
//! does not store the texts.
//!
//! A sealed node creates a key pair in memory and stores its public key, encrypted with the cluster key. An
//! unsealed node that can decrypt the public key encrypts the data key. The encryption key derives from the cluster
//! key and from a Diffie-Hellman exchange between the key pairs of both nodes. Without the cluster secret, a text
//! can be neither read nor forged. After the key pairs are deleted, a text cannot be read even with the cluster
//! secret. `docs/vault-format.md` specifies the bytes.

use crate::cipher::{self, CryptoError, KEY_BYTES};
use crate::hold::{HoldPrivateKey, HoldPublicKey};
use crate::kdf::{self, KdfParams};
use crate::{Aad, Dek, DekId};
use gatehouse_domain::Random;
use hkdf::Hkdf;
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use std::fmt;
use zeroize::Zeroizing;

/// The minimum length of a cluster secret.
pub const MIN_CLUSTER_SECRET_CHARACTERS: usize = 32;

const CLUSTER_SALT: &[u8] = b"gatehouse/cluster/v1";
const REQUEST_INFO: &[u8] = b"gatehouse/share/request/v1";
const ANSWER_INFO: &[u8] = b"gatehouse/share/answer/v1";
const ROTATION_INFO: &[u8] = b"gatehouse/share/rotation/v1";

/// The scope in which a request and its answer are valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharePlace {
    /// The ID of the requested data key.
    pub dek_id: String,
    /// The generation of the vault.
    pub generation: i64,
    /// The ID of the request.
    pub request: String,
}

impl fmt::Display for SharePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.dek_id, self.generation, self.request)
    }
}

/// The key that the nodes of a cluster derive from their common secret. Zeroized on drop, never printed.
pub struct ClusterKey(Box<Zeroizing<[u8; KEY_BYTES]>>);

/// The key pair of one request. Kept in memory only; zeroized on drop, never printed.
pub struct ShareKey(HoldPrivateKey);

impl ClusterKey {
    /// Derives the key with Argon2id, as from a password. Call it only where blocking is allowed. Returns `None` if
    /// the secret is too short.
    pub fn derive(secret: &SecretString) -> Result<Option<Self>, CryptoError> {
        let secret = secret.expose_secret();
        if secret.chars().count() < MIN_CLUSTER_SECRET_CHARACTERS {
            return Ok(None);
        }
        let key = kdf::derive(secret.as_bytes(), CLUSTER_SALT, KdfParams::SPECIFIED)?;
        Ok(Some(Self(Box::new(key))))
    }

    /// Encrypts the data key for the node that made the request. Returns base64 of a public key, a dot, and base64 of
    /// nonce ‖ ciphertext ‖ tag. Fails if the request was made without the cluster secret or for another scope.
    pub fn answer(
        &self,
        random: &dyn Random,
        place: &SharePlace,
        request: &str,
        dek: &Dek,
    ) -> Result<String, CryptoError> {
        let key = self.key_with(&[], &[], REQUEST_INFO)?;
        let asked = cipher::open(&key, &Aad::ShareRequest(place.clone()), request)?;
        let receiver = <[u8; KEY_BYTES]>::try_from(asked.as_slice());
        let receiver = HoldPublicKey::from_bytes(receiver.map_err(|_| CryptoError::Malformed)?);
        let own = HoldPrivateKey::generate(random);
        let sender = own.public();
        let secret = own.agree(&receiver)?;
        let key = self.answer_key(&secret, &sender, &receiver)?;
        let aad = Aad::ShareAnswer(place.clone());
        let sealed = cipher::seal(&key, random, &aad, dek.expose())?;
        Ok(format!("{}.{sealed}", sender.encode()))
    }

    /// Encrypts the data key of a rotation for the nodes that have the previous key.
    pub fn hand_over(
        &self,
        random: &dyn Random,
        old: &Dek,
        new: &Dek,
    ) -> Result<String, CryptoError> {
        let key = self.key_with(old.expose(), &[], ROTATION_INFO)?;
        let aad = rotation(old.id().as_str(), new.id().as_str());
        cipher::seal(&key, random, &aad, new.expose())
    }

    /// Decrypts the output of [`ClusterKey::hand_over`]. The caller must compare the key with the commitment in
    /// the vault record.
    pub fn take_over(&self, old: &Dek, new_id: &str, text: &str) -> Result<Dek, CryptoError> {
        let key = self.key_with(old.expose(), &[], ROTATION_INFO)?;
        let aad = rotation(old.id().as_str(), new_id);
        dek_of(new_id, &cipher::open(&key, &aad, text)?)
    }

    fn answer_key(
        &self,
        secret: &[u8; KEY_BYTES],
        sender: &HoldPublicKey,
        receiver: &HoldPublicKey,
    ) -> Result<Zeroizing<[u8; KEY_BYTES]>, CryptoError> {
        let salt = [sender.as_bytes().as_slice(), receiver.as_bytes()].concat();
        self.key_with(secret, &salt, ANSWER_INFO)
    }

    /// Derives a key from the cluster key and another secret, which is empty or has 32 bytes.
    fn key_with(
        &self,
        other: &[u8],
        salt: &[u8],
        info: &[u8],
    ) -> Result<Zeroizing<[u8; KEY_BYTES]>, CryptoError> {
        let mut input = Zeroizing::new(Vec::with_capacity(2 * KEY_BYTES));
        input.extend_from_slice(self.0.as_slice());
        input.extend_from_slice(other);
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        Hkdf::<Sha256>::new(Some(salt), &input)
            .expand(info, key.as_mut_slice())
            .map_err(|_| CryptoError::Malformed)?;
        Ok(key)
    }
}

impl ShareKey {
    /// Generates a key pair.
    pub fn generate(random: &dyn Random) -> Self {
        Self(HoldPrivateKey::generate(random))
    }

    /// Returns the request: the public key, encrypted with the cluster key.
    pub fn request(
        &self,
        cluster: &ClusterKey,
        random: &dyn Random,
        place: &SharePlace,
    ) -> Result<String, CryptoError> {
        let key = cluster.key_with(&[], &[], REQUEST_INFO)?;
        let aad = Aad::ShareRequest(place.clone());
        cipher::seal(&key, random, &aad, self.0.public().as_bytes())
    }

    /// Decrypts the output of [`ClusterKey::answer`] for this request. The caller must compare the key with the
    /// commitment in the vault record.
    pub fn open(
        &self,
        cluster: &ClusterKey,
        place: &SharePlace,
        answer: &str,
    ) -> Result<Dek, CryptoError> {
        let (sender, sealed) = answer.split_once('.').ok_or(CryptoError::Malformed)?;
        let sender = HoldPublicKey::parse(sender).ok_or(CryptoError::Malformed)?;
        let secret = self.0.agree(&sender)?;
        let key = cluster.answer_key(&secret, &sender, &self.0.public())?;
        let bytes = cipher::open(&key, &Aad::ShareAnswer(place.clone()), sealed)?;
        dek_of(&place.dek_id, &bytes)
    }
}

fn rotation(old: &str, new: &str) -> Aad {
    Aad::ShareRotation {
        old: old.to_owned(),
        new: new.to_owned(),
    }
}

fn dek_of(id: &str, bytes: &[u8]) -> Result<Dek, CryptoError> {
    Dek::from_bytes(DekId::from_text(id), bytes).ok_or(CryptoError::Malformed)
}

impl fmt::Debug for ClusterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterKey").finish_non_exhaustive()
    }
}

impl fmt::Debug for ShareKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShareKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
