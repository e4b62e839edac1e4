//! Table `delivery_configs`: the configurations of webhooks at the receipt of deliveries. A delivery refers
//! to its configuration by a hash of the text, so each text is stored once.

use crate::dialect::Engine;
use crate::sql::{Value, query};
use crate::status_conditions::is_open;
use crate::{Conn, NewDelivery, StoreError};
use gatehouse_domain::Timestamp;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Selects the configuration of a delivery. Earlier versions stored it in the row.
pub(crate) const CONFIG: &str = "COALESCE(config, (SELECT known.config \
    FROM delivery_configs AS known WHERE known.key = webhook_deliveries.config_key)) AS config";

/// Minimum interval between updates of `used_at`, in milliseconds.
const USED_AT_STEP_MS: i64 = 3_600_000;

/// The time, in milliseconds, in which a configuration is not stored again after its use was stored. Applies to
/// SQLite.
const KNOWN_MS: i64 = 600_000;
/// Maximum number of configurations that a connection remembers.
const MOST_KNOWN: usize = 1_000;

/// A configuration and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryConfig {
    key: Arc<str>,
    text: Arc<str>,
}

impl DeliveryConfig {
    fn new(text: Arc<str>) -> Self {
        Self {
            key: key_of(&text).into(),
            text,
        }
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

impl From<String> for DeliveryConfig {
    fn from(text: String) -> Self {
        Self::new(text.into())
    }
}

impl From<&str> for DeliveryConfig {
    fn from(text: &str) -> Self {
        Self::new(text.into())
    }
}

/// The configurations that a connection stored recently. Used only on SQLite, which has one writer.
#[derive(Debug, Default)]
pub(crate) struct StoredConfigs {
    /// The time of the last stored use of each key, in Unix milliseconds.
    committed: HashMap<Arc<str>, i64>,
    /// The configurations of the current transaction.
    pending: Vec<(Arc<str>, i64)>,
}

impl StoredConfigs {
    fn is_stored(&self, key: &str, at: Timestamp) -> bool {
        let used_at = self.committed.get(key);
        used_at.is_some_and(|used_at| at.as_millis().saturating_sub(*used_at) < KNOWN_MS)
    }

    /// Discards the configurations of the current transaction, because some of its statements were undone.
    pub(crate) fn undo(&mut self) {
        self.pending.clear();
    }

    /// Ends the current transaction.
    pub(crate) fn end(&mut self, is_committed: bool) {
        if !is_committed {
            self.undo();
        } else if self.committed.len() + self.pending.len() > MOST_KNOWN {
            self.forget();
        }
        self.committed.extend(self.pending.drain(..));
    }

    fn forget(&mut self) {
        self.committed.clear();
        self.pending.clear();
    }
}

/// Returns the first 128 bits of the text's SHA-256 in hex.
pub(crate) fn key_of(config: &str) -> String {
    let digest = Sha256::digest(config.as_bytes());
    let half = digest
        .first_chunk()
        .map_or(0, |half| u128::from_be_bytes(*half));
    format!("{half:032x}")
}

impl Conn {
    /// Stores the configurations of new deliveries, unless they are already stored.
    pub(crate) fn insert_delivery_configs(
        &mut self,
        new: &[NewDelivery],
    ) -> Result<(), StoreError> {
        // Ordered by key, so two nodes that store the same configurations do not deadlock.
        let mut used: BTreeMap<&str, (&DeliveryConfig, Timestamp)> = BTreeMap::new();
        for row in new {
            if let Some(config) = &row.config {
                let (_, last) = used
                    .entry(config.key())
                    .or_insert((config, row.received_at));
                *last = row.received_at.max(*last);
            }
        }
        used.retain(|key, (_, at)| !self.stored_configs.is_stored(key, *at));
        if used.is_empty() {
            return Ok(());
        }
        let rows: Vec<Vec<Value<'_>>> = used
            .values()
            .map(|(config, at)| {
                let at = at.as_millis();
                vec![
                    config.key().into(),
                    config.text().into(),
                    at.into(),
                    USED_AT_STEP_MS.into(),
                ]
            })
            .collect();
        self.run_each_later(INSERT, &rows)?;
        if self.engine() == Engine::Sqlite {
            let stored = used.values();
            let stored = stored.map(|(config, at)| (Arc::clone(&config.key), at.as_millis()));
            self.stored_configs.pending.extend(stored);
        }
        Ok(())
    }

    /// Deletes configurations that no delivery has used since `before`, except configurations of open deliveries.
    /// The stored time of use may be 70 minutes too early and clocks may differ, so only configurations from two
    /// hours before `before` are deleted.
    pub async fn delete_unused_delivery_configs(
        &mut self,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let query = query(concat!(
            "DELETE FROM delivery_configs WHERE used_at < $1 AND NOT EXISTS (
                 SELECT 1 FROM webhook_deliveries WHERE ",
            is_open!(),
            " AND config_key = delivery_configs.key)",
        ));
        self.stored_configs.forget();
        let before = before.as_millis().saturating_sub(2 * USED_AT_STEP_MS);
        self.run(query.bind(before)).await
    }
}

/// Does not update a row that was used within the last hour. On PostgreSQL, `ON CONFLICT DO UPDATE` locks the row
/// even if its condition is not met, and all deliveries of a webhook would wait for each other's commit.
const INSERT: &str = "INSERT INTO delivery_configs (key, config, used_at)
    SELECT $1, $2, $3 WHERE NOT EXISTS (
        SELECT 1 FROM delivery_configs WHERE key = $1 AND used_at >= $3 - $4)
    ON CONFLICT (key) DO UPDATE SET used_at = excluded.used_at
        WHERE delivery_configs.used_at < excluded.used_at - $4";

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(at: i64) -> StoredConfigs {
        let mut configs = StoredConfigs::default();
        configs.pending.push(("a".into(), at));
        configs
    }

    #[test]
    fn a_configuration_is_known_after_the_commit_for_ten_minutes() {
        let is_known =
            |configs: &StoredConfigs, ms: i64| configs.is_stored("a", Timestamp::from_millis(ms));
        let mut configs = stored(5);
        assert!(!is_known(&configs, 5), "not committed");
        configs.end(true);
        assert!(is_known(&configs, 4 + KNOWN_MS));
        assert!(!is_known(&configs, 5 + KNOWN_MS));
        assert!(!configs.is_stored("b", Timestamp::from_millis(5)));
        configs.forget();
        assert!(!is_known(&configs, 5));

        let mut configs = stored(5);
        configs.end(false);
        configs.end(true);
        assert!(!is_known(&configs, 5), "rolled back");
        let mut configs = stored(5);
        configs.undo();
        configs.end(true);
        assert!(!is_known(&configs, 5), "undone");
    }

    #[test]
    fn at_most_1000_configurations_are_known() {
        let mut configs = StoredConfigs::default();
        for n in 0..=MOST_KNOWN {
            assert_eq!(configs.committed.len(), n);
            configs.pending.push((n.to_string().into(), 1));
            configs.end(true);
        }
        assert!(configs.committed.is_empty());
    }
}
