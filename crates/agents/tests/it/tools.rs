//! A failed tool call becomes an answer to the model, and the turn continues.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, TestTool};
use gatehouse_agents::{Audience, ToolError};
use serde_json::json;
use std::time::Duration;

/// Returns the answer that the model gets for one call, and the status of the call.
async fn outcome(harness: &Harness, name: &str, arguments: &str) -> (String, String) {
    let before = harness.model.seen().len();
    let calls = vec![(name.to_owned(), arguments.to_owned())];
    harness
        .model
        .will([Reaction::Call(String::new(), calls), say("done")]);
    let report = harness.say(None, "go").await;
    assert_eq!(report.text, "done");
    let received = harness.model.messages(before + 1);
    let answer = received.last().unwrap();
    assert_eq!(answer["role"], "tool");
    (
        report.actions[0].status.as_str().to_owned(),
        answer["content"].as_str().unwrap().to_owned(),
    )
}

#[tokio::test]
async fn mistakes_of_the_model_are_returned_to_it() {
    let harness = Harness::new().await;
    harness
        .agents
        .tools()
        .register(TestTool::double("double", Audience::Public));
    for (name, arguments, expected) in [
        ("nothing", "{}", "no tool with this name"),
        ("double", "{", "not a JSON object"),
        ("double", "[1]", "not a JSON object"),
        ("double", "{}", "lacks the required field `x`"),
        ("double", "", "lacks the required field `x`"),
        ("double", "{\"x\":\"1\"}", "input.x must be of type integer"),
        ("double", "{\"x\":-1}", "input.x must be at least 0"),
        ("double", "{\"x\":1,\"y\":1}", "no field `y`"),
    ] {
        let (status, text) = outcome(&harness, name, arguments).await;
        assert_eq!(status, "error", "{arguments}");
        assert!(text.contains(expected), "{arguments}: {text}");
    }
}

