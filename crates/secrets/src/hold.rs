//! Encrypts deliveries that arrive while the vault is sealed. The public key is in the vault record; the
//! private key needs the data key.

use crate::state::Inner;
use crate::{Secrets, SecretsError, VaultError, record};
use gatehouse_domain::DeliveryId;
use gatehouse_store::Conn;
use gatehouse_vault::{Aad, Dek};
use zeroize::Zeroizing;

impl Secrets {
    /// Encrypts a delivery until the vault is next unsealed. Needs no key in memory. Returns `None` if the record
    /// has no public key: there is no vault, or the vault was not unsealed since the release that added the key.
    pub async fn encrypt_held(
        &self,
        id: &DeliveryId,
        plaintext: Vec<u8>,
    ) -> Result<Option<String>, SecretsError> {
        let (_, record) = self.0.read_seen().await?;
        let Some(key) = record.and_then(|record| record.hold_public_key()) else {
            return Ok(None);
        };
        let (random, aad) = (self.0.random.clone(), Aad::held(id.as_str()));
        // Up to 25 MiB are encrypted, which would delay other tasks.
        let job = tokio::task::spawn_blocking(move || key.encrypt(&*random, &aad, &plaintext));
        match job.await {
            Ok(sealed) => Ok(Some(sealed?)),
            Err(_) => Err(SecretsError::TaskAborted),
        }
    }

    /// Decrypts a held delivery. Returns `None` while the vault is sealed, and `Undecryptable` for a damaged text.
    /// Also works in the process that disabled the vault.
    pub async fn decrypt_held(
        &self,
        id: &DeliveryId,
        sealed: &str,
    ) -> Result<Option<Zeroizing<Vec<u8>>>, VaultError> {
        let view = self.0.view().await?;
        let (Some(record), Some(dek)) = (&view.record, view.dek.or(view.spare)) else {
            return Ok(None);
        };
        let Some(key) = record.hold_private_key(&dek)? else {
            return Ok(None);
        };
        match key.decrypt(&Aad::held(id.as_str()), sealed) {
            Ok(plaintext) => Ok(Some(plaintext)),
            Err(_) => Err(VaultError::Undecryptable(format!("held:{id}"))),
        }
    }
}

impl Inner {
    /// Adds the key pair to a record that an earlier release created.
    pub(crate) async fn add_hold_key(&self, conn: &mut Conn, dek: &Dek) -> Result<(), VaultError> {
        let Some(opened) = conn.find_vault().await?.map(record::record_of) else {
            return Ok(());
        };
        match opened.with_hold_key(dek, &*self.random)? {
            Some(new) => record::replace(conn, &opened, &new).await,
            None => Ok(()),
        }
    }
}
