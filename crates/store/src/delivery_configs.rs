//! Table `delivery_configs`: the configurations of webhooks at the receipt of deliveries. A delivery refers
//! to its configuration by a hash of the text, so each text is stored once.

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

/// The keys of new deliveries' configurations, by the address of the text. The deliveries of a webhook share one
/// text, which is hashed once.
#[derive(Debug, Default)]
pub(crate) struct ConfigKeys(HashMap<usize, String>);

fn address_of(config: &Arc<str>) -> usize {
    Arc::as_ptr(config).cast::<u8>().addr()
}

impl ConfigKeys {
    /// Returns the key of a delivery's configuration.
    pub(crate) fn key_of(&self, row: &NewDelivery) -> Option<&str> {
        let config = row.config.as_ref()?;
        self.0.get(&address_of(config)).map(String::as_str)
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
    ) -> Result<ConfigKeys, StoreError> {
        let mut keys = ConfigKeys::default();
        // Ordered by key, so two nodes that store the same configurations do not deadlock.
        let mut used: BTreeMap<String, (&str, Timestamp)> = BTreeMap::new();
        for row in new {
            let Some(config) = &row.config else {
                continue;
            };
            let key = keys.0.entry(address_of(config));
            let key = key.or_insert_with(|| key_of(config));
            match used.get_mut(key.as_str()) {
                Some((_, last)) => *last = row.received_at.max(*last),
                None => drop(used.insert(key.clone(), (config, row.received_at))),
            }
        }
        let rows: Vec<Vec<Value<'_>>> = used
            .iter()
            .map(|(key, (config, at))| {
                let at = at.as_millis();
                vec![
                    key.into(),
                    (*config).into(),
                    at.into(),
                    USED_AT_STEP_MS.into(),
                ]
            })
            .collect();
        if !rows.is_empty() {
            self.run_each_later(INSERT, &rows)?;
        }
        Ok(keys)
    }

    /// Deletes configurations that no delivery has used since `before`, except configurations of open deliveries. The
    /// stored time of use may be an hour too early and clocks may differ, so the limit is two hours before `before`.
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
        let before = before.as_millis().saturating_sub(2 * USED_AT_STEP_MS);
        self.run(query.bind(before)).await
    }
}

/// Touches no row that was used within the last hour: on PostgreSQL, `ON CONFLICT DO UPDATE` locks the row even if its
/// condition is not met, and all deliveries of a webhook would wait for each other's commit.
const INSERT: &str = "INSERT INTO delivery_configs (key, config, used_at)
    SELECT $1, $2, $3 WHERE NOT EXISTS (
        SELECT 1 FROM delivery_configs WHERE key = $1 AND used_at >= $3 - $4)
    ON CONFLICT (key) DO UPDATE SET used_at = excluded.used_at
        WHERE delivery_configs.used_at < excluded.used_at - $4";
