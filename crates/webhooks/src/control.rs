//! Operations on single queued deliveries: cancel one, or retry a waiting one now.

use crate::delivery::Delivery;
use crate::error::WebhooksError;
use crate::handle::Webhooks;
use crate::metrics;
use gatehouse_domain::{DeliveryId, DeliveryStatus, ErrorCode, Problem};
use gatehouse_store::{Conn, DeliveryRow};

impl Webhooks {
    /// Ends a waiting or running delivery as `failed`. A run on another node stops when it next renews its
    /// lease, and its results are discarded.
    pub async fn cancel_delivery(&self, id: &str) -> Result<Delivery, WebhooksError> {
        let inner = &self.0;
        let (id, now) = (DeliveryId::from_text(id), inner.now());
        let wanted = id.clone();
        let write = inner.store.write_queue(move |conn| {
            Box::pin(async move {
                let row = get(conn, &wanted).await?;
                if !conn.cancel_delivery(&wanted, now).await? {
                    return Err(ended(row.status, "cancelled"));
                }
                get(conn, &wanted).await
            })
        });
        let row = write.await?;
        inner.cancels.cancel_delivery(&id);
        metrics::delivery(&row.webhook_id, row.status, row.event_type.as_deref());
        inner.publish(&row);
        inner.wake.notify_one();
        Ok(Delivery::from(row))
    }

    /// Makes a waiting delivery due now. The delivery can still wait for an older delivery of its session, for its
    /// webhook or for its channel. If the channel's circuit is open, the channel is probed immediately.
    pub async fn retry_delivery(&self, id: &str) -> Result<Delivery, WebhooksError> {
        let inner = &self.0;
        let (wanted, now) = (DeliveryId::from_text(id), inner.now());
        let write = inner.store.write_queue(move |conn| {
            Box::pin(async move {
                let row = get(conn, &wanted).await?;
                if !conn.update_delivery_due(&wanted, now).await? {
                    return Err(match row.status {
                        DeliveryStatus::Processing => runs(),
                        status => ended(status, "retried. Replay it"),
                    });
                }
                get(conn, &wanted).await
            })
        });
        let row = write.await?;
        if let Some(target) = row.target.as_ref().filter(|target| !target.is_empty())
            && let Some(account) = inner.channels.find_target_account(target).await?
        {
            inner.circuits().probe_now(&account.id);
        }
        inner.wake.notify_one();
        inner.publish(&row);
        let shown = inner.shown_deliveries(vec![row]).await.pop();
        shown.ok_or(WebhooksError::NotFound("delivery"))
    }

    /// Makes due the deliveries that wait since the restore of a backup. Returns their number.
    pub async fn release_deliveries(&self) -> Result<u64, WebhooksError> {
        let now = self.0.now();
        let mut released = 0;
        loop {
            let write = self.0.store.write_queue(move |conn| {
                Box::pin(async move { Ok::<_, WebhooksError>(conn.release_deliveries(now).await?) })
            });
            match write.await? {
                0 => break,
                more => released += more,
            }
            self.0.wake.notify_one();
        }
        self.0.held.notify_one();
        Ok(released)
    }

    /// Counts the deliveries that wait after the restore of a backup.
    pub async fn count_deliveries_to_release(&self) -> Result<i64, WebhooksError> {
        let read = self.0.store.read(|conn| {
            Box::pin(
                async move { Ok::<_, WebhooksError>(conn.count_deliveries_to_release().await?) },
            )
        });
        read.await
    }
}

async fn get(conn: &mut Conn, id: &DeliveryId) -> Result<DeliveryRow, WebhooksError> {
    // Accepts unreadable rows, so that a delivery whose row cannot be read can be canceled.
    let row = conn.find_delivery_to_show(id.as_str()).await?;
    row.ok_or(WebhooksError::NotFound("delivery"))
}

fn ended(status: DeliveryStatus, what: &str) -> WebhooksError {
    let text = format!("This delivery has ended ({status}), so it cannot be {what}.");
    WebhooksError::Refused(Problem::new(ErrorCode::Conflict, text).with("status", status.as_str()))
}

fn runs() -> WebhooksError {
    let status = DeliveryStatus::Processing;
    WebhooksError::Refused(
        Problem::new(
            ErrorCode::Conflict,
            "An attempt at this delivery is already in progress.",
        )
        .with("status", status.as_str()),
    )
}
