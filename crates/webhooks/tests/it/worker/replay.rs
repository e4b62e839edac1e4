//! Tests for replaying a delivery.

use super::harness::{Harness, everywhere, number};
use gatehouse_domain::{Actor, DeliveryStatus};
use gatehouse_webhooks::WebhooksError;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_replay_runs_with_the_configuration_of_now() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let more = json!({ "deliver_only": true, "prompt_template": "before {n}" });
        let webhook = harness.webhook("a", more).await;
        harness.work();
        harness
            .arrive(&webhook, &[(1, "webhook:wh_a:del_00000001")])
            .await;
        harness.until(1, DeliveryStatus::Completed).await;
        let change = serde_json::from_value(json!({ "prompt_template": "after {n}" })).unwrap();
        harness
            .webhooks
            .update(&Actor::cli(), "hook_a", change)
            .await
            .unwrap();
        harness.clock.advance(Duration::from_secs(5));
        let again = harness.webhooks.replay("del_00000001").await.unwrap();
        assert_eq!(again.status, DeliveryStatus::Queued);
        assert_eq!(again.replay_of.as_ref().map(number), Some(1));
        assert_eq!(
            (again.event_type.as_deref(), again.attempts),
            (Some("push"), 0)
        );
        let key = format!("webhook:wh_a:{}", again.id);
        assert_eq!(again.session_key.as_deref(), Some(key.as_str()));
        harness.until_all(&[0], DeliveryStatus::Completed).await;
        assert_eq!(harness.inbox().await, ["before 1", "after 1"]);
        // A replay can be replayed, and a second replay is not a duplicate of the first.
        let third = harness.webhooks.replay(again.id.as_str()).await.unwrap();
        assert_eq!(third.replay_of, Some(again.id));
        harness.until_all(&[0], DeliveryStatus::Completed).await;
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_kept_no_payload_or_is_gone_cannot_be_replayed() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({})).await;
        let mut filtered = harness.delivery(1, &webhook, "");
        filtered.status = DeliveryStatus::Filtered;
        filtered.payload = None;
        let mut orphan = harness.delivery(2, &webhook, "b");
        orphan.webhook_id = gatehouse_domain::WebhookId::from_text("hook_gone");
        harness.insert(vec![filtered, orphan]).await;
        for (id, what) in [
            ("del_00000001", "payload"),
            ("del_00000002", "webhook"),
            ("del_nothing", "delivery"),
        ] {
            let refused = harness.webhooks.replay(id).await;
            assert!(
                matches!(refused, Err(WebhooksError::NotFound(noun)) if noun == what),
                "{id}: {refused:?}"
            );
        }
        harness.stop().await;
    })
    .await;
}
