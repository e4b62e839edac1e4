//! The statements whose plans are checked, by subject.

use super::{HOUR_MS, START, at};
use crate::delivery_queue::{DeliveryFinish, DeliveryRequeue};
use crate::{ClaimRequest, Conn, DeliveryEnd, DeliveryFilter, DeliveryResponse, StoreError, Take};
use futures_util::future::BoxFuture;
use gatehouse_domain::{DeliveryId, DeliveryStatus, Timestamp, WebhookId};

pub(super) fn lists(conn: &mut Conn) -> BoxFuture<'_, Result<(), StoreError>> {
    Box::pin(async move {
        let of_statuses: [&[DeliveryStatus]; 4] = [
            &[],
            &[DeliveryStatus::Queued],
            &[DeliveryStatus::Processing, DeliveryStatus::Failed],
            &[DeliveryStatus::Completed],
        ];
        for webhook in [None, Some("hook_1"), Some("hook_none")] {
            for event in [None, Some("push.1"), Some("push.*"), Some("none*")] {
                for statuses in of_statuses {
                    let filter = DeliveryFilter {
                        webhook: webhook.map(WebhookId::from_text),
                        event: event.map(str::to_owned),
                        statuses: statuses.to_vec(),
                        ..DeliveryFilter::default()
                    };
                    conn.list_deliveries(&filter, 50).await?;
                }
            }
        }
        let others = [
            DeliveryFilter {
                to_release: true,
                ..DeliveryFilter::default()
            },
            DeliveryFilter {
                text: Some("nothing contains this".to_owned()),
                ..DeliveryFilter::default()
            },
            DeliveryFilter {
                from: Some(at(100)),
                until: Some(at(200)),
                ..DeliveryFilter::default()
            },
        ];
        for filter in &others {
            conn.list_deliveries(filter, 50).await?;
        }
        conn.list_accepted_since(at(30 * 24 - 1), 1000).await?;
        conn.find_last_delivery_id().await.map(drop)
    })
}

pub(super) fn counts(conn: &mut Conn) -> BoxFuture<'_, Result<(), StoreError>> {
    Box::pin(async move {
        let half_hour = Timestamp::from_millis(START + HOUR_MS / 2);
        for webhook in [None, Some(WebhookId::from_text("hook_1"))] {
            for until in [at(24), Timestamp::from_millis(i64::MAX)] {
                conn.list_delivery_counts(webhook.as_ref(), half_hour, until)
                    .await?;
            }
        }
        conn.list_open_delivery_counts().await?;
        conn.count_queued_deliveries().await?;
        conn.count_deliveries_to_release().await?;
        conn.count_deliveries_for("http:a").await.map(drop)
    })
}

pub(super) fn retention(conn: &mut Conn) -> BoxFuture<'_, Result<(), StoreError>> {
    Box::pin(async move {
        let old = conn.list_old_deliveries(at(24), false, 50).await?;
        conn.list_old_deliveries(at(24), true, 50).await?;
        let ids: Vec<DeliveryId> = old.into_iter().map(|one| one.id).collect();
        conn.delete_old_deliveries(&ids).await?;
        for group in conn.list_refused_groups(0).await? {
            conn.list_oldest_refused(&group, 50).await?;
        }
        conn.delete_unused_delivery_configs(at(24)).await.map(drop)
    })
}

pub(super) fn claims(conn: &mut Conn) -> BoxFuture<'_, Result<(), StoreError>> {
    Box::pin(async move {
        let now = at(31 * 24);
        let lines = conn.list_delivery_lines(None, 100).await?;
        let takes = lines.into_iter().map(|line| Take {
            target: line.target,
            webhook_id: line.webhook_id,
            limit: 4,
        });
        let want = ClaimRequest {
            owner: "me".to_owned(),
            now,
            lease_until: now,
            takes: takes.collect(),
            paced: Vec::new(),
        };
        let claimed = conn.claim_deliveries(&want).await?.claimed;
        assert!(claimed.len() > 1);
        let finish = DeliveryFinish {
            status: DeliveryStatus::Completed,
            finished_at: now,
            session_id: None,
            input_tokens: None,
            output_tokens: None,
            error: None,
            response_actions: None,
            delivered_at: None,
            outcome: None,
            channel: None,
            response: DeliveryResponse::default(),
        };
        let (requeued, ended) = claimed.split_at(1);
        let ends = ended.iter().map(|work| DeliveryEnd {
            id: &work.row.id,
            attempt: 1,
            finish: &finish,
        });
        conn.finish_deliveries("me", &ends.collect::<Vec<_>>())
            .await?;
        let requeue = DeliveryRequeue {
            next_attempt_at: Some(now),
            uncount: false,
            error: None,
            session_id: None,
        };
        for work in requeued {
            conn.requeue_delivery(&work.row.id, "me", 1, &requeue)
                .await?;
        }
        conn.renew_leases("node", now).await?;
        conn.list_leases().await.map(drop)
    })
}

pub(super) fn waits(conn: &mut Conn) -> BoxFuture<'_, Result<(), StoreError>> {
    Box::pin(async move {
        let now = at(31 * 24);
        let ids = conn.list_stranded_deliveries().await?;
        conn.update_deliveries_due(&ids, now)?;
        conn.list_deliveries_behind_vault().await?;
        conn.release_deliveries_from_budget(now).await?;
        conn.release_deliveries(now).await?;
        conn.update_received_deliveries(now).await?;
        conn.update_deliveries_too_late(now, HOUR_MS).await?;
        conn.find_oldest_unreadable_delivery(at(0)).await?;
        conn.list_untargeted_deliveries(10).await.map(drop)
    })
}
