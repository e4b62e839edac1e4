//! Webhooks whose profile is missing.

use crate::error::WebhooksError;
use crate::handle::Webhooks;
use gatehouse_store::StoreError;

impl Webhooks {
    /// Returns the IDs and names of the enabled webhooks that refuse deliveries because no profile in use has their
    /// profile or mode.
    pub async fn without_profile(&self) -> Result<Vec<(String, String)>, WebhooksError> {
        let ids = self.0.live.without_profile();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let read = self.0.store.read(move |conn| {
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
