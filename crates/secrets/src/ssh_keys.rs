//! Managed SSH keys. Private keys are generated here or imported; no API returns them.

use crate::ssh_import::{self, Import};
use crate::{SecretKind, Secrets, SecretsError};
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::{SshKeyRow, StoreError};
use gatehouse_vault::Aad;
use schemars::JsonSchema;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::json;
use ssh_key::private::Ed25519Keypair;
use ssh_key::{HashAlg, LineEnding, PrivateKey};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The maximum length of a name.
const MAX_NAME_CHARACTERS: usize = 64;
/// The maximum length of a private key text. An RSA key of 16,384 bits has about 12 KiB.
const MAX_KEY_BYTES: usize = 32 * 1024;
/// The maximum length of a passphrase.
const MAX_PASSPHRASE_BYTES: usize = 1024;

/// An SSH key, without its private key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SshKey {
    /// The key's name.
    pub name: String,
    /// The public key in OpenSSH's one-line format.
    pub public_key: String,
    /// `SHA256:…` of the public key.
    pub fingerprint: String,
    /// 1 if the private key is encrypted, 0 if it is stored in plaintext.
    pub encrypted: u8,
    /// When the key was stored.
    pub created_at: Timestamp,
    /// When the stored form last changed.
    pub updated_at: Timestamp,
    /// When the key was last used. Only in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// Why the private key was stored in plaintext.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

impl SshKey {
    fn of(row: SshKeyRow, warning: Option<&str>) -> Self {
        Self {
            name: row.name,
            public_key: row.public_key,
            fingerprint: row.fingerprint,
            encrypted: u8::from(row.encrypted),
            created_at: row.created_at,
            updated_at: row.updated_at,
            last_used_at: None,
            warning: warning.map(str::to_owned),
        }
    }
}

fn check_name(name: &str) -> Result<(), SecretsError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._@ -".contains(c);
    if (1..=MAX_NAME_CHARACTERS).contains(&name.chars().count()) && name.chars().all(allowed) {
        Ok(())
    } else {
        Err(SecretsError::invalid(
            "name",
            "1 to 64 letters, digits, spaces and . _ @ -",
        ))
    }
}

fn check_length(field: &'static str, text: &SecretString, most: usize) -> Result<(), SecretsError> {
    if text.expose_secret().len() <= most {
        Ok(())
    } else {
        Err(SecretsError::invalid(
            field,
            format!("at most {most} bytes"),
        ))
    }
}

impl Secrets {
    /// Lists every key by name.
    pub async fn list_ssh_keys(&self) -> Result<Vec<SshKey>, SecretsError> {
        let read = self
            .0
            .store
            .read(|conn| Box::pin(async move { conn.list_ssh_keys().await }));
        let rows: Vec<SshKeyRow> = read.await?;
        let uses = self.last_uses(SecretKind::Ssh).await?;
        let shown = |row: SshKeyRow| SshKey {
            last_used_at: uses.get(&row.name).copied(),
            ..SshKey::of(row, None)
        };
        Ok(rows.into_iter().map(shown).collect())
    }

    /// Generates an ed25519 key. Returns `NameTaken` if the name is in use.
    pub async fn generate_ssh_key(
        &self,
        actor: &Actor,
        name: &str,
    ) -> Result<SshKey, SecretsError> {
        check_name(name)?;
        // Any 32 bytes are an ed25519 seed (RFC 8032, section 5.1.5).
        let mut seed = Zeroizing::new([0; 32]);
        self.0.random.fill(seed.as_mut_slice());
        let key = PrivateKey::new(Ed25519Keypair::from_seed(&seed).into(), name);
        let key = key.map_err(|_| SecretsError::Damaged("generated key".to_owned()))?;
        self.store_ssh_key(actor, name, &key, "ssh_key.generated")
            .await
    }

