//! When stored secrets were last used. Uses are collected in memory and written in batches, so using a secret does
//! not write to the database.

use crate::{Secrets, SecretsError};
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The minimum time between two writes of the last use of a secret.
const WRITTEN_EVERY_MS: i64 = 60_000;
/// How many last uses are written in one transaction.
const WRITTEN_AT_ONCE: usize = 500;

/// The kind of a stored secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecretKind {
    /// An environment variable, by key.
    Env,
    /// An SSH key, by name.
    Ssh,
    /// A key of a model or voice provider, by the provider's ID.
    Provider,
    /// The secrets of a channel account, by the account's ID.
    Channel,
}

impl SecretKind {
    /// Returns the name of the kind in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Ssh => "ssh",
            Self::Provider => "provider",
            Self::Channel => "channel",
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Use {
    at: Timestamp,
    /// The last use in the database.
    written: Option<Timestamp>,
}

impl Use {
    /// Returns whether to write the last use now.
    fn is_due(self, now: Timestamp, all: bool) -> bool {
        match self.written {
            None => true,
            Some(written) => {
                let age = now.as_millis().saturating_sub(written.as_millis());
                self.at > written && (all || age >= WRITTEN_EVERY_MS)
            }
        }
    }
}

/// The last uses since the start.
#[derive(Debug, Default)]
pub(crate) struct Uses(Mutex<HashMap<SecretKind, HashMap<String, Use>>>);

impl Uses {
    fn lock(&self) -> MutexGuard<'_, HashMap<SecretKind, HashMap<String, Use>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, kind: SecretKind, name: &str, now: Timestamp) {
        let mut uses = self.lock();
        let of_kind = uses.entry(kind).or_default();
        if let Some(known) = of_kind.get_mut(name) {
            known.at = known.at.max(now);
        } else {
            let first = Use {
                at: now,
                written: None,
            };
            of_kind.insert(name.to_owned(), first);
        }
    }

    fn due(&self, now: Timestamp, all: bool) -> Vec<(SecretKind, String, Timestamp)> {
        let uses = self.lock();
        let each = uses.iter().flat_map(|(kind, of_kind)| {
            let due = of_kind.iter().filter(|(_, it)| it.is_due(now, all));
            due.map(|(name, it)| (*kind, name.clone(), it.at))
        });
        each.collect()
    }

    fn written(&self, kind: SecretKind, name: &str, at: Timestamp) {
        if let Some(known) = self.lock().get_mut(&kind).and_then(|it| it.get_mut(name)) {
            known.written = Some(at);
        }
    }

    fn contains(&self, kind: SecretKind, name: &str) -> bool {
        let uses = self.lock();
        uses.get(&kind).is_some_and(|it| it.contains_key(name))
    }

    fn forget(&self, kind: SecretKind, name: &str) {
        if let Some(of_kind) = self.lock().get_mut(&kind) {
            of_kind.remove(name);
        }
    }
}

impl Secrets {
    /// Records that a secret is used now: sent to its service, handed to a program, or signed with.
    pub fn note_use(&self, kind: SecretKind, name: &str) {
        self.0.uses.note(kind, name, self.0.now());
    }

    /// Drops the uses of a secret that was deleted. The caller deletes the row.
    pub fn forget_use(&self, kind: SecretKind, name: &str) {
        self.0.uses.forget(kind, name);
    }

    /// Returns when each secret of a kind was last used, by name. Secrets that were never used are absent.
    pub async fn last_uses(
        &self,
        kind: SecretKind,
    ) -> Result<BTreeMap<String, Timestamp>, SecretsError> {
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { conn.list_secret_uses(kind.as_str()).await }));
        let rows = read.await?.into_iter().map(|row| (row.name, row.used_at));
        let mut all: BTreeMap<String, Timestamp> = rows.collect();
        if let Some(of_kind) = self.0.uses.lock().get_mut(&kind) {
            // If a use was written but is missing in the database, another node deleted its secret.
            of_kind.retain(|name, it| it.written.is_none() || all.contains_key(name));
            for (name, it) in of_kind.iter() {
                let at = all.entry(name.clone()).or_insert(it.at);
                *at = it.at.max(*at);
            }
        }
        Ok(all)
    }

    /// Writes the last uses of secrets. Each is written at most once per minute, unless `all` is true. A use that
    /// could not be written stays pending. Uses of deleted secrets are not written.
    pub async fn write_uses(&self, all: bool) -> Result<(), StoreError> {
        let due = self.0.uses.due(self.0.now(), all);
        for group in due.chunks(WRITTEN_AT_ONCE) {
            let (inner, uses) = (Arc::clone(&self.0), group.to_vec());
            let write = self.0.store.write(move |conn| {
                // Keys in files may have been deleted in the meantime.
                let uses = uses.iter();
                let known = uses.filter(|(kind, name, _)| inner.uses.contains(*kind, name));
                let rows: Vec<_> = known
                    .map(|(kind, name, at)| (kind.as_str(), name.clone(), *at))
                    .collect();
                let has_rows = inner.has_provider_rows();
                Box::pin(async move { conn.update_secret_uses(&rows, has_rows).await })
            });
            write.await?;
            for (kind, name, at) in group {
                self.0.uses.written(*kind, name, *at);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_written_once_a_minute_and_not_again_without_another_use() {
        let at = Timestamp::from_millis;
        let uses = Uses::default();
        assert!(uses.due(at(0), true).is_empty());
        for now in [10_000, 10_001, 10_002] {
            uses.note(SecretKind::Env, "KEY", at(now));
        }
        let due = uses.due(at(10_003), false);
        assert_eq!(due, [(SecretKind::Env, "KEY".to_owned(), at(10_002))]);
        uses.written(SecretKind::Env, "KEY", at(10_002));
        assert!(uses.due(at(80_000), true).is_empty());
        uses.note(SecretKind::Env, "KEY", at(70_001));
        assert!(uses.due(at(70_001), false).is_empty());
        assert_eq!(uses.due(at(70_001), true).len(), 1);
        assert_eq!(uses.due(at(70_002), false).len(), 1);
        uses.forget(SecretKind::Env, "KEY");
        assert!(uses.due(at(80_000), true).is_empty());
    }
}
