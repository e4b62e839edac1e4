//! Webhooks that cannot do their work: without their profile, without their time zone, or with damaged settings.

use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use crate::webhook::StoredConfig;
use gatehouse_domain::WebhookId;
use gatehouse_store::StoreError;

impl Webhooks {
    /// Returns the IDs and names of the enabled webhooks that refuse deliveries because no profile in use has their
    /// profile or mode.
    pub async fn without_profile(&self) -> Result<Vec<(String, String)>, WebhooksError> {
        self.0.named(self.0.live.without_profile()).await
    }

    /// Returns the IDs and names of the schedules that cannot run because this machine does not have their time zone.
    /// Disabled and paused ones are left out.
    pub async fn without_zone(&self) -> Result<Vec<(String, String)>, WebhooksError> {
        self.0.named(self.0.live.without_zone()).await
    }

    /// Returns the IDs and names of the webhooks whose stored settings cannot be read, oldest first. The list of
    /// webhooks omits them.
    pub async fn damaged(&self) -> Result<Vec<(String, String)>, WebhooksError> {
        let read = self.0.store.read(move |conn| {
            Box::pin(async move { conn.list_webhooks_after("", i64::MAX).await })
        });
        let mut rows = read.await?;
        rows.retain(|row| StoredConfig::of(row).is_err());
        let named = rows.into_iter().map(|row| (row.id.to_string(), row.name));
        Ok(named.collect())
    }

    /// Returns whether there are schedules.
    pub fn has_schedules(&self) -> bool {
        !self.0.live.schedules().is_empty()
    }
}

impl Inner {
    /// Returns the IDs and names of the webhooks, sorted.
    async fn named(&self, ids: Vec<WebhookId>) -> Result<Vec<(String, String)>, WebhooksError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let read = self.store.read(move |conn| {
            Box::pin(async move {
                let mut named = Vec::with_capacity(ids.len());
                for id in ids {
                    let row = conn.find_webhook(id.as_str()).await?;
                    named.extend(row.map(|row| (row.id.to_string(), row.name)));
                }
                named.sort();
                Ok::<_, StoreError>(named)
            })
        });
        Ok(read.await?)
    }
}