    /// Imports an OpenSSH, PKCS#8, PKCS#1 or SEC1 private key. The passphrase is used once; after that, the vault
    /// protects the key. Returns `NameTaken` if the name is in use, and `WrongPassphrase` if the passphrase does
    /// not open the key.
    pub async fn import_ssh_key(
        &self,
        actor: &Actor,
        name: &str,
        private_key: SecretString,
        passphrase: Option<SecretString>,
    ) -> Result<SshKey, SecretsError> {
        check_name(name)?;
        check_length("private_key", &private_key, MAX_KEY_BYTES)?;
        if let Some(passphrase) = &passphrase {
            check_length("passphrase", passphrase, MAX_PASSPHRASE_BYTES)?;
        }
        let import = Import {
            private_key,
            passphrase,
        };
        let read = self
            .0
            .imports
            .run(actor.client, move || ssh_import::read(&import));
        let key = read.await??;
        self.store_ssh_key(actor, name, &key, "ssh_key.imported")
            .await
    }

    pub async fn delete_ssh_key(&self, actor: &Actor, name: &str) -> Result<(), SecretsError> {
        let (inner, actor, key) = (Arc::clone(&self.0), actor.clone(), name.to_owned());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let name = key;
                if !conn.delete_ssh_key(&name).await? {
                    return Err(SecretsError::NotFound("SSH key"));
                }
                let kind = SecretKind::Ssh.as_str();
                conn.delete_secret_use(kind, &name).await?;
                let detail = json!({ "name": name });
                inner.note(conn, "ssh_key.deleted", &actor, detail).await?;
                conn.insert_change("ssh_keys", inner.now()).await?;
                Ok::<_, SecretsError>(())
            })
        });
        write.await?;
        self.forget_use(SecretKind::Ssh, name);
        Ok(())
    }

    /// Returns the private key as OpenSSH text, for a child process. Returns `Sealed` while it
    /// cannot be read.
    pub async fn ssh_private_key(&self, name: &str) -> Result<SecretString, SecretsError> {
        let _shared = self.0.gate.read().await;
        let wanted = name.to_owned();
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { conn.find_ssh_key(&wanted).await }));
        let row: Option<SshKeyRow> = read.await?;
        let row = row.ok_or(SecretsError::NotFound("SSH key"))?;
        let aad = Aad::ssh_key(&row.name);
        self.0.open_stored(&aad, row.private_key, row.encrypted)
    }

    async fn store_ssh_key(
        &self,
        actor: &Actor,
        name: &str,
        key: &PrivateKey,
        kind: &'static str,
    ) -> Result<SshKey, SecretsError> {
        let unprintable = |_| SecretsError::invalid("private_key", "it cannot be encoded as text");
        let text = key.to_openssh(LineEnding::LF).map_err(unprintable)?;
        let secret = SecretString::from(text.as_str());
        let public_key = key.public_key().to_openssh().map_err(unprintable)?;
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let (inner, actor, name) = (Arc::clone(&self.0), actor.clone(), name.to_owned());
        let aad = Aad::ssh_key(&name);
        let write = self.0.write_secret(&aad, &secret, move |conn, stored| {
            let (inner, actor) = (Arc::clone(&inner), actor.clone());
            let now = inner.now();
            let row = SshKeyRow {
                name: name.clone(),
                public_key: public_key.clone(),
                fingerprint: fingerprint.clone(),
                private_key: stored.value.to_string(),
                encrypted: stored.encrypted,
                created_at: now,
                updated_at: now,
            };
            Box::pin(async move {
                conn.insert_ssh_key(&row)
                    .await
                    .map_err(|error| match error {
                        StoreError::Duplicate(_) => SecretsError::NameTaken,
                        other => other.into(),
                    })?;
                let detail = json!({ "name": row.name, "fingerprint": row.fingerprint,
                    "encrypted": u8::from(row.encrypted) });
                inner.note(conn, kind, &actor, detail).await?;
                conn.insert_change("ssh_keys", now).await?;
                Ok(SshKey::of(row, stored.warning))
            })
        });
        write.await
    }
}

#[cfg(test)]
mod tests;
