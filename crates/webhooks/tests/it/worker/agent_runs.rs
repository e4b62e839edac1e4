//! Deliveries that an agent processes.

use super::harness::{Harness, everywhere, id};
use super::model::{FakeModel, call_once, finish};
use gatehouse_domain::DeliveryStatus;
use gatehouse_doubles::openai::{last_text, refuse};
use gatehouse_store::testing::TestDatabase;
use serde_json::json;

#[tokio::test]
async fn an_agent_receives_a_delivery_and_its_work_is_recorded() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let more = json!({ "toolPolicy": { "allow": ["*"], "deny": [] },
            "system_prompt_suffix": "Be brief." });
        let webhook = harness.webhook("a", more).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "webhook:wh_a:1")]).await;
        let begun = harness.until(1, DeliveryStatus::Processing).await;
        assert_eq!(begun.attempts, 1);
        assert!(begun.started_at.is_some());
        let done = harness.until(1, DeliveryStatus::Completed).await;
        assert_eq!((done.input_tokens, done.output_tokens), (Some(10), Some(3)));
        assert_eq!(done.error, None);
        assert!(done.duration_ms.is_some() && done.finished_at.is_some());
        assert_eq!(done.session_key.as_deref(), Some("webhook:wh_a:1"));

        let asked = model.seen();
        assert_eq!(asked.len(), 1);
        let text = last_text(&asked[0]);
        assert!(text.starts_with("Webhook delivery received.\n"), "{text}");
        assert!(text.contains("Webhook: a (wh_a)") && text.contains("Delivery: del_00000001"));
        assert!(asked[0].to_string().contains("Be brief."));

        let session = harness.agents.get_session("webhook:wh_a:1").await.unwrap();
        assert_eq!(done.session_id.as_deref(), Some(session.id.as_str()));
        assert_eq!(
            (session.key.as_str(), session.label.as_str()),
            ("webhook:wh_a:1", "webhook:wh_a:1")
        );
        let history = harness.agents.history("webhook:wh_a:1", 10, None).await;
        let messages = history.unwrap().messages;
        let of: Vec<_> = messages.iter().map(|it| it.delivery_id.as_ref()).collect();
        assert_eq!(of, [Some(&done.id), None]);
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn without_a_policy_there_are_no_tools_and_with_one_only_public_ones() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        harness.webhooks.register_tools(harness.agents.tools());
        let without = harness.webhook("a", json!({})).await;
        let any = json!({ "toolPolicy": { "allow": ["*"], "deny": [] } });
        let with = harness.webhook("b", any).await;
        harness.work();
        harness.arrive(&without, &[(1, "a")]).await;
        harness.until(1, DeliveryStatus::Completed).await;
        harness.arrive(&with, &[(2, "b")]).await;
        harness.until(2, DeliveryStatus::Completed).await;
        for request in model.seen() {
            assert!(!request.to_string().contains("rotate_secret"), "{request}");
            let offered = request["tools"].as_array().map_or(0, Vec::len);
            assert_eq!(
                offered, 0,
                "only the trusted tools of this room are registered here"
            );
        }
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn what_the_agent_did_is_in_the_record() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.answer(call_once("webhook", json!({ "action": "list" })));
        harness.webhooks.register_tools(harness.agents.tools());
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        let done = harness.until(1, DeliveryStatus::Completed).await;
        let record = harness.webhooks.delivery(done.id.as_str()).await.unwrap();
        let actions: Vec<_> = record
            .response_actions
            .iter()
            .map(|action| (action.tool.as_str(), action.status.as_str()))
            .collect();
        assert_eq!(actions, [("webhook", "denied")]);
        assert_eq!((done.input_tokens, done.output_tokens), (Some(20), Some(6)));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_turn_that_ends_in_an_error_fails_the_delivery_at_once() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        model.answer(|_| refuse("no"));
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        harness.arrive(&webhook, &[(1, "a")]).await;
        let failed = harness.until(1, DeliveryStatus::Failed).await;
        assert_eq!(failed.attempts, 1);
        assert!(failed.error.is_some_and(|error| !error.is_empty()));
        assert!(
            failed.session_id.is_some(),
            "the session shows what happened"
        );
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_turn_without_an_answer_fails_the_delivery_at_once() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness.webhook("a", json!({})).await;
        harness.work();
        for (number, delta, reason, expected) in [
            (1, json!({ "refusal": "I will not." }), "stop", "refused"),
            (2, json!({ "content": "Hal" }), "content_filter", "filter"),
            (3, json!({ "content": " " }), "stop", "empty"),
        ] {
            model.answer(move |_| finish(delta.clone(), reason));
            harness.arrive(&webhook, &[(number, "a")]).await;
            let failed = harness.until(number, DeliveryStatus::Failed).await;
            let error = failed.error.unwrap();
            assert!(error.contains(expected), "{error}");
            assert_eq!(failed.attempts, 1);
        }
        // A truncated answer is still an answer.
        model.answer(|_| finish(json!({ "content": "Hal" }), "length"));
        harness.arrive(&webhook, &[(4, "a")]).await;
        harness.until(4, DeliveryStatus::Completed).await;
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_deleted_agent_is_reported_in_the_delivery() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let no_agent = harness.webhook("a", json!({ "agent": "nobody" })).await;
        harness.work();
        harness.arrive(&no_agent, &[(1, "a")]).await;
        let failed = harness.until(1, DeliveryStatus::Failed).await;
        let error = failed.error.unwrap();
        assert!(
            error.contains("agent of this webhook no longer exists"),
            "{error}"
        );
        assert_eq!((failed.attempts, model.seen().len()), (1, 0));
        harness.stop().await;
    })
    .await;
}

