//! The vault transitions, one file each. A transition reads the vault's state, derives keys and takes the gate. It
//! takes effect only if the state has not changed. This is checked in memory under the gate, and in the database
//! inside its transaction. Otherwise it fails with `Changed` or `Superseded`. Only an unseal retries, because it
//! returns no secret.
//!
//! This module contains the shared part: it opens the record with a key on a blocking thread.

mod disable;
mod enable;
pub(crate) mod initialize;
mod recovery_key;
mod rotate;
mod seal;
mod unseal;

pub use disable::DisableReport;
pub use enable::Enabled;
pub(crate) use unseal::UnsealCredential;

use crate::VaultError;
use crate::rows::{Turn, Walk};
use crate::state::Inner;
use gatehouse_domain::Actor;
use gatehouse_store::Conn;
use gatehouse_vault::{Dek, RecoveryKey, VaultRecord, open_with_password, open_with_recovery_key};
use secrecy::SecretString;
use std::sync::Arc;

/// Maximum number of attempts to unseal, or to write a secret, while the vault changes.
pub(crate) const TRIES: u32 = 3;

/// A password or recovery key that opens a record.
#[derive(Clone)]
pub(crate) enum Key {
    Password(SecretString),
    Recovery(Arc<RecoveryKey>),
}

impl Inner {
    /// Opens the record once the key derivation queue has a free permit.
    pub(crate) async fn open_record(
        &self,
        actor: &Actor,
        record: &VaultRecord,
        key: &Key,
    ) -> Result<Arc<Dek>, VaultError> {
        let (record, key) = (record.clone(), key.clone());
        let opened = self.kdf.run(actor.client, move || match key {
            Key::Password(password) => open_with_password(&record, &password),
            Key::Recovery(key) => open_with_recovery_key(&record, &key),
        });
        match opened.await?.map_err(VaultError::from) {
            Ok(dek) => Ok(Arc::new(dek)),
            Err(error) => {
                if let VaultError::Unusable(reason) = &error {
                    tracing::error!(%reason, "the vault record cannot be used");
                }
                Err(error)
            }
        }
    }

    /// Encrypts every plaintext row. Returns their number.
    pub(crate) async fn migrate(&self, conn: &mut Conn, dek: &Arc<Dek>) -> Result<u64, VaultError> {
        let report = self.walk(conn, &Turn::Encrypt(Arc::clone(dek))).await?;
        Ok(report.total())
    }

    pub(crate) async fn walk(
        &self,
        conn: &mut Conn,
        turn: &Turn,
    ) -> Result<DisableReport, VaultError> {
        let walk = Walk {
            random: &*self.random,
            now: self.now(),
            progress: &self.progress,
        };
        walk.run(conn, turn).await
    }

    /// Updates the location of the provider keys, and their encrypted copy. The rows are already committed, so a
    /// failure is only logged; the next unseal retries.
    pub(crate) async fn settle_provider_keys(self: &Arc<Self>, dek: &Arc<Dek>) {
        if let Err(error) = self.carry_provider_keys(Some(dek)).await {
            let error: &dyn std::error::Error = &error;
            tracing::error!(
                error,
                "the provider keys were not moved; the next unlock retries"
            );
        }
        let (dek, random) = (Arc::clone(dek), Arc::clone(&self.random));
        let keep = self.settings.load().keep_plaintext_provider_keys;
        let settled = self
            .on_files(move |files| files.settle(&dek, &*random, keep))
            .await;
        if let Err(error) = settled {
            let error: &dyn std::error::Error = &error;
            tracing::error!(
                error,
                "the encrypted copy of the provider keys was not updated"
            );
        }
    }
}
