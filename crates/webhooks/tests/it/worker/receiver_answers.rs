//! The receiver's response to a delivery, as shown with its attempts.

use super::harness::{Harness, everywhere, id};
use super::retries::Receiver;
use gatehouse_domain::{Actor, DeliveryStatus};
use gatehouse_store::WebhookRow;
use gatehouse_webhooks::Delivery;
use secrecy::SecretString;
use serde_json::json;
use std::time::Duration;

/// 32 bytes, as Standard Webhooks requires.
const SIGNING: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const WEBHOOK_SECRET: &str = "the-secret-of-the-sender/1+2";

async fn shown(harness: &Harness, number: u32) -> Delivery {
    harness
        .webhooks
        .delivery(id(number).as_str())
        .await
        .unwrap()
}

/// Creates a webhook with [`WEBHOOK_SECRET`] that forwards to a channel.
async fn with_secret(harness: &Harness, target: &str) -> WebhookRow {
    let more = json!({
        "deliver_only": true,
        "deliver_to": target,
        "auth": { "mode": "static_header" },
    });
    let webhook = harness.webhook("a", more).await;
    let secret = Some(SecretString::from(WEBHOOK_SECRET));
    let (actor, hook) = (Actor::cli(), webhook.id.as_str());
    let rotated = harness.webhooks.rotate_secret(&actor, hook, secret, None);
    drop(rotated.await.unwrap());
    webhook
}

#[tokio::test]
async fn each_attempt_has_its_status_its_duration_and_the_answer_to_a_failure() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        receiver.answers(500, None);
        receiver.says("{\"error\": \"The disk is full.\"}\r\n");
        let target = receiver.account(&harness, json!({})).await;
        let text = "x".repeat(250);
        let more =
            json!({ "deliver_only": true, "deliver_to": target, "prompt_template": text.as_str() });
        let webhook = harness.webhook("a", more).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.until(1, DeliveryStatus::Queued).await;
        let waiting = shown(&harness, 1).await;
        let [failed] = waiting.failed_attempts.as_slice() else {
            panic!("{waiting:?}");
        };
        assert_eq!((failed.attempt, failed.status_code), (1, Some(500)));
        assert_eq!(
            failed.answer.as_deref(),
            Some("{\"error\": \"The disk is full.\"}")
        );
        let lasted = failed.ended_at.as_millis() - failed.started_at.as_millis();
        assert_eq!(failed.duration_ms, lasted);
        assert!(!failed.error.contains("disk"), "{}", failed.error);
        assert_eq!((waiting.outcome, waiting.channel), (None, None));

        receiver.answers(200, None);
        harness.advance(Duration::from_mins(1));
        harness.until(1, DeliveryStatus::Completed).await;
        let done = shown(&harness, 1).await;
        assert_eq!((done.attempts, done.failed_attempts.len()), (2, 1));
        assert_eq!((done.status_code, done.answer), (Some(200), None));
        assert_eq!(done.channel.as_deref(), Some("Receiver"));
        assert_eq!(done.outcome, Some(text));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_last_attempt_of_a_failed_delivery_has_the_answer_without_secrets_and_cut() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        receiver.answers(400, None);
        let headers = json!({ "Authorization": "Bearer abcd-1234" });
        let account = json!({ "secret": SIGNING, "headers": headers });
        let target = receiver.account(&harness, account).await;
        let webhook = with_secret(&harness, &target).await;
        let key = SIGNING.strip_prefix("whsec_").unwrap();
        let escaped = WEBHOOK_SECRET.replace('/', "\\/").replace('+', "%2B");
        let echoed = format!("{WEBHOOK_SECRET} {escaped} {SIGNING} {key} token=abcd-1234;");
        // The limit is inside a secret.
        let padding = "ä".repeat(430);
        receiver.says(&format!("{echoed}{padding}{WEBHOOK_SECRET} and more"));
        let mut last = harness.webhooks.last_failure();
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.until(1, DeliveryStatus::Failed).await;
        let failed = shown(&harness, 1).await;
        assert_eq!((failed.attempts, failed.status_code), (1, Some(400)));
        let reported = last.borrow_and_update().clone().unwrap();
        assert_eq!(reported.id, failed.id);
        let kept = harness.webhooks.take_failures();
        assert_eq!(kept.len(), 1);
        assert_eq!(
            (kept[0].status, kept[0].count, &kept[0].last),
            (DeliveryStatus::Failed, 1, &failed.id)
        );
        assert!(failed.failed_attempts.is_empty());
        assert_eq!((failed.outcome, failed.channel), (None, None));
        let redacted = "[redacted] [redacted] [redacted] [redacted] token=[redacted];";
        let whole = format!("{redacted}{padding}[redacted] and more");
        let expected: String = whole.chars().take(500).collect();
        assert_eq!(failed.answer, Some(expected));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_attempt_without_a_response_has_no_status() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        receiver.hang_up(true);
        let target = receiver.account(&harness, json!({})).await;
        let more = json!({ "deliver_only": true, "deliver_to": target });
        let webhook = harness.webhook("a", more).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.until(1, DeliveryStatus::Queued).await;
        let waiting = shown(&harness, 1).await;
        let [failed] = waiting.failed_attempts.as_slice() else {
            panic!("{waiting:?}");
        };
        assert_eq!((failed.status_code, failed.answer.as_deref()), (None, None));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_answer_is_not_stored_while_the_secrets_of_the_webhook_are_sealed() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        harness.initialize_vault().await;
        let receiver = Receiver::start().await;
        receiver.answers(400, None);
        receiver.says(WEBHOOK_SECRET);
        let target = receiver.account(&harness, json!({})).await;
        let webhook = with_secret(&harness, &target).await;
        harness.seal().await;
        harness.webhooks.reload().await.unwrap();
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.until(1, DeliveryStatus::Failed).await;
        let failed = shown(&harness, 1).await;
        assert_eq!((failed.status_code, failed.answer), (Some(400), None));
        harness.stop().await;
    })
    .await;
}
