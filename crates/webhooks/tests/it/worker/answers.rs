//! Answers of agents that go to a channel, and the tool `channel_send`.

use super::crashes::let_the_lease_end;
use super::harness::{Harness, everywhere, id, leave_in_work};
use super::model::{call_once, finish};
use super::retries::Receiver;
use super::tools::call;
use gatehouse_domain::DeliveryStatus;
use gatehouse_doubles::openai::{last_text, say};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn an_answer_goes_to_the_channel_that_the_webhook_names() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.answer(call_once("calc", json!({})));
        let receiver = Receiver::start().await;
        let target = receiver.account(&harness, json!({})).await;
        let webhook = harness.webhook("a", json!({ "deliver_to": target })).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!(
            (done.attempts, done.error, done.delivered_at),
            (1, None, done.finished_at)
        );
        assert!(done.delivered_at.is_some());
        assert_eq!((done.input_tokens, done.output_tokens), (Some(20), Some(6)));
        assert!(done.session_id.is_some());
        let row = harness.row(1).await;
        assert!(row.response_actions.contains("calc"), "{row:?}");
        assert_eq!(receiver.texts(), ["done"]);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_template_places_the_answer_among_the_fields_of_the_payload() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.answer(|_| say("Braces {text} stay."));
        let more = json!({ "deliver_to": "inbox", "prompt_template": "{n}: {answer} ({text})" });
        let webhook = harness.webhook("a", more).await;
        let without = harness.webhook("b", json!({})).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.until(1, DeliveryStatus::Completed).await;
        harness.arrive(&without, &[(2, "b")]).await;
        let done = harness.until(2, DeliveryStatus::Completed).await;
        assert_eq!(
            done.delivered_at, None,
            "an answer without a target stays in its session"
        );
        assert_eq!(harness.inbox().await, ["1: Braces {text} stay. (hello 1)"]);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_send_that_fails_is_repeated_without_the_agent() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        receiver.answers(503, None);
        let target = receiver.account(&harness, json!({})).await;
        let webhook = harness.webhook("a", json!({ "deliver_to": target })).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        let mut waiting = harness.until(1, DeliveryStatus::Queued).await;
        assert_eq!(
            (waiting.attempts, waiting.error.as_deref()),
            (0, None),
            "the answer is stored, and nothing was sent yet"
        );
        for attempt in 1..=2 {
            waiting = harness.until(1, DeliveryStatus::Queued).await;
            assert_eq!(waiting.attempts, attempt);
            assert!(waiting.error.is_some() && waiting.session_id.is_some());
            if attempt == 2 {
                receiver.answers(200, None);
            }
            harness.advance(Duration::from_mins(2));
        }
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!(done.attempts, 3);
        assert_eq!(model.seen().len(), 1, "the agent ran once");
        assert_eq!(receiver.texts(), ["done", "done", "done"]);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_was_stored_before_a_crash_is_sent_after_it() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let receiver = Receiver::start().await;
        receiver.answers(503, None);
        let target = receiver.account(&harness, json!({})).await;
        let webhook = harness.webhook("a", json!({ "deliver_to": target })).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.until(1, DeliveryStatus::Queued).await;
        harness.until(1, DeliveryStatus::Queued).await;
        harness.stop().await;
        // The state after a process died while it sent the answer.
        leave_in_work(&database, 1, 1).await;

        receiver.answers(200, None);
        let harness = Harness::open(&database, &model).await;
        harness.work();
        let_the_lease_end(&harness).await;
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert!(done.delivered_at.is_some() && done.session_id.is_some());
        assert_eq!(model.seen().len(), 1, "the agent ran once");
        assert_eq!(receiver.texts().last().unwrap(), "done");
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_refused_answer_is_not_sent() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.answer(|_| finish(json!({ "refusal": "I will not." }), "stop"));
        let webhook = harness.webhook("a", json!({ "deliver_to": "inbox" })).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        let failed = harness.until(1, DeliveryStatus::Failed).await;
        assert_eq!(failed.delivered_at, None);
        assert!(harness.inbox().await.is_empty());
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_trusted_turn_sends_to_any_channel() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        harness.webhooks.register_tools(harness.agents.tools());
        let to = |target: &str| json!({ "target": target, "text": "hello" });
        call(&harness, "channel_send", to("inbox")).await.unwrap();
        assert_eq!(harness.inbox().await, ["hello"]);
        let unknown = call(&harness, "channel_send", to("slack:none")).await;
        assert!(unknown.unwrap_err().contains("inbox"));
        for text in ["", " ", &"x".repeat(64 * 1024 + 1)] {
            let input = json!({ "target": "inbox", "text": text });
            call(&harness, "channel_send", input).await.unwrap_err();
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn equal_texts_of_one_moment_are_different_messages() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        harness.webhooks.register_tools(harness.agents.tools());
        let receiver = Receiver::start().await;
        let target = receiver.account(&harness, json!({})).await;
        for _ in 0..2 {
            let input = json!({ "target": target, "text": "now" });
            call(&harness, "channel_send", input).await.unwrap();
        }
        assert_eq!(receiver.texts(), ["now", "now"]);
        let ids = receiver.ids();
        assert_ne!(ids[0], ids[1]);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_deliverys_turn_sends_only_to_the_channel_that_its_webhook_names() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        harness.webhooks.register_tools(harness.agents.tools());
        let with =
            |allow: &str| json!({ "deliver_to": "inbox", "toolPolicy": { "allow": [allow] } });
        let send = |target: &str| {
            let input = json!({ "target": target, "text": "now" });
            model.answer(call_once("channel_send", input));
        };
        let named = harness.webhook("a", with("channel_send")).await;
        let wildcard = harness.webhook("b", with("*")).await;
        harness.work();
        for (number, webhook, target, status) in [
            (1, &named, "inbox", "ok"),
            (2, &named, "log", "denied"),
            (3, &wildcard, "inbox", "denied"),
        ] {
            send(target);
            harness.arrive(webhook, &[(number, "a")]).await;
            harness.until(number, DeliveryStatus::Completed).await;
            let actions = harness.row(number).await.response_actions;
            assert!(actions.contains(status), "{number}: {actions}");
        }
        assert_eq!(harness.inbox().await, ["now", "done", "done", "done"]);
        let offered = |request: &Value| request["tools"].to_string().contains("channel_send");
        let offers: Vec<bool> = model.seen().iter().map(offered).collect();
        assert_eq!(offers, [true, true, true, true, false, false]);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_replay_of_an_answered_delivery_runs_the_agent() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({ "deliver_to": "inbox" })).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        harness.until(1, DeliveryStatus::Completed).await;
        harness.webhooks.replay(id(1).as_str()).await.unwrap();
        model.until(2).await;
        assert!(last_text(&model.seen()[1]).starts_with("Webhook delivery received."));
        harness.stop().await;
    })
    .await;
}
