//! Tool calls that wait for approval.

use crate::fake_model::{call, calls, say};
use crate::harness::{Harness, START, TestTool, chat, problem_of, until, webhook};
use futures_util::future::{BoxFuture, FutureExt};
use gatehouse_agents::{
    AgentsSettings, Audience, Remember, Tool, ToolContext, ToolError, ToolPolicy, TurnReport,
};
use gatehouse_domain::id::ApprovalId;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A tool that records its input.
#[derive(Debug, Default)]
struct Recorder(Mutex<Vec<Value>>);

impl Tool for Recorder {
    fn name(&self) -> &'static str {
        "record"
    }
    fn description(&self) -> &'static str {
        "For tests."
    }
    fn parameters(&self) -> Value {
        json!({ "type": "object" })
    }
    fn audience(&self) -> Audience {
        Audience::Public
    }
    fn call<'a>(
        &'a self,
        _: &'a ToolContext,
        input: Value,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        self.0.lock().unwrap().push(input);
        Box::pin(async { Ok("recorded".to_owned()) })
    }
}

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
            let listed = harness.agents.list_approvals().await.unwrap();
            assert_eq!(serde_json::to_value(&listed).unwrap(), json!([asked]));
            harness
                .agents
                .resolve_approval(&listed[0].id, allow, None)
                .await
                .unwrap();
            let resolved = until(&mut events, "approval.resolved").await;
            assert_eq!(resolved, json!({ "id": asked["id"], "allowed": allow }));
        });
        let report = report.unwrap();
        assert_eq!(report.actions[0].status.as_str(), status);
        let received = harness.model.messages(1).pop().unwrap();
        let text = received["content"].as_str().unwrap();
        assert!(
            text.contains(if allow { "8" } else { "did not approve" }),
            "{text}"
        );
        assert!(harness.agents.list_approvals().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn no_answer_is_a_no_also_for_a_webhook() {
    let harness = harness(Duration::from_millis(1)).await;
    let mut events = harness.agents.subscribe();
    let request = webhook("webhook:a", "event", Some(ToolPolicy::default()));
    let report = harness.agents.send_sync(request).await.unwrap();
    assert_eq!(report.actions[0].status.as_str(), "expired");
    let asked = until(&mut events, "approval.requested").await;
    let resolved = until(&mut events, "approval.resolved").await;
    assert_eq!(resolved, json!({ "id": asked["id"], "allowed": false }));
    assert!(harness.agents.list_approvals().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_call_can_be_answered_at_its_expiry_and_not_after_it() {
    for (late, is_answered) in [(Duration::ZERO, true), (Duration::from_millis(1), false)] {
        // The timer of the approval does not follow the test clock.
        let harness = harness(USUAL).await;
        let mut events = harness.agents.subscribe();
        let sent = harness.agents.send(chat(None, "go")).await.unwrap();
        let asked = until(&mut events, "approval.requested").await;
        harness.clock.advance(USUAL + late);
        let listed = harness.agents.list_approvals().await.unwrap();
        assert_eq!(listed.len(), usize::from(is_answered));
        let id = ApprovalId::from_text(asked["id"].as_str().unwrap());
        let token = harness.agents.approval_token(&id).unwrap();
        let found = harness.agents.find_approval_by_token(&token).await;
        assert_eq!(found.unwrap().is_some(), is_answered);
        let answered = harness.agents.resolve_approval(&id, true, None).await;
        assert_eq!(answered.is_ok(), is_answered);
        if !is_answered {
            harness.agents.abort(sent.session.as_str()).await.unwrap();
        }
        until(&mut events, "chat.done").await;
    }
}

#[tokio::test]
async fn the_arguments_that_run_are_those_that_were_shown() {
    let settings = AgentsSettings {
        require_approval: vec!["record".to_owned()],
        ..AgentsSettings::default()
    };
    let harness = Harness::with(settings).await;
    let tool = Arc::new(Recorder::default());
    harness.agents.tools().register(tool.clone());
    let arguments = json!({
        "path": "a\u{202e}b\u{200b}c\u{e0041}d\u{9b}e\0f\\u{202E}",
        "count": 12_345_678_901_234_567_890_u64,
        "text": "x".repeat(10_000),
    });
    harness
        .model
        .will([call("record", &arguments), say("done")]);
    let sending = harness.agents.send_sync(chat(None, "go"));
    let (report, shown) = tokio::join!(sending, async {
        let asked = loop {
            let mut waiting = harness.agents.list_approvals().await.unwrap();
            match waiting.pop() {
                Some(asked) => break asked,
                None => tokio::task::yield_now().await,
            }
        };
        let allowed = harness.agents.resolve_approval(&asked.id, true, None);
        allowed.await.unwrap();
        asked
    });
    report.unwrap();
    assert_eq!(*tool.0.lock().unwrap(), std::slice::from_ref(&arguments));
    assert_eq!(shown.arguments, arguments);
    // If each escape is replaced by its character, the JSON under review equals the input. The input itself contained
    // the last escape of the path.
    assert_eq!(shown.shown.hidden, 4);
    let mut text = shown.shown.arguments;
    for character in ['\u{202e}', '\u{200b}', '\u{e0041}', '\u{9b}'] {
        let escape = format!("\\u{{{:X}}}", u32::from(character));
        text = text.replacen(&escape, &character.to_string(), 1);
    }
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read, arguments);
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
    let late = harness.agents.resolve_approval(&id, true, None).await;
    let (code, _) = problem_of(late.unwrap_err());
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
    // Long enough not to expire during the test. On expiry, the turn would end with "done".
    let harness = harness(Duration::from_secs(20)).await;
    let mut events = harness.agents.subscribe();
    let sending = harness.agents.send_sync(chat(None, "go"));
    let (report, ()) = tokio::join!(sending, async {
        until(&mut events, "approval.requested").await;
        harness.agents.shutdown(Duration::from_mins(1)).await;
        assert!(harness.agents.list_approvals().await.unwrap().is_empty());
    });
    let report = report.unwrap();
    assert!(report.cancelled, "{report:?}");
    assert!(report.actions.is_empty());
    let resolved = until(&mut events, "approval.resolved").await;
    assert_eq!(resolved["allowed"], false);
    assert_eq!(harness.model.seen().len(), 1);
}

/// Runs a turn that calls `double` with `x` and answers the approval, if one is requested.
async fn turn(
    harness: &Harness,
    session: Option<&str>,
    x: i64,
    remember: Option<Remember>,
) -> (TurnReport, usize) {
    harness
        .model
        .will([call("double", &json!({ "x": x })), say("done")]);
    let mut asked = 0;
    let sending = harness.agents.send_sync(chat(session, "go"));
    tokio::pin!(sending);
    let report = loop {
        tokio::select! {
            report = &mut sending => break report.unwrap(),
            () = tokio::task::yield_now() => {
                for waiting in harness.agents.list_approvals().await.unwrap() {
                    asked += 1;
                    let id = &waiting.id;
                    harness.agents.resolve_approval(id, true, remember).await.unwrap();
                }
            }
        }
    };
    (report, asked)
}

/// Waits until this many calls wait for an approval. Returns their IDs.
async fn waiting_calls(harness: &Harness, count: usize) -> Vec<ApprovalId> {
    loop {
        let waiting = harness.agents.list_approvals().await.unwrap();
        if waiting.len() >= count {
            return waiting.into_iter().map(|one| one.id).collect();
        }
        tokio::task::yield_now().await;
    }
}

async fn restrained() -> Harness {
    let settings = AgentsSettings {
        require_approval: vec!["double".to_owned()],
        ..AgentsSettings::default()
    };
    let harness = Harness::with(settings).await;
    let double = TestTool::double("double", Audience::Public);
    harness.agents.tools().register(double);
    harness
}

#[tokio::test]
async fn an_approval_for_the_session_holds_for_all_arguments_there_and_nowhere_else() {
    let harness = restrained().await;
    let (first, asked) = turn(&harness, None, 1, Some(Remember::Session)).await;
    assert_eq!(asked, 1);
    let session = first.session.as_str();
    let (second, asked) = turn(&harness, Some(session), 2, None).await;
    assert_eq!((second.actions[0].status.as_str(), asked), ("ok", 0));
    let (_, asked) = turn(&harness, None, 1, None).await;
    assert_eq!(asked, 1, "another session asks");

    let listed = harness.agents.list_allowed_calls().await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].session.as_ref(), Some(&first.session));
    assert_eq!((&*listed[0].tool, &listed[0].arguments), ("double", &None));
    harness
        .agents
        .delete_allowed_call(&listed[0].id)
        .await
        .unwrap();
    let (_, asked) = turn(&harness, Some(session), 3, Some(Remember::Session)).await;
    assert_eq!(asked, 1, "a forgotten approval is asked for again");
    harness.agents.delete_session(session).await.unwrap();
    assert!(
        harness
            .agents
            .list_allowed_calls()
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn an_approval_of_the_arguments_holds_for_them_in_every_session() {
    let harness = restrained().await;
    let (first, asked) = turn(&harness, None, 1, Some(Remember::Arguments)).await;
    assert_eq!(asked, 1);
    let session = first.session.as_str();
    assert_eq!(turn(&harness, Some(session), 1, None).await.1, 0);
    assert_eq!(turn(&harness, None, 1, None).await.1, 0);
    assert_eq!(turn(&harness, Some(session), 2, None).await.1, 1);
    let listed = harness.agents.list_allowed_calls().await.unwrap();
    assert_eq!(listed[0].arguments.as_deref(), Some(r#"{"x":1}"#));
}

#[tokio::test]
async fn other_pages_are_notified_of_a_remembered_approval_and_of_its_end() {
    let harness = restrained().await;
    let mut changes = harness.store.changes();
    let mut is_reported = || {
        std::iter::from_fn(|| changes.try_recv().ok()).any(|subject| &*subject == "allowed_calls")
    };
    turn(&harness, None, 1, Some(Remember::Arguments)).await;
    assert!(is_reported(), "remembered");
    let listed = harness.agents.list_allowed_calls().await.unwrap();
    let forgotten = harness.agents.delete_allowed_call(&listed[0].id);
    forgotten.await.unwrap();
    assert!(is_reported(), "forgotten");
}

#[tokio::test]
async fn an_approval_for_the_session_answers_the_calls_that_already_wait() {
    let harness = restrained().await;
    let (one, two) = (json!({ "x": 1 }), json!({ "x": 2 }));
    harness
        .model
        .will([calls([("double", &one), ("double", &two)]), say("done")]);
    let sending = harness.agents.send_sync(chat(None, "go"));
    let (report, ()) = tokio::join!(sending, async {
        let first = waiting_calls(&harness, 2).await.remove(0);
        let session = Some(Remember::Session);
        let resolved = harness.agents.resolve_approval(&first, true, session);
        resolved.await.unwrap();
    });
    let statuses: Vec<_> = report.unwrap().actions.iter().map(|a| a.status).collect();
    assert_eq!(statuses, [gatehouse_agents::ActionStatus::Ok; 2]);
}

#[tokio::test]
async fn a_denial_cannot_be_remembered_and_an_unknown_approval_stores_nothing() {
    let harness = restrained().await;
    let id = ApprovalId::from_text("apr_none");
    for (allow, code) in [(false, "INVALID_PARAMS"), (true, "NOT_FOUND")] {
        let resolved = harness
            .agents
            .resolve_approval(&id, allow, Some(Remember::Arguments));
        assert_eq!(problem_of(resolved.await.unwrap_err()).0, code);
    }
    assert!(
        harness
            .agents
            .list_allowed_calls()
            .await
            .unwrap()
            .is_empty()
    );
    let forgotten = harness.agents.delete_allowed_call("none").await;
    assert_eq!(problem_of(forgotten.unwrap_err()).0, "NOT_FOUND");
}

#[tokio::test]
async fn an_approval_that_comes_after_a_denial_allows_no_later_calls() {
    let harness = restrained().await;
    harness
        .model
        .will([call("double", &json!({ "x": 1 })), say("done")]);
    let sending = harness.agents.send_sync(chat(None, "go"));
    let (report, ()) = tokio::join!(sending, async {
        let id = waiting_calls(&harness, 1).await.remove(0);
        // The approval stores its rule first. Meanwhile, the denial ends the wait.
        let (allowed, denied) = tokio::join!(
            harness
                .agents
                .resolve_approval(&id, true, Some(Remember::Session)),
            harness.agents.resolve_approval(&id, false, None),
        );
        denied.unwrap();
        assert_eq!(problem_of(allowed.unwrap_err()).0, "NOT_FOUND");
    });
    let status = report.unwrap().actions[0].status;
    assert_eq!(status, gatehouse_agents::ActionStatus::Denied);
    let allowed = harness.agents.list_allowed_calls().await.unwrap();
    assert!(allowed.is_empty(), "{allowed:?}");
}

#[tokio::test]
async fn of_two_approvals_at_once_only_the_first_allows_later_calls() {
    for second in [Remember::Arguments, Remember::Session] {
        let harness = restrained().await;
        harness
            .model
            .will([call("double", &json!({ "x": 1 })), say("done")]);
        let sending = harness.agents.send_sync(chat(None, "go"));
        let (report, ()) = tokio::join!(sending, async {
            let id = waiting_calls(&harness, 1).await.remove(0);
            let (first, late) = tokio::join!(
                harness
                    .agents
                    .resolve_approval(&id, true, Some(Remember::Session)),
                harness.agents.resolve_approval(&id, true, Some(second)),
            );
            first.unwrap();
            assert_eq!(problem_of(late.unwrap_err()).0, "NOT_FOUND");
        });
        let report = report.unwrap();
        assert_eq!(report.actions[0].status.as_str(), "ok");
        let allowed = harness.agents.list_allowed_calls().await.unwrap();
        let sessions: Vec<_> = allowed.iter().map(|one| one.session.as_ref()).collect();
        assert_eq!(sessions, [Some(&report.session)], "{second:?}");
    }
}

#[tokio::test]
async fn an_approval_keeps_its_rule_if_another_one_with_the_same_rule_comes_after_a_denial() {
    let harness = restrained().await;
    let (one, two) = (json!({ "x": 1 }), json!({ "x": 2 }));
    harness
        .model
        .will([calls([("double", &one), ("double", &two)]), say("done")]);
    let sending = harness.agents.send_sync(chat(None, "go"));
    let (report, ()) = tokio::join!(sending, async {
        let mut waiting = waiting_calls(&harness, 2).await;
        let (second, first) = (waiting.remove(1), waiting.remove(0));
        let session = Some(Remember::Session);
        // The first approval stores the rule and deletes it because of the denial. The second approval needs the rule.
        let (late, allowed, denied) = tokio::join!(
            harness.agents.resolve_approval(&first, true, session),
            harness.agents.resolve_approval(&second, true, session),
            harness.agents.resolve_approval(&first, false, None),
        );
        denied.unwrap();
        allowed.unwrap();
        assert_eq!(problem_of(late.unwrap_err()).0, "NOT_FOUND");
    });
    let report = report.unwrap();
    let mut statuses: Vec<_> = report.actions.iter().map(|a| a.status.as_str()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, ["denied", "ok"]);
    let allowed = harness.agents.list_allowed_calls().await.unwrap();
    assert_eq!(allowed.len(), 1, "{allowed:?}");
}

#[tokio::test]
async fn an_approval_whose_caller_disconnects_is_an_answer_with_its_rule() {
    let harness = harness(Duration::from_secs(20)).await;
    let sending = harness.agents.send_sync(chat(None, "go"));
    let (report, ()) = tokio::join!(sending, async {
        let id = waiting_calls(&harness, 1).await.remove(0);
        let session = Some(Remember::Session);
        let allowing = harness.agents.resolve_approval(&id, true, session);
        // Dropped while the rule is stored.
        assert!(allowing.now_or_never().is_none());
    });
    let report = report.unwrap();
    assert_eq!(report.actions[0].status.as_str(), "ok");
    let allowed = harness.agents.list_allowed_calls().await.unwrap();
    let sessions: Vec<_> = allowed.iter().map(|one| one.session.as_ref()).collect();
    assert_eq!(sessions, [Some(&report.session)]);
}

#[tokio::test]
async fn an_approval_after_a_denial_allows_no_later_calls_although_its_caller_disconnects() {
    let harness = harness(USUAL).await;
    let sending = harness.agents.send_sync(chat(None, "go"));
    let (report, ()) = tokio::join!(sending, async {
        let id = waiting_calls(&harness, 1).await.remove(0);
        let session = Some(Remember::Session);
        let allowing = harness.agents.resolve_approval(&id, true, session);
        // Dropped while the rule is stored.
        assert!(allowing.now_or_never().is_none());
        let denied = harness.agents.resolve_approval(&id, false, None);
        denied.await.unwrap();
    });
    assert_eq!(report.unwrap().actions[0].status.as_str(), "denied");
    // Waits for the approval.
    harness.agents.shutdown(USUAL).await;
    let allowed = harness.agents.list_allowed_calls().await.unwrap();
    assert!(allowed.is_empty(), "{allowed:?}");
}
