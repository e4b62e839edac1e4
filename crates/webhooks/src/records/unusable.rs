//! Webhooks that cannot do their work: without their profile, without their time zone, or with damaged settings.

use crate::error::WebhooksError;
use crate::handle::{Inner, Webhooks};
use crate::webhook::StoredConfig;
use gatehouse_domain::WebhookId;
use gatehouse_store::StoreError;
use std::collections::HashSet;

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

    /// Returns the IDs and names of the enabled schedules that cannot run because their stored settings cannot be
    /// read. If the name cannot be read, the ID is in its place.
    pub async fn damaged_schedules(&self) -> Result<Vec<(String, String)>, WebhooksError> {
        let loaded: HashSet<WebhookId> = self.0.live.schedules().into_iter().collect();
        let now = self.0.now();
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let mut damaged = Vec::new();
                for run in conn.list_next_schedules(i64::MAX).await? {
                    // A schedule that was damaged after it was loaded stays due.
                    if loaded.contains(&run.webhook_id) && now < run.due_at {
                        continue;
                    }
                    let id = run.webhook_id.to_string();
                    match conn.find_webhook(&id).await {
                        Ok(Some(row)) if StoredConfig::of(&row).is_err() => {
                            damaged.push((id, row.name));
                        }
                        Ok(_) => {}
                        Err(error) if error.is_unavailable() => return Err(error),
                        Err(_) => damaged.push((id.clone(), id)),
                    }
                }
                damaged.sort();
                Ok::<_, StoreError>(damaged)
            })
        });
        Ok(read.await?)
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
