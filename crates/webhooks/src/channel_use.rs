//! Deletes channels, including channels that webhooks or waiting deliveries still use.

use crate::handle::Webhooks;
use crate::webhook::StoredConfig;
use gatehouse_channels::ChannelsError;
use gatehouse_domain::{Actor, ErrorCode, Problem, Timestamp};
use gatehouse_store::{Conn, WebhookRow};
use serde_json::{Value, json};

/// Maximum number of webhooks that a refusal names.
const NAMED: usize = 20;

impl Webhooks {
    /// Deletes a channel account. If a waiting delivery or a webhook uses it, deletion requires `force`;
    /// the waiting deliveries then fail with an explanation.
    pub async fn delete_channel(
        &self,
        actor: &Actor,
        id: &str,
        force: bool,
    ) -> Result<(), ChannelsError> {
        let now = self.0.now();
        let delete = self
            .0
            .channels
            .delete_unless(actor, id, move |conn, targets| {
                Box::pin(async move { check(conn, targets, force, now).await })
            });
        delete.await?;
        self.0.circuits().answered(id);
        self.0.wake.notify_one();
        Ok(())
    }
}

async fn check(
    conn: &mut Conn,
    targets: Vec<String>,
    force: bool,
    now: Timestamp,
) -> Result<(), ChannelsError> {
    if force {
        for target in &targets {
            conn.update_deliveries_due_for(target, now).await?;
        }
        return Ok(());
    }
    let mut deliveries = 0;
    for target in &targets {
        deliveries += conn.count_deliveries_for(target).await?;
    }
    let names_it = |config: StoredConfig| {
        config
            .webhook
            .deliver_to
            .is_some_and(|target| targets.contains(&target))
    };
    let rows = conn.list_webhooks().await?;
    let named: Vec<&WebhookRow> = rows
        .iter()
        .filter(|row| StoredConfig::of(row).is_ok_and(names_it))
        .collect();
    let webhooks = named.len();
    if deliveries == 0 && webhooks == 0 {
        return Ok(());
    }
    let used_by = named.into_iter().take(NAMED);
    let used_by: Vec<Value> = used_by
        .map(|row| json!({ "id": row.id.as_str(), "name": row.name }))
        .collect();
    let text = format!(
        "This channel is in use: {deliveries} deliveries wait for it, and {webhooks} webhooks send to it. \
         Nothing was deleted. If it is deleted anyway, those deliveries fail."
    );
    Err(ChannelsError::InUse(
        Problem::new(ErrorCode::Conflict, text)
            .with("deliveries", deliveries)
            .with("webhooks", webhooks)
            .with("used_by", used_by),
    ))
}
