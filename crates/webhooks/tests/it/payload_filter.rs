//! Tests for conditions on the payload.

use crate::requests::{accepted, as_json, create, open_webhook, post, refused, rows, update};
use crate::worker::harness::{Harness, everywhere, settings};
use gatehouse_domain::{Actor, DeliveryId, DeliveryStatus, ErrorCode, Problem};
use gatehouse_webhooks::{Edit, Ingested, WebhooksSettings};
use serde_json::{Value, json};
use std::time::Duration;

const OPEN: &str = r#"{"n":1,"state":"open"}"#;
const DRAFT: &str = r#"{"n":2,"state":"draft"}"#;

fn filtered(outcome: Result<Ingested, Problem>) -> DeliveryId {
    match outcome {
        Ok(Ingested::Filtered(id)) => id,
        other => panic!("{other:?}"),
    }
}

/// Forwards deliveries with the state `open`.
fn only_open() -> Value {
    json!({
        "deliver_only": true, "prompt_template": "{n}",
        "payload_filter": [{ "path": "state", "is": "equals", "value": "open" }],
    })
}

#[tokio::test]
async fn a_delivery_that_does_not_meet_a_condition_is_filtered_with_the_condition_as_reason() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, only_open()).await;
        accepted(post(&harness, &webhook, &[], OPEN).await);
        for body in [DRAFT, r#"{"n":3}"#, "[]"] {
            let id = filtered(post(&harness, &webhook, &[], body).await);
            let delivery = harness.webhooks.delivery(id.as_str()).await.unwrap();
            assert_eq!(delivery.status, DeliveryStatus::Filtered);
            let reason = r#"The payload filter is not met: state equals "open"."#;
            assert_eq!(delivery.error.as_deref(), Some(reason));
            assert_eq!(delivery.body_preview, body);
            assert!(harness.webhooks.payload(id.as_str()).await.is_err());
        }
        // The event filter is applied first and gives no reason, as for a webhook without conditions.
        let events = json!({ "events": ["push"] });
        update(&harness, webhook.id.as_str(), events).await.unwrap();
        let id = filtered(post(&harness, &webhook, &[], DRAFT).await);
        let delivery = harness.webhooks.delivery(id.as_str()).await.unwrap();
        assert_eq!(delivery.error, None);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_delivery_that_meets_an_alternative_is_accepted() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let mut members = only_open();
        members["payload_filter"] = json!([
            { "path": "state", "is": "equals", "value": "open" },
            { "path": "labels.*.name", "is": "equals", "value": "urgent", "or": true },
        ]);
        let webhook = open_webhook(&harness, members).await;
        let urgent = r#"{"n":3,"state":"draft","labels":[{"name":"bug"},{"name":"urgent"}]}"#;
        for body in [OPEN, urgent] {
            accepted(post(&harness, &webhook, &[], body).await);
        }
        let id = filtered(post(&harness, &webhook, &[], DRAFT).await);
        let delivery = harness.webhooks.delivery(id.as_str()).await.unwrap();
        let reason = r#"The payload filter is not met: state equals "open"."#;
        assert_eq!(delivery.error.as_deref(), Some(reason));
        harness.stop().await;
    })
    .await;
}

/// As with the event filter, a filtered delivery uses neither a permit nor a key.
#[tokio::test]
async fn a_filtered_delivery_is_no_duplicate_and_does_not_count_for_the_rate_limit() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let mut members = only_open();
        members["rate_limit_per_minute"] = json!(1);
        let webhook = open_webhook(&harness, members).await;
        let key = [("x-request-id", "one")];
        filtered(post(&harness, &webhook, &key, DRAFT).await);
        filtered(post(&harness, &webhook, &key, DRAFT).await);
        accepted(post(&harness, &webhook, &key, OPEN).await);
        // The key is now known, but the filter is applied before the check for duplicates.
        filtered(post(&harness, &webhook, &key, DRAFT).await);
        let again = post(&harness, &webhook, &key, OPEN).await;
        assert!(matches!(again, Ok(Ingested::Deduplicated(_))), "{again:?}");
        harness.stop().await;
    })
    .await;
}

