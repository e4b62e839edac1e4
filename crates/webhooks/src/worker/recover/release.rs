//! Deliveries that become due again.

use crate::handle::Inner;
use crate::worker::backoff;
use gatehouse_secrets::Status;
use gatehouse_store::{RELEASED_AT_ONCE, StoreError};
use std::sync::Arc;

/// Finds some deliveries that no longer have a reason to wait, and makes them due. Returns whether there may be more.
pub(crate) async fn revive(inner: &Inner) -> Result<bool, StoreError> {
    let now = inner.now();
    let longest_ms = i64::try_from(backoff::LONGEST_WAIT.as_millis()).unwrap_or(i64::MAX);
    let stranded = inner
        .queue
        .read(|conn| Box::pin(async move { conn.list_stranded_deliveries().await }))
        .await?;
    let moved = inner
        .store
        .write_queue(move |conn| {
            Box::pin(async move {
                conn.update_deliveries_due(&stranded, now)?;
                conn.update_deliveries_too_late(now, longest_ms).await
            })
        })
        .await?;
    inner.wake.notify_one();
    Ok(moved >= RELEASED_AT_ONCE)
}

/// Finds deliveries that wait for a budget, and makes them due. If the budget is still used up, they wait again.
/// Returns whether there may be more.
pub(in super::super) async fn release_from_budget(inner: &Inner) -> Result<bool, StoreError> {
    let now = inner.now();
    let released = inner
        .store
        .write_queue(move |conn| {
            Box::pin(async move { conn.release_deliveries_from_budget(now).await })
        })
        .await?;
    if released > 0 {
        inner.wake.notify_one();
    }
    Ok(released >= RELEASED_AT_ONCE)
}

/// Makes some deliveries due that waited for the vault, if it is unlocked. Returns whether there may be more.
pub(in super::super) async fn release_from_vault(inner: &Arc<Inner>) -> Result<bool, StoreError> {
    if inner.secrets.status() == Status::Sealed {
        return Ok(false);
    }
    let waiting = inner
        .queue
        .read(|conn| Box::pin(async move { conn.list_deliveries_behind_vault().await }))
        .await?;
    if waiting.is_empty() {
        return Ok(false);
    }
    let now = inner.now();
    inner
        .store
        .write_queue(move |conn| {
            Box::pin(async move {
                for id in &waiting {
                    conn.release_delivery_from_vault(id, now).await?;
                }
                Ok::<_, StoreError>(())
            })
        })
        .await?;
    Ok(true)
}
