//! Walks over every stored secret in all tables and encrypts, decrypts or re-encrypts it in place. The transaction
//! of the caller makes the walk atomic.

use crate::settings::Progress;
use crate::{DisableReport, VaultError};
use gatehouse_domain::{Random, Timestamp};
use gatehouse_store::{Conn, ProtectedRow, SecretTable};
use gatehouse_vault::{Aad, Dek};
use std::sync::Arc;
use tokio::sync::watch;
use zeroize::{Zeroize, Zeroizing};

/// The number of secrets after which progress is reported.
const STEP: u64 = 250;

/// The operation on each secret.
pub(crate) enum Turn {
    /// Encrypts plaintext; leaves encrypted values unchanged.
    Encrypt(Arc<Dek>),
    /// Decrypts encrypted values; leaves plaintext unchanged.
    Decrypt(Arc<Dek>),
    /// Encrypts everything with the new key, including plaintext.
    Rekey {
        /// Decrypts the stored values.
        old: Arc<Dek>,
        /// Encrypts the new values.
        new: Arc<Dek>,
    },
}

impl Turn {
    const fn operation(&self) -> &'static str {
        match self {
            Self::Encrypt(_) => "migrate",
            Self::Decrypt(_) => "disable",
            Self::Rekey { .. } => "rotate",
        }
    }

    /// Returns the new value and whether it is encrypted; `None` leaves the row unchanged.
    fn turn(
        &self,
        random: &dyn Random,
        aad: &Aad,
        row: &ProtectedRow,
    ) -> Result<Option<(Zeroizing<String>, bool)>, VaultError> {
        let open = |dek: &Dek| {
            let opened = dek.decrypt(aad, &row.value);
            opened.map_err(|_| VaultError::Undecryptable(aad.to_string()))
        };
        let encrypted = |dek: &Dek, plain: &[u8]| -> Result<_, VaultError> {
            Ok(Some((
                Zeroizing::new(dek.encrypt(random, aad, plain)?),
                true,
            )))
        };
        match self {
            Self::Encrypt(_) if row.encrypted => Ok(None),
            Self::Encrypt(dek) => encrypted(dek, row.value.as_bytes()),
            Self::Decrypt(_) if !row.encrypted => Ok(None),
            Self::Decrypt(dek) => {
                let plain = open(dek)?;
                let text = str::from_utf8(&plain)
                    .map_err(|_| VaultError::Undecryptable(aad.to_string()))?;
                Ok(Some((Zeroizing::new(text.to_owned()), false)))
            }
            Self::Rekey { old, new } if row.encrypted => encrypted(new, &open(old)?),
            Self::Rekey { new, .. } => encrypted(new, row.value.as_bytes()),
        }
    }
}

/// Returns the context of a row's ciphertext.
pub(crate) fn aad_of(table: SecretTable, id: &str) -> Aad {
    match table {
        SecretTable::EnvVariables => Aad::env(id),
        SecretTable::SshKeys => Aad::ssh_key(id),
        SecretTable::ChannelSecrets => {
            let mut parts = id.splitn(3, ':');
            let mut part = || parts.next().unwrap_or_default();
            Aad::channel(part(), part(), part())
        }
        SecretTable::WebhookSecrets => {
            Aad::webhook_config(id.rsplit_once(':').map_or(id, |(_, field)| field))
        }
        SecretTable::ProviderKeys => Aad::provider_key(id),
        SecretTable::McpAuthorizations => Aad::mcp_authorization(id),
    }
}

/// The inputs of a walk, besides the connection.
pub(crate) struct Walk<'a> {
    pub(crate) random: &'a dyn Random,
    pub(crate) now: Timestamp,
    pub(crate) progress: &'a watch::Sender<Option<Progress>>,
}

/// Clears the progress on drop, even if the walk fails.
struct ClearProgress<'a>(&'a watch::Sender<Option<Progress>>);

impl Drop for ClearProgress<'_> {
    fn drop(&mut self) {
        self.0
            .send_if_modified(|progress| progress.take().is_some());
    }
}

impl Walk<'_> {
    /// Walks over all tables. Returns the number of changed secrets per table.
    pub(crate) async fn run(
        &self,
        conn: &mut Conn,
        turn: &Turn,
    ) -> Result<DisableReport, VaultError> {
        let _clear = ClearProgress(self.progress);
        let mut report = DisableReport::default();
        let mut tables = Vec::new();
        for table in SecretTable::ALL {
            tables.push((table, conn.list_protected(table).await?));
        }
        let total = tables.iter().map(|(_, rows)| rows.len() as u64).sum();
        let mut done = 0;
        for (table, rows) in tables {
            let mut changed = 0;
            for row in rows {
                changed += u64::from(self.one(conn, turn, table, row).await?);
                done += 1;
                if done % STEP == 0 {
                    self.publish(turn, done, total);
                }
            }
            report.add(table, changed);
        }
        Ok(report)
    }

    /// Processes one row and returns whether it changed. A row that was written in the meantime
    /// keeps its newer value.
    async fn one(
        &self,
        conn: &mut Conn,
        turn: &Turn,
        table: SecretTable,
        mut row: ProtectedRow,
    ) -> Result<bool, VaultError> {
        let aad = aad_of(table, &row.id);
        let Some((value, encrypted)) = turn.turn(self.random, &aad, &row)? else {
            return Ok(false);
        };
        let stored = conn.update_protected(table, &row, &value, encrypted, self.now);
        let stored = stored.await?;
        row.value.zeroize();
        match turn {
            Turn::Encrypt(_) => Ok(stored),
            // If the row were skipped, it would become unreadable.
            Turn::Decrypt(_) | Turn::Rekey { .. } if !stored => Err(VaultError::Changed),
            Turn::Decrypt(_) | Turn::Rekey { .. } => Ok(true),
        }
    }

    fn publish(&self, turn: &Turn, done: u64, total: u64) {
        self.progress.send_replace(Some(Progress {
            operation: turn.operation(),
            done,
            total,
        }));
    }
}

#[cfg(test)]
mod tests;