/// As with the event filter, a replay is not filtered, because the owner requested it.
#[tokio::test]
async fn a_replay_is_not_filtered() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let webhook = open_webhook(&harness, only_open()).await;
        harness.work();
        let id = accepted(post(&harness, &webhook, &[], OPEN).await);
        harness.until_all(&[0], DeliveryStatus::Completed).await;
        let closed = json!({ "payload_filter": [{ "path": "state", "is": "missing" }] });
        update(&harness, webhook.id.as_str(), closed).await.unwrap();
        let replay = harness.webhooks.replay(id.as_str()).await.unwrap();
        assert_eq!(replay.status, DeliveryStatus::Queued);
        let edit = Edit {
            payload: Some(DRAFT.to_owned()),
            ..Edit::default()
        };
        let edited = harness.webhooks.replay_edited(id.as_str(), &edit).await;
        assert_eq!(edited.unwrap().status, DeliveryStatus::Queued);
        harness.until_all(&[0, 0], DeliveryStatus::Completed).await;
        let mut sent = harness.inbox().await;
        sent.sort();
        assert_eq!(sent, ["1", "1", "2"]);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_delivery_that_was_held_while_sealed_is_filtered_after_the_unseal() {
    everywhere(async |database, model| {
        let settings = WebhooksSettings {
            hold_while_sealed: true,
            ..settings()
        };
        let harness = Harness::open_with(&database, &model, settings).await;
        harness.initialize_vault().await;
        let webhook = open_webhook(&harness, only_open()).await;
        harness.seal().await;
        harness.work();
        let id = accepted(post(&harness, &webhook, &[], DRAFT).await);
        harness.unseal().await;
        let row = loop {
            if let Some(row) = rows(&harness).await.into_iter().find(|row| row.id == id) {
                break row;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert_eq!(row.status, DeliveryStatus::Filtered);
        assert!(row.error.unwrap().contains("state equals"));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_sample_is_filtered_like_a_delivery() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let members = json!({
            "name": "n", "source_profile": "github",
            "payload_filter": [{ "path": "no.such.field", "is": "exists" }],
        });
        let webhook = create(&harness, members).await.webhook;
        let tested = harness
            .webhooks
            .test(&Actor::cli(), webhook.id.as_str(), None)
            .await;
        assert_eq!(tested.unwrap().status, DeliveryStatus::Filtered);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn conditions_are_shown_changed_and_cleared_and_a_schedule_has_none() {
    everywhere(async |database, model| {
        let harness = Harness::open(&database, &model).await;
        let plain = open_webhook(&harness, json!({})).await;
        assert_eq!(as_json(&plain).get("payload_filter"), None);
        let conditions = json!([
            { "path": "a.0", "is": "equals", "value": null },
            { "path": "b", "is": "missing" },
        ]);
        let set = json!({ "payloadFilter": conditions });
        let id = plain.id.as_str();
        let changed = update(&harness, id, set).await.unwrap();
        assert_eq!(as_json(&changed.webhook)["payload_filter"], conditions);
        let named = update(&harness, id, json!({ "name": "m" })).await.unwrap();
        assert_eq!(as_json(&named.webhook)["payload_filter"], conditions);
        let cleared = json!({ "payload_filter": null });
        let cleared = update(&harness, id, cleared).await.unwrap();
        assert_eq!(as_json(&cleared.webhook).get("payload_filter"), None);

        let wrong = json!({ "name": "n", "payload_filter": [{ "path": "a", "is": "is" }] });
        let invalid = (ErrorCode::InvalidParams, "payload_filter".to_owned());
        assert_eq!(refused(&harness, wrong).await, invalid);
        let schedule = json!({
            "name": "n", "source_profile": "schedule", "schedule": { "every_seconds": 60 },
            "payload_filter": conditions,
        });
        assert_eq!(refused(&harness, schedule).await, invalid);
        harness.stop().await;
    })
    .await;
}
