//! Signs with a stored SSH key, like an SSH agent. The private key is not returned.

use crate::{SecretKind, Secrets, SecretsError};
use gatehouse_domain::Actor;
use rsa::signature::Signer;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use ssh_key::encoding::Encode;
use ssh_key::private::KeypairData;
use ssh_key::{HashAlg, PrivateKey, Signature};
use std::sync::Arc;

/// Request flags that select the hash of an RSA signature (draft-miller-ssh-agent, section 3.6.1).
const RSA_SHA2_256: u32 = 2;
const RSA_SHA2_512: u32 = 4;

impl Secrets {
    /// Signs data with a stored key. Returns the signature in SSH's format (RFC 4253, section 6.6), or `Sealed`
    /// while the key cannot be read. Before signing, writes the key's name, and the program that the caller states,
    /// to the audit log.
    pub async fn sign_with_ssh_key(
        &self,
        actor: &Actor,
        name: &str,
        data: Vec<u8>,
        flags: u32,
        program: &str,
    ) -> Result<Vec<u8>, SecretsError> {
        let key = self.ssh_private_key(name).await?;
        let place = format!("ssh-key:{name}");
        let work = move || sign(&key, &data, flags, &place);
        let job = self.0.tasks.spawn_blocking(work);
        let signature = job.await.map_err(|_| SecretsError::TaskAborted)??;
        let detail = json!({ "name": name, "program": program });
        let (inner, actor) = (Arc::clone(&self.0), actor.clone());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                inner.note(conn, "ssh_key.used", &actor, detail).await?;
                Ok::<_, SecretsError>(())
            })
        });
        write.await?;
        self.note_use(SecretKind::Ssh, name);
        Ok(signature)
    }
}

fn sign(key: &SecretString, data: &[u8], flags: u32, place: &str) -> Result<Vec<u8>, SecretsError> {
    let damaged = || SecretsError::Damaged(place.to_owned());
    let key = PrivateKey::from_openssh(key.expose_secret()).map_err(|_| damaged())?;
    let signature: Signature = match key.key_data() {
        KeypairData::Rsa(pair) => {
            let hash = match flags {
                flags if flags & RSA_SHA2_512 != 0 => HashAlg::Sha512,
                flags if flags & RSA_SHA2_256 != 0 => HashAlg::Sha256,
                _ => {
                    let reason = "an RSA key signs with SHA-256 (2) or SHA-512 (4), not with SHA-1";
                    return Err(SecretsError::invalid("flags", reason));
                }
            };
            (pair, Some(hash)).try_sign(data)
        }
        other => other.try_sign(data),
    }
    .map_err(|_| damaged())?;
    let mut text = Vec::new();
    signature.encode(&mut text).map_err(|_| damaged())?;
    Ok(text)
}
