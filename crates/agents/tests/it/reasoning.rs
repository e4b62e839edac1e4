//! Reasoning is stored beside the answer and shown in the history. It is returned only to the model that wrote it.

use crate::fake_model::{Reaction, say};
use crate::harness::{Harness, TestTool, chat, harnesses};
use gatehouse_agents::Audience;
use gatehouse_domain::Actor;
use serde_json::{Value, json};

fn delta(delta: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta }] })
}

/// Thinks, then calls `calc`.
fn step() -> Reaction {
    let call = json!({ "index": 0, "id": "call_0", "type": "function",
        "function": { "name": "calc", "arguments": "{\"x\":21}" },
        "extra_content": { "google": { "thought_signature": "sig" } } });
    Reaction::Frames(vec![
        delta(&json!({ "reasoning_content": "SECRET " })),
        delta(&json!({ "reasoning_content": "THOUGHT" })),
        delta(&json!({ "tool_calls": [call] })),
    ])
}

#[tokio::test]
async fn the_state_of_a_step_returns_with_its_result_and_only_to_its_model() {
    for harness in harnesses().await {
        harness
            .agents
            .tools()
            .register(TestTool::double("calc", Audience::Public));
        harness
            .model
            .will([step(), say("<think>More THOUGHT.</think>42")]);
        let report = harness.say(None, "twice 21").await;
        assert_eq!(report.text, "42");
        let session = report.session.to_string();
        let step = &harness.model.messages(1)[2];
        assert_eq!(step["reasoning_content"], "SECRET THOUGHT");
        let extra = &step["tool_calls"][0]["extra_content"];
        assert_eq!(extra["google"]["thought_signature"], "sig");
        // Later turns get the reasoning too, because the turn called a tool.
        harness.say(Some(&session), "and now").await;
        assert_eq!(
            harness.model.messages(2)[2]["reasoning_content"],
            "SECRET THOUGHT"
        );
        // Another model of the same provider gets no reasoning.
        let mut request = chat(Some(&session), "again");
        request.model = Some("fake/other".to_owned());
        harness.agents.send_sync(request).await.unwrap();
        let sent = harness.model.seen()[3].to_string();
        assert!(
            !sent.contains("THOUGHT") && !sent.contains("sig\""),
            "{sent}"
        );
    }
}

#[tokio::test]
async fn reasoning_is_in_the_history_and_in_no_answer() {
    for harness in harnesses().await {
        harness
            .model
            .will([say("<think>THOUGHT</think>\n\nHello.")]);
        let mut events = harness.agents.subscribe();
        let report = harness.say(None, "hello").await;
        assert_eq!(report.text, "Hello.");
        let session = report.session.to_string();
        let page = harness.agents.history(&session, 10, None).await.unwrap();
        let answer = serde_json::to_value(page.messages.last().unwrap()).unwrap();
        assert_eq!(
            (&answer["content"], &answer["reasoning"]),
            (&json!("Hello."), &json!("THOUGHT"))
        );
        assert!(answer.get("reasoning_state").is_none());
        while let Ok(event) = events.try_recv() {
            if event.name() == "chat.delta" {
                assert!(!serde_json::to_string(&event).unwrap().contains("THOUGHT"));
            }
        }
        let share = harness
            .agents
            .share_session(&Actor::cli(), &session)
            .await
            .unwrap();
        let shared = harness
            .agents
            .shared_session(&share.id)
            .await
            .unwrap()
            .unwrap();
        assert!(!format!("{shared:?}").contains("THOUGHT"));
        // Without tool calls, the next request does not contain the reasoning.
        harness.say(Some(&session), "and now").await;
        assert!(!harness.model.seen()[1].to_string().contains("THOUGHT"));
    }
}

#[tokio::test]
async fn an_answer_of_reasoning_alone_is_empty() {
    let harness = Harness::new().await;
    harness.model.will([say("<think>THOUGHT without end")]);
    let report = harness.say(None, "hello").await;
    assert!(!report.has_answer);
    assert_eq!(report.text, "");
}
