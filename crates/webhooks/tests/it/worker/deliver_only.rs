//! Deliveries that are sent to a channel.

use super::harness::{Harness, everywhere};
use gatehouse_channels::InboxFilter;
use gatehouse_domain::DeliveryStatus;
use serde_json::json;

#[tokio::test]
async fn the_whole_payload_goes_to_the_inbox_unless_something_else_is_said() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let plain = harness.webhook("a", json!({ "deliver_only": true })).await;
        let more = json!({ "deliver_only": true, "prompt_template": "{text}! {missing}" });
        let templated = harness.webhook("b", more).await;
        harness.work();
        harness.arrive(&plain, &[(1, "a")]).await;
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!(
            (done.input_tokens, done.session_id, done.attempts),
            (None, None, 1)
        );
        assert_eq!(done.outcome, None, "the summary says more than JSON");
        assert_eq!(done.channel.as_deref(), Some("Inbox"));
        harness.arrive(&templated, &[(2, "b")]).await;
        let done = harness.until(2, DeliveryStatus::Completed).await;
        assert_eq!(done.outcome.as_deref(), Some("hello 2! {missing}"));
        let expected = [
            "{\n  \"n\": 1,\n  \"text\": \"hello 1\"\n}",
            "hello 2! {missing}",
        ];
        assert_eq!(harness.inbox().await, expected);
        assert_eq!(model.seen().len(), 0, "no agent and no tokens");
        let message = harness
            .channels
            .list_inbox(&InboxFilter::default(), 1, None)
            .await
            .unwrap();
        assert_eq!(message.messages[0].source, "b");
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_channel_that_is_gone_fails_the_delivery_at_once() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let more = json!({ "deliver_only": true, "deliver_to": "telegram:gone" });
        let webhook = harness.webhook("a", more).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        let failed = harness.until(1, DeliveryStatus::Failed).await;
        assert_eq!(failed.attempts, 1);
        assert!(failed.error.is_some());
        harness.stop().await;
    })
    .await;
}