#[tokio::test]
async fn mistakes_of_the_tool_are_returned_to_the_model() {
    let harness = Harness::new().await;
    let tools = harness.agents.tools();
    tools.register(TestTool::new("refuses", Audience::Public, |_, _| {
        Box::pin(async { Err(ToolError::new("Not today.")) })
    }));
    tools.register(TestTool::new("panics", Audience::Public, |_, _| {
        Box::pin(async { panic!("a secret") })
    }));
    tools.register(TestTool::new("panics_early", Audience::Public, |_, _| {
        panic!("a secret")
    }));
    let short = Duration::from_millis(10);
    tools.register(TestTool::limited(
        "hangs",
        Audience::Public,
        short,
        |_, _| Box::pin(std::future::pending()),
    ));
    for (name, expected) in [
        ("refuses", "Not today."),
        ("panics", "The tool failed."),
        ("panics_early", "The tool failed."),
        ("hangs", "did not respond within"),
    ] {
        let (status, text) = outcome(&harness, name, "{\"x\":1}").await;
        assert_eq!(status, "error", "{name}");
        assert!(text.contains(expected), "{name}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn output_is_cut_at_64_kib() {
    let harness = Harness::new().await;
    harness
        .agents
        .tools()
        .register(TestTool::new("long", Audience::Public, |_, input| {
            let length = usize::try_from(input["x"].as_u64().unwrap()).unwrap();
            Box::pin(async move { Ok("y".repeat(length)) })
        }));
    for (length, is_cut) in [(65_536, false), (65_537, true)] {
        let (status, text) = outcome(&harness, "long", &json!({ "x": length }).to_string()).await;
        assert_eq!(
            (status.as_str(), text.contains("truncated")),
            ("ok", is_cut),
            "{length}"
        );
    }
}

#[tokio::test]
async fn a_tool_knows_its_turn() {
    let harness = Harness::new().await;
    harness
        .agents
        .tools()
        .register(TestTool::new("who", Audience::Trusted, |context, _| {
            Box::pin(async move {
                assert!(!context.cancel.is_cancelled());
                Ok(format!(
                    "{} {} {}",
                    context.actor.name, context.session, context.turn
                ))
            })
        }));
    harness.model.will([call("who", &json!({ "x": 1 }))]);
    let report = harness.say(None, "go").await;
    let spoken = harness.spoken(report.session.as_str()).await;
    assert_eq!(
        spoken[2].1,
        format!("cli {} {}", report.session, report.turn_id)
    );
}

#[tokio::test]
async fn tools_that_come_and_go_are_offered_while_they_are_there() {
    let harness = Harness::new().await;
    let tools = harness.agents.tools();
    tools.replace_group(
        "x",
        vec![TestTool::double("mcp__x__double", Audience::Trusted)],
    );
    harness.say(None, "one").await;
    tools.replace_group("x", Vec::new());
    harness.say(None, "two").await;
    assert_eq!(harness.model.offered(0), ["mcp__x__double"]);
    assert!(harness.model.offered(1).is_empty());
}

#[tokio::test]
async fn of_many_calls_at_once_32_are_made() {
    let harness = Harness::new().await;
    harness
        .agents
        .tools()
        .register(TestTool::double("double", Audience::Public));
    let calls = (0..33).map(|x| ("double".to_owned(), json!({ "x": x }).to_string()));
    harness
        .model
        .will([Reaction::Call(String::new(), calls.collect())]);
    let report = harness.say(None, "go").await;
    let made = report
        .actions
        .iter()
        .filter(|a| a.status.as_str() == "ok")
        .count();
    assert_eq!((report.actions.len(), made), (33, 32));
}

#[tokio::test]
async fn a_name_that_the_model_invented_is_kept_but_not_sent_back() {
    let harness = Harness::new().await;
    let tools = harness.agents.tools();
    tools.register(TestTool::double("double", Audience::Public));
    let calls = ["no such tool!", "ä.b"].map(|name| (name.to_owned(), "{}".to_owned()));
    harness
        .model
        .will([Reaction::Call(String::new(), calls.to_vec())]);
    let report = harness.say(None, "go").await;
    let session = report.session.as_str();
    assert_eq!(report.actions[0].tool, "no such tool!");
    let history = harness.history(session).await;
    let stored = history[1].tool_calls.as_ref().unwrap();
    assert_eq!(stored[0].name, "no such tool!");
    assert_eq!(history[2].tool.as_deref(), Some("no such tool!"));
    harness.say(Some(session), "again").await;
    // The result is in the same turn and in the next turn.
    for request in [1, 2] {
        let calls = harness.model.messages(request)[2]["tool_calls"].clone();
        assert_eq!(calls[0]["function"]["name"], "no_such_tool_");
        assert_eq!(calls[1]["function"]["name"], "__b");
    }
}

#[tokio::test]
async fn what_a_tool_gave_is_explained_also_when_there_are_tools_no_more() {
    let harness = Harness::new().await;
    let tools = harness.agents.tools();
    tools.replace_group("x", vec![TestTool::double("double", Audience::Public)]);
    let calls = vec![("double".to_owned(), "{\"x\":21}".to_owned())];
    let calling = Reaction::Call("Let me see.".to_owned(), calls);
    harness.model.will([calling, say("42.")]);
    let report = harness.say(None, "double it").await;
    tools.replace_group("x", Vec::new());
    harness.say(Some(report.session.as_str()), "sure?").await;
    let sent = harness.model.messages(2);
    assert_eq!(harness.model.seen()[2].get("tools"), None);
    let roles: Vec<_> = sent.iter().map(|m| m["role"].as_str().unwrap()).collect();
    let expected = ["system", "user", "assistant", "tool", "assistant", "user"];
    assert_eq!(roles, expected);
    let system = sent[0]["content"].as_str().unwrap();
    assert!(system.contains("<tool_output>"), "{system}");
}
