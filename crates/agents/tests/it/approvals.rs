//! Tool calls that wait for approval.

use crate::fake_model::{call, say};
use crate::harness::{House, START, TestTool, chat, told, until, webhook};
use gatehouse_agents::{AgentsSettings, Audience, ToolPolicy};
use gatehouse_domain::id::ApprovalId;
use serde_json::json;
use std::time::Duration;

async fn house(wait: Duration) -> House {
    let settings = AgentsSettings {
        require_approval: vec!["dou*".to_owned()],
        approval_wait: wait,
        ..AgentsSettings::default()
    };
    let house = House::with(settings).await;
    house
        .agents
        .tools()
        .register(TestTool::double("double", Audience::Public));
    house
        .model
        .will([call("double", &json!({ "x": 4 })), say("done")]);
    house
}

const USUAL: Duration = Duration::from_mins(5);

#[tokio::test]
async fn a_yes_lets_the_tool_run_and_a_no_does_not() {
    for (allow, status) in [(true, "ok"), (false, "denied")] {
        let house = house(AgentsSettings::default().approval_wait).await;
        let mut events = house.agents.subscribe();
        let sending = house.agents.send_sync(chat(None, "go"));
        let (report, ()) = tokio::join!(sending, async {
            let progress = until(&mut events, "chat.tool").await;
            assert_eq!(progress["state"], "waiting");
            let asked = until(&mut events, "approval.requested").await;
            assert_eq!(
                (&asked["tool"], &asked["arguments"]),
                (&json!("double"), &json!({ "x": 4 }))
            );
            assert_eq!(asked["expires_at"], START.after(USUAL).to_string());
            let listed = house.agents.list_approvals();
            assert_eq!(serde_json::to_value(&listed).unwrap(), json!([asked]));
            house.agents.resolve_approval(&listed[0].id, allow).unwrap();
            let resolved = until(&mut events, "approval.resolved").await;
            assert_eq!(resolved, json!({ "id": asked["id"], "allowed": allow }));
        });
        let report = report.unwrap();
        assert_eq!(report.actions[0].status.as_str(), status);
        let told = house.model.messages(1).pop().unwrap();
        let text = told["content"].as_str().unwrap();
        assert!(
            text.contains(if allow { "8" } else { "did not approve" }),
            "{text}"
        );
        assert!(house.agents.list_approvals().is_empty());
    }
}

#[tokio::test]
async fn no_answer_is_a_no_also_for_a_webhook() {
    let house = house(Duration::from_millis(1)).await;
    let mut events = house.agents.subscribe();
    let request = webhook("webhook:a", "event", Some(ToolPolicy::default()));
    let report = house.agents.send_sync(request).await.unwrap();
    assert_eq!(report.actions[0].status.as_str(), "denied");
    let asked = until(&mut events, "approval.requested").await;
    let resolved = until(&mut events, "approval.resolved").await;
    assert_eq!(resolved, json!({ "id": asked["id"], "allowed": false }));
    assert!(house.agents.list_approvals().is_empty());
}

#[tokio::test]
async fn abort_takes_the_question_away() {
    let house = house(USUAL).await;
    let mut events = house.agents.subscribe();
    let sent = house.agents.send(chat(None, "go")).await.unwrap();
    let asked = until(&mut events, "approval.requested").await;
    house.agents.abort(sent.session.as_str()).await.unwrap();
    let resolved = until(&mut events, "approval.resolved").await;
    assert_eq!(resolved["allowed"], false);
    let id = ApprovalId::from_text(asked["id"].as_str().unwrap());
    let (code, _) = told(house.agents.resolve_approval(&id, true).unwrap_err());
    assert_eq!(code, "NOT_FOUND");
    until(&mut events, "chat.done").await;
}

#[tokio::test]
async fn settings_hold_from_the_next_call_on() {
    let house = house(USUAL).await;
    house.agents.update_settings(AgentsSettings::default());
    let report = house.say(None, "go").await;
    assert_eq!(report.actions[0].status.as_str(), "ok");
}

#[tokio::test]
async fn shutdown_does_not_wait_for_an_answer() {
    // Long enough not to expire here; on expiry the turn would end with "done".
    let house = house(Duration::from_secs(20)).await;
    let mut events = house.agents.subscribe();
    let sending = house.agents.send_sync(chat(None, "go"));
    let (report, ()) = tokio::join!(sending, async {
        until(&mut events, "approval.requested").await;
        house.agents.shutdown(Duration::from_mins(1)).await;
        assert!(house.agents.list_approvals().is_empty());
    });
    let report = report.unwrap();
    assert!(report.cancelled, "{report:?}");
    assert!(report.actions.is_empty());
    let resolved = until(&mut events, "approval.resolved").await;
    assert_eq!(resolved["allowed"], false);
    assert_eq!(house.model.seen().len(), 1);
}
