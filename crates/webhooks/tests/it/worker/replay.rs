//! Tests for replaying a delivery.

use super::harness::{Harness, everywhere, number};
use gatehouse_domain::{Actor, DeliveryStatus};
use gatehouse_store::{NewDelivery, ReplayFilter};
use gatehouse_webhooks::{Delivery, DeliveryQuery, Edit, EditedPart, ReplayQuery, WebhooksError};
use serde_json::{Value, json};
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

fn edit(payload: Option<&str>, agent: Option<&str>, deliver_to: Option<&str>) -> Edit {
    Edit {
        payload: payload.map(str::to_owned),
        agent: agent.map(str::to_owned),
        deliver_to: deliver_to.map(str::to_owned),
    }
}

#[tokio::test]
async fn an_edited_replay_is_marked_and_leaves_the_original_untouched() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let more = json!({ "deliver_only": true, "prompt_template": "n is {n}" });
        let webhook = harness.webhook("a", more).await;
        harness.work();
        let first = NewDelivery {
            delivery_key: Some("of the sender".to_owned()),
            ..harness.delivery(1, &webhook, "webhook:wh_a:del_00000001")
        };
        harness.insert(vec![first]).await;
        harness.until(1, DeliveryStatus::Completed).await;
        let before = harness.row(1).await;

        let changed = edit(Some(r#"{"n":1.0,"more":true}"#), None, None);
        let again = harness.webhooks.replay_edited("del_00000001", &changed);
        let again = again.await.unwrap();
        assert_eq!(again.edited, [EditedPart::Payload]);
        assert_eq!(again.replay_of.as_ref().map(number), Some(1));
        assert_eq!((again.delivery_key, again.body_size), (None, 21));
        harness.until_all(&[0], DeliveryStatus::Completed).await;
        assert_eq!(harness.inbox().await, ["n is 1", "n is 1.0"]);
        assert_eq!(harness.row(1).await, before);
        let stored = harness.webhooks.delivery(again.id.as_str()).await.unwrap();
        assert_eq!(stored.edited, [EditedPart::Payload]);

        // A replay of an edited replay repeats the edited payload, which is still not the sender's.
        let third = harness.webhooks.replay(again.id.as_str()).await.unwrap();
        assert_eq!(third.edited, [EditedPart::Payload]);
        harness.until_all(&[0], DeliveryStatus::Completed).await;
        let plain = harness.webhooks.replay("del_00000001").await.unwrap();
        assert!(plain.edited.is_empty());
        harness.until_all(&[0], DeliveryStatus::Completed).await;
        let all = ReplayQuery {
            limit: 10,
            ..ReplayQuery::default()
        };
        assert_eq!(harness.webhooks.replay_many(all).await.unwrap().replayed, 4);
        harness.until_all(&[0; 4], DeliveryStatus::Completed).await;
        let all = DeliveryQuery {
            limit: 100,
            ..DeliveryQuery::default()
        };
        let page = harness.webhooks.deliveries(all).await;
        let edited = |it: &&Delivery| it.edited == [EditedPart::Payload];
        assert_eq!(page.unwrap().deliveries.iter().filter(edited).count(), 4);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_replay_for_another_target_goes_there_and_not_to_the_webhooks_own() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness
            .arrive(&webhook, &[(1, "webhook:wh_a:del_00000001")])
            .await;
        harness.until(1, DeliveryStatus::Completed).await;
        let turns = model.seen().len();
        let to_inbox = edit(None, None, Some("inbox"));
        let again = harness.webhooks.replay_edited("del_00000001", &to_inbox);
        assert_eq!(again.await.unwrap().edited, [EditedPart::Target]);
        harness.until_all(&[0], DeliveryStatus::Completed).await;
        let sent: Value = serde_json::from_str(&harness.inbox().await[0]).unwrap();
        assert_eq!(sent, json!({ "n": 1, "text": "hello 1" }));
        assert_eq!(model.seen().len(), turns, "no agent");

        // Replays for an agent, whose answer goes to the inbox, with an edited payload.
        let to_agent = edit(Some(r#"{"n":2}"#), Some("default"), Some("inbox"));
        let again = harness.webhooks.replay_edited("del_00000001", &to_agent);
        let again = again.await.unwrap();
        assert_eq!(again.edited, [EditedPart::Payload, EditedPart::Target]);
        harness.until_all(&[0], DeliveryStatus::Completed).await;
        assert_eq!(harness.inbox().await.len(), 2);
        let asked = format!("{:?}", model.seen().last().unwrap());
        assert!(asked.contains("The sender did not send it"), "{asked}");
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_edit_that_cannot_run_is_refused_and_stores_nothing() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "max_body_bytes": 10 })).await;
        harness
            .arrive_parked(&webhook, 1, "webhook:wh_a:del_00000001")
            .await;
        for (changed, blamed) in [
            (edit(Some("{"), None, None), "payload"),
            (edit(Some(""), None, None), "payload"),
            (edit(Some(r#""123456789""#), None, None), "payload"),
            (edit(None, Some("agent_nobody"), None), "agent"),
        ] {
            let refused = harness.webhooks.replay_edited("del_00000001", &changed);
            let refused = refused.await;
            assert!(
                matches!(refused, Err(WebhooksError::Invalid { field, .. }) if field == blamed),
                "{changed:?}: {refused:?}"
            );
        }
        let nowhere = edit(None, None, Some("slack:nobody"));
        let refused = harness.webhooks.replay_edited("del_00000001", &nowhere);
        assert!(matches!(refused.await, Err(WebhooksError::Refused(_))));
        // Ten bytes are allowed.
        let longest = edit(Some(r#""12345678""#), None, None);
        let taken = harness.webhooks.replay_edited("del_00000001", &longest);
        let taken = taken.await.unwrap();
        let count = harness.write(|conn| {
            Box::pin(async move {
                conn.count_replayable_deliveries(&ReplayFilter::default(), "e")
                    .await
            })
        });
        assert_eq!(count.await, 0, "nothing has ended");
        assert_eq!(taken.body_preview, r#""12345678""#);
        harness.stop().await;
    })
    .await;
}
