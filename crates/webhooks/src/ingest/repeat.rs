//! Detects duplicates. Decides whether a duplicate may run again because the earlier delivery failed.

use gatehouse_domain::{DeliveryId, DeliveryStatus, WebhookId};
use gatehouse_store::{Conn, NewDelivery, StoreError};

/// Maximum number of redeliveries of a failed delivery.
pub(crate) const MAX_REDELIVERIES: i64 = 5;

/// The values that identify a duplicate.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub(crate) webhook: WebhookId,
    pub(crate) key: Option<String>,
    pub(crate) bytes: Option<String>,
}

impl Keys {
    pub(crate) fn of(row: &NewDelivery) -> Self {
        Self {
            webhook: row.webhook_id.clone(),
            key: row.unique_key.clone(),
            bytes: row.bytes_key.clone(),
        }
    }
}

/// The relation of a delivery to earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Neither the key nor the bytes exist.
    Unknown,
    /// A duplicate of this delivery.
    Of(DeliveryId),
    /// A duplicate of `first`, which failed.
    MayRunAgain {
        first: DeliveryId,
        /// The number that the redelivery would have, from 1.
        number: i64,
        /// Whether no accepted delivery has the same bytes.
        has_new_bytes: bool,
    },
}

/// Looks up earlier deliveries with the same key or bytes. Bytes take precedence over the key. Otherwise the key of
/// a failed delivery could allow the bytes of another delivery to run again.
pub(crate) async fn judge(
    conn: &mut Conn,
    keys: &Keys,
    redeliver: bool,
) -> Result<Repeat, StoreError> {
    let by_bytes = match &keys.bytes {
        Some(bytes) => conn.find_bytes_holder(&keys.webhook, bytes).await?,
        None => None,
    };
    let has_new_bytes = by_bytes.is_none();
    let holder = match (by_bytes, &keys.key) {
        (Some(holder), _) => Some(holder),
        (None, Some(key)) => conn.find_key_holder(&keys.webhook, key).await?,
        (None, None) => None,
    };
    let Some(holder) = holder else {
        return Ok(Repeat::Unknown);
    };
    let first = holder.redelivery_of.unwrap_or_else(|| holder.id.clone());
    if !redeliver {
        return Ok(Repeat::Of(first));
    }
    let status = if first == holder.id {
        Some(holder.status)
    } else {
        conn.find_delivery_status(&first).await?
    };
    let repeats = conn.list_repeats(&first).await?;
    let all_failed = status.is_none_or(|status| status == DeliveryStatus::Failed)
        && repeats
            .iter()
            .all(|repeat| repeat.status == DeliveryStatus::Failed);
    let last = repeats.iter().filter_map(|repeat| repeat.redelivery).max();
    let number = last.unwrap_or(0) + 1;
    if all_failed && number <= MAX_REDELIVERIES {
        Ok(Repeat::MayRunAgain {
            first,
            number,
            has_new_bytes,
        })
    } else {
        Ok(Repeat::Of(first))
    }
}
