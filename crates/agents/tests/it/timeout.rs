//! The timeout of a whole turn. The turns in these tests never end without one.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, TestTool, chat, until_done, webhook};
use gatehouse_agents::{AgentsSettings, Audience, ToolPolicy};
use gatehouse_domain::ErrorCode;
use serde_json::json;
use std::time::Duration;

fn limited(limit: Duration) -> AgentsSettings {
    AgentsSettings {
        turn_timeout: limit,
        ..AgentsSettings::default()
    }
}

#[tokio::test]
async fn a_model_that_hangs_ends_the_turn_at_its_limit_and_the_next_turn_runs() {
    let harness = Harness::with(AgentsSettings::default()).await;
    let mut events = harness.agents.subscribe();
    harness
        .model
        .will([Reaction::Hang("So far".to_owned()), say("next")]);
    harness
        .agents
        .update_settings(limited(Duration::from_secs(1)));
    let sent = harness.agents.send(chat(None, "go")).await.unwrap();
    let session = sent.session.as_str();
    let received = until_done(&mut events).await;
    let (_, done) = received.last().unwrap();
    assert_eq!(done["error"]["code"], ErrorCode::Timeout.name());
    let message = done["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("1 seconds (agents.turn_timeout_seconds)"),
        "{message}"
    );
    let spoken = harness.spoken(session).await;
    assert_eq!(spoken[1], ("assistant".to_owned(), "So far".to_owned()));
    harness.agents.update_settings(AgentsSettings::default());
    let report = harness.say(Some(session), "and now?").await;
    assert_eq!((report.text.as_str(), report.error), ("next", None));
}

#[tokio::test]
async fn a_webhooks_turn_that_a_tool_holds_ends_at_its_limit() {
    let harness = Harness::with(limited(Duration::from_millis(300))).await;
    let day = Duration::from_hours(24);
    let holds = TestTool::limited("calc", Audience::Public, day, |_, _| {
        Box::pin(std::future::pending())
    });
    harness.agents.tools().register(holds);
    harness.model.will([call("calc", &json!({ "x": 1 }))]);
    let turn = webhook("k", "go", Some(ToolPolicy::default()));
    let report = harness.agents.send_sync(turn).await.unwrap();
    assert_eq!(report.error.unwrap().code, ErrorCode::Timeout);
    assert!(!report.cancelled, "it was nobody's wish");
}

#[test]
fn the_default_limit_is_ten_minutes() {
    let limit = AgentsSettings::default().turn_timeout;
    assert_eq!(limit, Duration::from_mins(10));
}
