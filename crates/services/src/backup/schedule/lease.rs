//! Renews the lease of a running backup.

use super::{KEY, state::read};
use crate::Services;
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;
use serde_json::json;
use std::pin::pin;
use std::time::Duration;

impl Services {
    /// Extends the lease of the backup that began at `began`. A failure is only logged, because the next renewal
    /// may succeed.
    pub(super) async fn renew_lease(&self, began: Timestamp) {
        let now = self.store.shared_now(&self.clock).await;
        let store = self.store.write(move |conn| {
            Box::pin(async move {
                let mut state = read(conn.find_setting(KEY).await?);
                let is_own = state.renew(began, now);
                if is_own {
                    conn.update_setting(KEY, &json!(state), now).await?;
                }
                Ok::<_, StoreError>(is_own)
            })
        });
        match store.await {
            Ok(true) => {}
            Ok(false) => tracing::warn!("another node has also begun the scheduled backup"),
            Err(error) => tracing::warn!(%error, "the lease of the backup cannot be renewed"),
        }
    }
}

/// Runs `work` and calls `renew` every `period` until `work` is done.
pub(super) async fn while_renewing<T, R: Future<Output = ()>>(
    period: Duration,
    work: impl Future<Output = T>,
    renew: impl Fn() -> R,
) -> T {
    let mut work = pin!(work);
    loop {
        match tokio::time::timeout(period, &mut work).await {
            Ok(done) => return done,
            Err(_) => renew().await,
        }
    }
}
