//! The outcome of each tool call is stored with the message that answers the call.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, START, TestTool, chat, harnesses, until};
use gatehouse_agents::{
    ActionStatus, AgentsSettings, Audience, Message, MessageOrigin, Role, TurnReport,
};
use gatehouse_domain::SystemRandom;
use gatehouse_domain::id::MessageId;
use gatehouse_store::{AuditPage, AuditRow, ChatMessageRow, StoreError};
use serde_json::{Value, json};
use std::time::Duration;

/// The approval timeout for calls of `speak`, which expires in these tests.
const WAIT: Duration = Duration::from_secs(1);

fn register(harness: &Harness) {
    let tools = harness.agents.tools();
    tools.register(TestTool::double("double", Audience::Public));
    tools.register(TestTool::double("speak", Audience::Public));
    tools.register(TestTool::of_webhooks("payload"));
    let limit = Duration::from_millis(1);
    let slow = TestTool::limited("slow", Audience::Public, limit, |_, _| {
        Box::pin(std::future::pending())
    });
    tools.register(slow);
}

/// Returns a harness per engine. Its tool `speak` needs an approval.
async fn with_tools() -> Vec<Harness> {
    let harnesses = harnesses().await;
    for harness in &harnesses {
        register(harness);
        set_wait(harness, AgentsSettings::default().approval_wait);
    }
    harnesses
}

fn set_wait(harness: &Harness, approval_wait: Duration) {
    harness.agents.update_settings(AgentsSettings {
        require_approval: vec!["speak".to_owned()],
        approval_wait,
        ..AgentsSettings::default()
    });
}

fn one(tool: &str, x: i64) -> [Reaction; 2] {
    [call(tool, &json!({ "x": x })), say("done")]
}

/// Runs a turn that calls `speak`, and denies the call.
async fn denied(harness: &Harness) -> TurnReport {
    harness.model.will(one("speak", 1));
    let mut events = harness.agents.subscribe();
    let sending = harness.agents.send_sync(chat(None, "go"));
    let (report, ()) = tokio::join!(sending, async {
        until(&mut events, "approval.requested").await;
        let waiting = harness.agents.list_approvals().await.unwrap();
        let denied = harness.agents.resolve_approval(&waiting[0].id, false, None);
        denied.await.unwrap();
    });
    report.unwrap()
}

/// Returns the message that answers the only call of a session.
async fn answer_of(harness: &Harness, session: &str) -> Message {
    let history = harness.history(session).await.into_iter();
    let mut answers = history.filter(|message| message.role == Role::Tool);
    let answer = answers.next().unwrap();
    assert!(answers.next().is_none());
    answer
}

async fn expired_rows(harness: &Harness) -> Vec<AuditRow> {
    let read = harness.store.read(|conn| {
        Box::pin(async move {
            let page = AuditPage {
                before_seq: i64::MAX,
                kind: Some("approval.expired".to_owned()),
                limit: 10,
                ..AuditPage::default()
            };
            conn.list_audit(&page).await
        })
    });
    let rows: Result<Vec<AuditRow>, StoreError> = read.await;
    rows.unwrap()
}

#[tokio::test]
async fn the_end_of_each_call_is_stored_and_outlives_a_restart_and_a_branch() {
    for harness in with_tools().await {
        let report = denied(&harness).await;
        assert_eq!(report.actions[0].status, ActionStatus::Denied);
        let text = "The operator did not approve this call.";
        let mut ended = vec![(report, ActionStatus::Denied, text)];
        set_wait(&harness, WAIT);
        for (tool, x, status, text) in [
            ("double", 4, ActionStatus::Ok, "8"),
            ("payload", 0, ActionStatus::Error, "There is none."),
            (
                "slow",
                1,
                ActionStatus::Error,
                "The tool did not respond within 0.001 s.",
            ),
            (
                "missing",
                1,
                ActionStatus::Error,
                "There is no tool with this name.",
            ),
            (
                "speak",
                1,
                ActionStatus::Expired,
                "Nobody answered within 1 second, so the call was not made.",
            ),
        ] {
            harness.model.will(one(tool, x));
            let report = harness.say(None, "go").await;
            assert_eq!(report.actions[0].status, status, "{tool}");
            ended.push((report, status, text));
        }
        let harness = harness.restart().await;
        for (report, status, text) in ended {
            let session = report.session.as_str();
            let answer = answer_of(&harness, session).await;
            assert_eq!((answer.tool_status, &*answer.content), (Some(status), text));
            assert_eq!(json!(answer)["tool_status"], status.as_str());
            let turn = report.turn_id.as_str();
            let branch = harness.agents.branch_session(session, turn, None).await;
            let branch = branch.unwrap();
            let copy = answer_of(&harness, branch.id.as_str()).await;
            assert_eq!(copy.tool_status, Some(status));
        }
    }
}

#[tokio::test]
async fn a_message_of_an_earlier_version_has_no_status() {
    for harness in harnesses().await {
        let report = harness.say(None, "hello").await;
        // The second value is a status of a later version.
        for status in [None, Some("later".to_owned())] {
            let row = ChatMessageRow {
                turn_no: 1,
                content: "42".to_owned(),
                tool_call_id: Some("call_1".to_owned()),
                tool_name: Some("calc".to_owned()),
                tool_status: status,
                ..ChatMessageRow::new(
                    report.session.clone(),
                    report.turn_id.clone(),
                    MessageId::generate(&*harness.clock, &SystemRandom),
                    Role::Tool.as_str(),
                    MessageOrigin::Configured.as_str(),
                    START,
                )
            };
            let write = harness
                .store
                .write(move |conn| Box::pin(async move { conn.insert_chat_message(&row).await }));
            let stored: Result<Option<i64>, StoreError> = write.await;
            assert!(stored.unwrap().is_some());
        }
        let history = harness.history(report.session.as_str()).await;
        assert_eq!(history.len(), 4);
        for message in history {
            assert_eq!(message.tool_status, None);
            assert_eq!(json!(message).get("tool_status"), None);
        }
    }
}

#[tokio::test]
async fn only_a_call_that_nobody_answered_is_in_the_audit_log_as_expired() {
    for harness in with_tools().await {
        denied(&harness).await;
        let mut events = harness.agents.subscribe();
        harness.model.will([call("speak", &json!({ "x": 1 }))]);
        let stopped = harness.agents.send(chat(None, "go")).await.unwrap();
        until(&mut events, "approval.requested").await;
        let stopped = stopped.session;
        harness.agents.abort(stopped.as_str()).await.unwrap();
        until(&mut events, "chat.done").await;
        assert!(expired_rows(&harness).await.is_empty());

        set_wait(&harness, WAIT);
        harness.model.will(one("speak", 1));
        let report = harness.say(None, "go").await;
        let asked = until(&mut events, "approval.requested").await;
        let progress = until(&mut events, "chat.tool").await;
        assert_eq!(progress["state"], "expired");
        let rows = expired_rows(&harness).await;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].actor, "system");
        let detail: Value = serde_json::from_str(&rows[0].detail).unwrap();
        assert_eq!(
            detail,
            json!({ "id": asked["id"], "tool": "speak", "session": report.session })
        );
    }
}
