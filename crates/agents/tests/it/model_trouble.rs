//! Failing models, fallback models, and the allowed content of a request.

use crate::fake_model::{Reaction, say, too_long};
use crate::harness::{Harness, TestTool, chat, problem_of};
use gatehouse_agents::{AgentChanges, Audience, Stop, Tool};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Barrier;

fn delta(delta: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta }] })
}

fn broken() -> Value {
    json!({ "error": { "message": "Overloaded", "type": "overloaded_error" } })
}

async fn change(harness: &Harness, change: Value) {
    let mut whole = json!({ "id": "default" });
    for (name, value) in change.as_object().unwrap() {
        whole[name] = value.clone();
    }
    let change: AgentChanges = serde_json::from_value(whole).unwrap();
    harness.agents.update_agent(change).await.unwrap();
}

#[tokio::test]
async fn a_step_of_which_nothing_was_shown_starts_again() {
    let harness = Harness::new().await;
    let thought = Reaction::Frames(vec![
        delta(&json!({ "reasoning_content": "Hm." })),
        broken(),
    ]);
    harness.model.will([thought.clone(), thought, say("Here.")]);
    let report = harness.say(None, "hello").await;
    assert!(report.error.is_none(), "{:?}", report.error);
    assert_eq!(report.text, "Here.");
    assert_eq!(harness.model.seen().len(), 3);
    let spoken = harness.spoken(report.session.as_str()).await;
    assert_eq!(spoken.len(), 2, "{spoken:?}");
}

#[tokio::test]
async fn an_answer_that_was_shown_and_broke_off_is_kept_and_says_so() {
    let harness = Harness::new().await;
    change(&harness, json!({ "fallback": ["fake/m2"] })).await;
    harness
        .model
        .will([Reaction::Break("Half an ans".to_owned())]);
    let report = harness.say(None, "hello").await;
    assert_eq!(
        (report.text.as_str(), report.stop),
        ("Half an ans", Stop::Error)
    );
    let (code, text) = problem_of(report.error.unwrap());
    assert_eq!(code, "PROVIDER_FAILED");
    assert!(text.ends_with("The answer so far is kept."), "{text}");
    assert_eq!(harness.model.seen().len(), 1);
}

#[tokio::test]
async fn the_next_model_takes_over_where_nothing_was_shown() {
    let harness = Harness::new().await;
    change(
        &harness,
        json!({ "fallback": ["nobody/m", "fake/m2", "fake/m3"] }),
    )
    .await;
    let unknown = json!({ "error": { "code": "model_not_found", "message": "no" } });
    harness
        .model
        .will([Reaction::Refuse(404, unknown.clone()), say("From m2.")]);
    let report = harness.say(None, "hello").await;
    assert!(report.error.is_none(), "{:?}", report.error);
    let models: Vec<_> = harness
        .model
        .seen()
        .iter()
        .map(|r| r["model"].clone())
        .collect();
    assert_eq!(models, ["m1", "m2"]);
    let page = harness
        .agents
        .history(report.session.as_str(), 10, None)
        .await
        .unwrap();
    let answer = page.messages.last().unwrap();
    assert_eq!(answer.model.as_deref(), Some("fake/m2"));
    // When all models fail, the error of the first model is reported, because that model was
    // chosen.
    let busy = json!({ "error": { "message": "no", "type": "invalid_request_error" } });
    harness.model.will([
        Reaction::Refuse(404, unknown),
        Reaction::Refuse(400, busy.clone()),
        Reaction::Refuse(400, busy),
    ]);
    let report = harness.say(None, "hello").await;
    let problem = report.error.unwrap();
    assert_eq!(problem.details["reason"], "unknown_model");
    assert_eq!(harness.model.seen().len(), 5);
}

#[tokio::test]
async fn calls_of_one_answer_run_at_the_same_time_and_their_answers_keep_the_order() {
    let harness = Harness::new().await;
    let both = Arc::new(Barrier::new(2));
    for name in ["first", "second"] {
        let both = Arc::clone(&both);
        let tool = TestTool::new(name, Audience::Public, move |_, input| {
            let both = Arc::clone(&both);
            Box::pin(async move {
                // Passes only while both calls run. The later call ends first.
                both.wait().await;
                if input["x"] == 1 {
                    tokio::task::yield_now().await;
                }
                Ok(input["x"].to_string())
            })
        });
        harness.agents.tools().register(tool);
    }
    let call = |name: &str, x: i64| (name.to_owned(), json!({ "x": x }).to_string());
    let calls = vec![call("first", 1), call("second", 2)];
    harness
        .model
        .will([Reaction::Call(String::new(), calls), say("done")]);
    let report = harness.say(None, "both").await;
    let tools: Vec<_> = report
        .actions
        .iter()
        .map(|action| action.tool.as_str())
        .collect();
    assert_eq!(tools, ["first", "second"]);
    let sent = harness.model.messages(1);
    let ids: Vec<_> = sent
        .iter()
        .filter(|m| m["role"] == "tool")
        .map(|m| &m["tool_call_id"])
        .collect();
    assert_eq!(ids, ["call_0", "call_1"]);
    assert!(sent[3]["content"].as_str().unwrap().contains("\n1\n"));
}

