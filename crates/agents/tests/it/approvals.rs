//! Tool calls that wait for approval.

use crate::fake_model::{call, say};
use crate::harness::{Harness, START, TestTool, chat, problem_of, until, webhook};
use gatehouse_agents::{AgentsSettings, Audience, ToolPolicy};
use gatehouse_domain::id::ApprovalId;
use serde_json::json;
use std::time::Duration;

async fn harness(wait: Duration) -> Harness {
    let settings = AgentsSettings {
        require_approval: vec!["dou*".to_owned()],
        approval_wait: wait,
        ..AgentsSettings::default()
    };
    let harness = Harness::with(settings).await;
    harness
        .agents
        .tools()
        .register(TestTool::double("double", Audience::Public));
    harness
        .model
        .will([call("double", &json!({ "x": 4 })), say("done")]);
    harness
}

const USUAL: Duration = Duration::from_mins(5);

#[tokio::test]
async fn a_yes_lets_the_tool_run_and_a_no_does_not() {
    for (allow, status) in [(true, "ok"), (false, "denied")] {
        let harness = harness(AgentsSettings::default().approval_wait).await;
        let mut events = harness.agents.subscribe();
        let sending = harness.agents.send_sync(chat(None, "go"));
        let (report, ()) = tokio::join!(sending, async {
            let progress = until(&mut events, "chat.tool").await;
            assert_eq!(progress["state"], "waiting");
            let asked = until(&mut events, "approval.requested").await;
            assert_eq!(
                (&asked["tool"], &asked["arguments"]),
                (&json!("double"), &json!({ "x": 4 }))
            );
            assert_eq!(asked["expires_at"], START.after(USUAL).to_string());
            let listed = harness.agents.list_approvals();
            assert_eq!(serde_json::to_value(&listed).unwrap(), json!([asked]));
            harness
                .agents
                .resolve_approval(&listed[0].id, allow)
                .unwrap();
            let resolved = until(&mut events, "approval.resolved").await;
            assert_eq!(resolved, json!({ "id": asked["id"], "allowed": allow }));
        });
        let report = report.unwrap();
        assert_eq!(report.actions[0].status.as_str(), status);
        let told = harness.model.messages(1).pop().unwrap();
        let text = told["content"].as_str().unwrap();
        assert!(
            text.contains(if allow { "8" } else { "did not approve" }),
            "{text}"
        );
        assert!(harness.agents.list_approvals().is_empty());
    }
}

#[tokio::test]
async fn no_answer_is_a_no_also_for_a_webhook() {
    let harness = harness(Duration::from_millis(1)).await;
    let mut events = harness.agents.subscribe();
    let request = webhook("webhook:a", "event", Some(ToolPolicy::default()));
    let report = harness.agents.send_sync(request).await.unwrap();
    assert_eq!(report.actions[0].status.as_str(), "denied");
    let asked = until(&mut events, "approval.requested").await;
    let resolved = until(&mut events, "approval.resolved").await;
    assert_eq!(resolved, json!({ "id": asked["id"], "allowed": false }));
    assert!(harness.agents.list_approvals().is_empty());
}

#[tokio::test]
async fn abort_takes_the_question_away() {
    let harness = harness(USUAL).await;
    let mut events = harness.agents.subscribe();
    let sent = harness.agents.send(chat(None, "go")).await.unwrap();
    let asked = until(&mut events, "approval.requested").await;
    harness.agents.abort(sent.session.as_str()).await.unwrap();
    let resolved = until(&mut events, "approval.resolved").await;
    assert_eq!(resolved["allowed"], false);
    let id = ApprovalId::from_text(asked["id"].as_str().unwrap());
    let (code, _) = problem_of(harness.agents.resolve_approval(&id, true).unwrap_err());
    assert_eq!(code, "NOT_FOUND");
    until(&mut events, "chat.done").await;
}

#[tokio::test]
async fn settings_hold_from_the_next_call_on() {
    let harness = harness(USUAL).await;
    harness.agents.update_settings(AgentsSettings::default());
    let report = harness.say(None, "go").await;
    assert_eq!(report.actions[0].status.as_str(), "ok");
}

#[tokio::test]
async fn shutdown_does_not_wait_for_an_answer() {
    // Long enough not to expire here; on expiry the turn would end with "done".
    let harness = harness(Duration::from_secs(20)).await;
    let mut events = harness.agents.subscribe();
    let sending = harness.agents.send_sync(chat(None, "go"));
    let (report, ()) = tokio::join!(sending, async {
        until(&mut events, "approval.requested").await;
        harness.agents.shutdown(Duration::from_mins(1)).await;
        assert!(harness.agents.list_approvals().is_empty());
    });
    let report = report.unwrap();
    assert!(report.cancelled, "{report:?}");
    assert!(report.actions.is_empty());
    let resolved = until(&mut events, "approval.resolved").await;
    assert_eq!(resolved["allowed"], false);
    assert_eq!(harness.model.seen().len(), 1);
}
