//! The counted usage of model calls whose answers ended early.

use crate::fake_model::{Part, Reaction};
use crate::harness::{Harness, chat, until, until_done};
use gatehouse_agents::{ModelCall, UsageBy, UsageQuery, UsageStat};
use gatehouse_domain::Actor;
use gatehouse_models::{ChatMessage, ChatRequest};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Semaphore;

async fn used(harness: &Harness) -> Vec<UsageStat> {
    let query = UsageQuery {
        from: None,
        until: None,
        by: UsageBy::Model,
    };
    harness.agents.usage_stats(query).await.unwrap().rows
}

/// Streams these parts and then hangs.
fn hangs_after(parts: impl IntoIterator<Item = Part>) -> Reaction {
    let end = Part::Wait(Arc::new(Semaphore::new(0)));
    Reaction::Parts(parts.into_iter().chain([end]).collect(), "stop".to_owned())
}

/// Stops a turn after its first text has arrived. Returns the usage of the turn.
async fn stopped(harness: &Harness, parts: impl IntoIterator<Item = Part>) -> UsageStat {
    harness.model.will([hangs_after(parts)]);
    let mut events = harness.agents.subscribe();
    let sent = harness.agents.send(chat(None, "hello")).await.unwrap();
    until(&mut events, "chat.delta").await;
    harness.agents.abort(sent.session.as_str()).await.unwrap();
    until_done(&mut events).await;
    used(harness).await.remove(0)
}

#[tokio::test]
async fn reasoning_counts() {
    let harness = Harness::new().await;
    let thought = Part::Thought("hm, ".repeat(100));
    let row = stopped(&harness, [thought, Part::text("So")]).await;
    assert_eq!((row.output_tokens, row.turns), (101, 1));
    assert!(row.input_tokens > 0, "{row:?}");
    assert_eq!(
        row.estimated_tokens,
        Some(row.input_tokens + row.output_tokens),
        "nothing was reported"
    );
}

#[tokio::test]
async fn a_call_that_is_not_complete_counts() {
    let harness = Harness::new().await;
    let call = json!({ "index": 0, "id": "call_1", "type": "function",
        "function": { "name": "save", "arguments": "x".repeat(400) } });
    let parts = [
        Part::Delta(json!({ "tool_calls": [call] })),
        Part::text("So"),
    ];
    let row = stopped(&harness, parts).await;
    assert!((100..120).contains(&row.output_tokens), "{row:?}");
}

#[tokio::test]
async fn what_was_reported_before_the_end_is_not_estimated() {
    let harness = Harness::new().await;
    let usage = json!({ "prompt_tokens": 1000, "completion_tokens": 1,
        "prompt_tokens_details": { "cached_tokens": 900 } });
    let frame = json!({ "choices": [], "usage": usage });
    let parts = [Part::Frame(frame), Part::text(&"word ".repeat(40))];
    let row = stopped(&harness, parts).await;
    assert_eq!((row.input_tokens, row.cached_tokens), (1000, 900));
    assert_eq!((row.output_tokens, row.estimated_tokens), (50, Some(49)));
}

#[tokio::test]
async fn an_answer_that_is_complete_is_not_estimated() {
    let harness = Harness::new().await;
    harness.say(None, "hello").await;
    assert_eq!(used(&harness).await[0].estimated_tokens, None);
}

/// If calls that are dropped early did not count, a caller could use any amount of input.
#[tokio::test]
async fn a_call_without_an_agent_that_is_dropped_before_its_answer_begins_counts() {
    let harness = Harness::new().await;
    let call = ModelCall {
        provider: "fake".to_owned(),
        model: "m1".to_owned(),
        request: ChatRequest {
            messages: vec![ChatMessage::user("word ".repeat(400))],
            ..ChatRequest::default()
        },
        actor: Actor::cli(),
    };
    // Until one is dropped after the provider has accepted the request.
    let dropping = async {
        for patience in 0.. {
            harness.model.will([hangs_after([])]);
            let asking = harness.agents.call_model(call.clone());
            let leaving = async {
                harness.model.until(patience + 1).await;
                for _ in 0..patience {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                answer = asking => panic!("it has answered: {}", answer.is_ok()),
                () = leaving => {}
            }
            if !used(&harness).await.is_empty() {
                break;
            }
        }
    };
    let in_time = tokio::time::timeout(std::time::Duration::from_mins(1), dropping).await;
    assert!(in_time.is_ok(), "nothing was counted");
    let row = used(&harness).await.remove(0);
    assert!(row.input_tokens >= 500, "{row:?}");
    assert_eq!(row.output_tokens, 0);
    assert!(row.estimated_tokens >= Some(500));
}