#[tokio::test]
async fn at_most_128_tools_are_offered_and_the_important_ones_first() {
    let harness = Harness::new().await;
    let tools = harness.agents.tools();
    tools.register(TestTool::double("zz_built_in", Audience::Public));
    let many = |server: &str| -> Vec<Arc<dyn Tool>> {
        let tool = |n| {
            TestTool::double(&format!("mcp__{server}__{n:03}"), Audience::Public) as Arc<dyn Tool>
        };
        (0..100).map(tool).collect()
    };
    tools.replace_group("a", many("a"));
    tools.replace_group("b", many("b"));
    harness.say(None, "hello").await;
    let offered = harness.model.offered(0);
    assert_eq!(offered.len(), 128);
    assert!(offered.contains(&"zz_built_in".to_owned()));
    assert!(!offered.contains(&"mcp__b__099".to_owned()));
    assert!(offered.is_sorted());
    // Tools that the agent names are offered first.
    change(
        &harness,
        json!({ "tools": { "allow": ["*", "mcp__b__099"], "deny": [] } }),
    )
    .await;
    harness.say(None, "hello").await;
    let offered = harness.model.offered(1);
    assert_eq!(offered.len(), 128);
    assert!(offered.contains(&"mcp__b__099".to_owned()));
}

/// Returns the estimated tokens of a text.
fn tokens(text: &str) -> usize {
    text.len() / 4 + 4
}

#[tokio::test]
async fn tools_take_at_most_half_of_the_context() {
    let harness = Harness::new().await;
    for n in 0..120 {
        let tool = TestTool::double(&format!("tool_{n:03}"), Audience::Public);
        harness.agents.tools().register(tool);
    }
    let request = |model: &str| {
        let mut request = chat(None, "hello");
        request.model = Some(format!("fake/{model}"));
        request
    };
    harness.agents.send_sync(request("m1")).await.unwrap();
    let all = harness.model.seen()[0]["tools"].clone();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 120);
    let function = &all[0]["function"];
    let one = tokens(function["description"].as_str().unwrap())
        + tokens(&function["parameters"].to_string());
    // The vendor documents 8,192 tokens for this model. All tools have the same size.
    let fit = 8_192 / 2 / one;
    harness.agents.send_sync(request("gpt-4")).await.unwrap();
    let offered = harness.model.offered(1);
    assert_eq!(offered.len(), fit);
    assert_eq!(offered.last().unwrap(), &format!("tool_{:03}", fit - 1));
}

#[tokio::test]
async fn tools_that_a_small_model_has_no_room_for_are_left_out() {
    let harness = Harness::new().await;
    let tool = TestTool::double("double", Audience::Public);
    harness.agents.tools().register(tool);
    // The conversation is shortened first.
    harness.model.will([too_long(), too_long(), say("Hello.")]);
    let report = harness.say(None, "hello").await;
    assert!(report.error.is_none(), "{:?}", report.error);
    assert_eq!(report.text, "Hello.");
    let offered: Vec<_> = (0..3).map(|n| harness.model.offered(n).len()).collect();
    assert_eq!(offered, [1, 1, 0]);
    // If the conversation is too long even without tools, the turn fails.
    harness.model.will([too_long(), too_long(), too_long()]);
    let report = harness.say(None, "hello").await;
    assert!(report.error.is_some());
    assert_eq!(harness.model.seen().len(), 6);
}

#[tokio::test]
async fn a_model_of_unknown_size_gets_no_more_than_a_cautious_amount() {
    let harness = Harness::new().await;
    let text = "word ".repeat(12_000);
    let first = harness.say(None, &text).await;
    let session = first.session.to_string();
    for _ in 0..6 {
        harness.say(Some(&session), &text).await;
    }
    let largest = harness
        .model
        .seen()
        .iter()
        .map(|body| body.to_string().len())
        .max();
    assert!(largest.unwrap() < 140_000, "{largest:?}");
}

#[tokio::test]
async fn effort_and_limit_of_the_agent_are_sent() {
    let harness = Harness::new().await;
    change(
        &harness,
        json!({ "reasoning_effort": "high", "max_output_tokens": 700 }),
    )
    .await;
    harness.say(None, "hello").await;
    let seen = &harness.model.seen()[0];
    assert_eq!(
        (&seen["reasoning_effort"], &seen["max_tokens"]),
        (&json!("high"), &json!(700))
    );
    change(
        &harness,
        json!({ "reasoning_effort": null, "max_output_tokens": null }),
    )
    .await;
    harness.say(None, "hello").await;
    let seen = &harness.model.seen()[1];
    assert!(seen.get("reasoning_effort").is_none() && seen.get("max_tokens").is_none());
    for bad in [
        json!({ "max_output_tokens": 0 }),
        json!({ "fallback": ["no-provider"] }),
        json!({ "fallback": ["a/b", "a/b", "a/b", "a/b", "a/b", "a/b"] }),
    ] {
        let mut whole = bad.clone();
        whole["id"] = json!("default");
        let change: AgentChanges = serde_json::from_value(whole).unwrap();
        assert!(harness.agents.update_agent(change).await.is_err(), "{bad}");
    }
    let request = chat(None, "hello");
    assert!(
        harness
            .agents
            .send_sync(request)
            .await
            .unwrap()
            .error
            .is_none()
    );
}