#[tokio::test]
async fn deleting_a_webhook_ends_its_run_and_the_session_stays() {
    everywhere(delete_while_running).await;
}

async fn delete_while_running(database: TestDatabase, model: FakeModel) {
    let harness = Harness::open(&database, &model).await;
    model.hold();
    let webhook = harness.webhook("a", json!({})).await;
    let other = harness.webhook("b", json!({})).await;
    harness.work();
    // The second delivery waits for the first. The third belongs to another webhook but shares the session.
    harness
        .arrive(&webhook, &[(1, "shared"), (2, "shared")])
        .await;
    harness.arrive(&other, &[(3, "shared")]).await;
    model.until(1).await;
    harness
        .webhooks
        .delete(&gatehouse_domain::Actor::cli(), "hook_a")
        .await
        .unwrap();
    model.until(2).await;
    let text = last_text(&model.seen()[1]);
    assert!(text.contains("Delivery: del_00000003"), "{text}");
    model.release(10);
    harness.until(3, DeliveryStatus::Completed).await;
    harness.webhooks.purge().await.unwrap();
    assert_eq!(harness.find(1).await, None);
    assert_eq!(harness.find(2).await, None);
    assert!(harness.agents.get_session("shared").await.is_ok());
    harness.stop().await;
}

#[tokio::test]
async fn a_disabled_webhook_holds_what_it_accepted_which_then_runs_with_its_configuration() {
    everywhere(|database, model| async move {
        let harness = Harness::open(&database, &model).await;
        let webhook = harness
            .webhook("a", json!({ "system_prompt_suffix": "As received." }))
            .await;
        harness.arrive(&webhook, &[(1, "a")]).await;
        let change = serde_json::from_value(json!({
            "enabled": false, "system_prompt_suffix": "Changed since."
        }));
        let actor = gatehouse_domain::Actor::cli();
        harness
            .webhooks
            .update(&actor, "hook_a", change.unwrap())
            .await
            .unwrap();
        harness.work();
        harness.worker_has_looked().await;
        assert_eq!((harness.row(1).await.attempts, model.seen().len()), (0, 0));
        let enable = serde_json::from_value(json!({ "enabled": true }));
        harness
            .webhooks
            .update(&actor, "hook_a", enable.unwrap())
            .await
            .unwrap();
        harness.until(1, DeliveryStatus::Completed).await;
        let request = model.seen()[0].to_string();
        assert!(request.contains("As received.") && !request.contains("Changed since."));
        assert_eq!(harness.row(1).await.id, id(1));
        harness.stop().await;
    })
    .await;
}
