//! Deliveries run sequentially within a session and concurrently across sessions.

use super::harness::{Harness, everywhere, settings};
use gatehouse_domain::DeliveryStatus;
use gatehouse_doubles::openai::last_text;
use gatehouse_webhooks::WebhooksSettings;
use serde_json::json;

#[tokio::test]
async fn deliveries_of_a_session_run_in_order() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        let all: Vec<_> = (1..=12)
            .map(|n| (n, if n % 3 == 0 { "x" } else { "y" }))
            .collect();
        harness.arrive(&webhook, &all).await;
        let numbers: Vec<u32> = (1..=12).collect();
        let order = harness.until_all(&numbers, DeliveryStatus::Completed).await;
        let of = |session: u32| -> Vec<u32> {
            order
                .iter()
                .copied()
                .filter(|n| (n % 3 == 0) == (session == 0))
                .collect()
        };
        assert!(of(0).is_sorted() && of(1).is_sorted(), "{order:?}");
        let texts: Vec<_> = model.seen().iter().map(last_text).collect();
        assert_eq!(texts.len(), 12, "each once");
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn as_many_sessions_run_at_a_time_as_there_are_workers() {
    everywhere(|database, model| async move {
        let wanted = WebhooksSettings {
            section: gatehouse_config::Webhooks {
                agent_workers: 3,
                ..gatehouse_config::Webhooks::default()
            },
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, wanted).await;
        model.hold();
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        let sessions = ["a", "b", "c", "d", "e"];
        let all: Vec<_> = (1..).zip(sessions).collect();
        harness.arrive(&webhook, &all).await;
        harness
            .until_all(&[1, 2, 3], DeliveryStatus::Processing)
            .await;
        model.until(3).await;
        assert_eq!(harness.row(4).await.status, DeliveryStatus::Queued);
        assert_eq!(harness.webhooks.queue_depth().await.unwrap(), 2);
        model.release(1);
        model.until(4).await;
        model.release(4);
        harness.until_all(&[0; 5], DeliveryStatus::Completed).await;
        assert_eq!(harness.webhooks.queue_depth().await.unwrap(), 0);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_delivery_starts_as_soon_as_it_is_stored() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "deliver_only": true })).await;
        harness.work();
        // The clock does not advance, so no timer of the worker fires.
        for n in 1..=20 {
            harness.arrive(&webhook, &[(n, &n.to_string())]).await;
            harness.until(n, DeliveryStatus::Completed).await;
        }
        assert_eq!(harness.inbox().await.len(), 20);
        harness.stop().await;
    })
    .await;
}
