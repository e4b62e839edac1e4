//! Lanes: one turn at a time per session, stopped turns, deleted sessions and shutdown.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, TestTool, chat, harnesses, problem_of, until, until_done, webhook};
use gatehouse_agents::Audience;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};

#[tokio::test]
async fn turns_of_a_session_wait_for_each_other_in_their_order() {
    for harness in harnesses().await {
        let (open, gate) = watch::channel(false);
        let first = harness.say(None, "zero").await;
        let session = first.session.as_str();
        let gated = Reaction::Gate(gate);
        harness
            .model
            .will([gated.clone(), say("at once"), gated.clone(), gated]);
        let mut events = harness.agents.subscribe();
        for text in ["one", "two", "three"] {
            harness
                .agents
                .send(chat(Some(session), text))
                .await
                .unwrap();
        }
        harness.model.until(2).await;
        // Waiting texts are already stored, after the earlier messages.
        assert_eq!(harness.spoken(session).await.len(), 5);
        // Another session does not wait.
        assert_eq!(harness.say(None, "elsewhere").await.text, "at once");
        open.send(true).unwrap();
        for _ in 0..4 {
            until_done(&mut events).await;
        }
        let spoken: Vec<_> = harness
            .spoken(session)
            .await
            .into_iter()
            .map(|m| m.1)
            .collect();
        assert_eq!(
            spoken,
            [
                "zero",
                "ok",
                "one",
                "4 messages",
                "two",
                "6 messages",
                "three",
                "8 messages"
            ]
        );
    }
}

#[tokio::test]
async fn sixty_four_turns_wait_and_no_more() {
    let harness = Harness::new().await;
    let (open, gate) = watch::channel(false);
    let first = harness.say(None, "zero").await;
    let session = first.session.as_str();
    harness.model.will([Reaction::Gate(gate)]);
    harness
        .agents
        .send(chat(Some(session), "runs"))
        .await
        .unwrap();
    harness.model.until(2).await;
    for n in 0..64 {
        let sent = harness.agents.send(chat(Some(session), "waits")).await;
        assert!(sent.is_ok(), "{n}");
    }
    let (code, _) = problem_of(
        harness
            .agents
            .send(chat(Some(session), "too many"))
            .await
            .unwrap_err(),
    );
    assert_eq!(code, "RATE_LIMITED");
    let mut events = harness.agents.subscribe();
    open.send(true).unwrap();
    for _ in 0..65 {
        until(&mut events, "chat.done").await;
    }
    assert_eq!(harness.spoken(session).await.len(), 2 + 2 * 65);
    assert!(
        harness
            .say(Some(session), "there is room again")
            .await
            .error
            .is_none()
    );
}

#[tokio::test]
async fn a_turn_survives_its_caller() {
    let harness = Harness::new().await;
    let (open, gate) = watch::channel(false);
    harness.model.will([Reaction::Gate(gate)]);
    let mut events = harness.agents.subscribe();
    {
        let sending = harness.agents.send_sync(chat(None, "hello"));
        tokio::pin!(sending);
        tokio::select! {
            biased;
            _ = &mut sending => panic!("the gate is shut"),
            () = harness.model.until(1) => {}
        }
    }
    open.send(true).unwrap();
    let received = until_done(&mut events).await;
    let session = received[0].1["session"].as_str().unwrap();
    assert_eq!(harness.spoken(session).await.len(), 2);
}

#[tokio::test]
async fn abort_keeps_what_was_said_and_lets_the_next_turn_run() {
    for harness in harnesses().await {
        harness
            .model
            .will([Reaction::Hang("So far".to_owned()), say("next")]);
        let mut events = harness.agents.subscribe();
        let sent = harness.agents.send(chat(None, "one")).await.unwrap();
        let session = sent.session.as_str();
        until(&mut events, "chat.delta").await;
        harness
            .agents
            .send(chat(Some(session), "two"))
            .await
            .unwrap();
        harness.agents.abort(session).await.unwrap();
        let done = until(&mut events, "chat.done").await;
        assert_eq!(done["error"]["code"], "CONFLICT");
        let done = until(&mut events, "chat.done").await;
        assert_eq!(done.get("error"), None);
        let spoken: Vec<_> = harness
            .spoken(session)
            .await
            .into_iter()
            .map(|m| m.1)
            .collect();
        assert_eq!(spoken, ["one", "So far", "two", "next"]);
        // Aborting without a running turn succeeds. An unknown session is an error.
        harness.agents.abort(session).await.unwrap();
        let (code, _) = problem_of(harness.agents.abort("nowhere").await.unwrap_err());
        assert_eq!(code, "NOT_FOUND");
    }
}

#[tokio::test]
async fn abort_ends_a_tool_at_once() {
    let harness = Harness::new().await;
    let (started, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begins, ends) = (Arc::clone(&started), Arc::clone(&dropped));
    harness.agents.tools().register(TestTool::new(
        "hangs",
        Audience::Public,
        move |context, _| {
            let (begins, ends) = (Arc::clone(&begins), Arc::clone(&ends));
            // Work that the call started elsewhere is cancelled too.
            let cancel = context.cancel.clone();
            #[expect(clippy::disallowed_methods, reason = "ends with the turn")]
            tokio::spawn(async move {
                cancel.cancelled().await;
                ends.notify_one();
            });
            Box::pin(async move {
                begins.notify_one();
                std::future::pending().await
            })
        },
    ));
    harness.model.will([call("hangs", &json!({ "x": 1 }))]);
    let mut events = harness.agents.subscribe();
    let sent = harness.agents.send(chat(None, "go")).await.unwrap();
    started.notified().await;
    harness.agents.abort(sent.session.as_str()).await.unwrap();
    dropped.notified().await;
    let done = until(&mut events, "chat.done").await;
    assert_eq!(done["error"]["code"], "CONFLICT");
    assert!(
        harness
            .say(Some(sent.session.as_str()), "go on")
            .await
            .error
            .is_none()
    );
}

#[tokio::test]
async fn a_request_can_be_withdrawn() {
    let harness = Harness::new().await;
    harness.model.will([Reaction::Hang("So far".to_owned())]);
    let mut events = harness.agents.subscribe();
    let request = webhook("webhook:a", "event", None);
    let cancel = request.cancel.clone();
    let sending = harness.agents.send_sync(request);
    let (report, ()) = tokio::join!(sending, async {
        until(&mut events, "chat.delta").await;
        cancel.cancel();
    });
    let report = report.unwrap();
    assert!(report.cancelled && report.error.is_some());
    assert_eq!(report.text, "So far");
    // A turn that is cancelled before it starts does not ask a model.
    let request = webhook("webhook:a", "event", None);
    request.cancel.cancel();
    assert!(harness.agents.send_sync(request).await.unwrap().cancelled);
    assert_eq!(harness.model.seen().len(), 1);
}

#[tokio::test]
async fn a_session_that_is_deleted_takes_its_turns_with_it() {
    for harness in harnesses().await {
        harness.model.will([Reaction::Hang("So far".to_owned())]);
        let mut events = harness.agents.subscribe();
        let running = webhook("webhook:a", "one", None);
        let sending = harness.agents.send_sync(running);
        let (report, ()) = tokio::join!(sending, async {
            until(&mut events, "chat.delta").await;
            harness
                .agents
                .send(chat(Some("webhook:a"), "two"))
                .await
                .unwrap();
            harness.agents.delete_session("webhook:a").await.unwrap();
        });
        assert!(report.unwrap().error.is_some());
        until(&mut events, "chat.done").await;
        until(&mut events, "chat.done").await;
        let (code, _) = problem_of(
            harness
                .agents
                .history("webhook:a", 10, None)
                .await
                .unwrap_err(),
        );
        assert_eq!(code, "NOT_FOUND");
        assert_eq!(harness.session_count().await, 0);
        let left = harness.store.read(|conn| {
            Box::pin(async move {
                let session = gatehouse_domain::id::SessionId::from_text("x");
                conn.list_chat_spoken(&session, i64::MAX, 10, usize::MAX)
                    .await
            })
        });
        assert!(Result::<_, gatehouse_store::StoreError>::unwrap(left.await).is_empty());
        // The key is free again.
        let fresh = harness
            .agents
            .send_sync(webhook("webhook:a", "three", None))
            .await
            .unwrap();
        assert_eq!(harness.spoken(fresh.session.as_str()).await.len(), 2);
    }
}

#[tokio::test]
async fn shutdown_stops_what_runs_and_keeps_what_was_said() {
    for harness in harnesses().await {
        harness.model.will([Reaction::Hang("So far".to_owned())]);
        let mut events = harness.agents.subscribe();
        let sent = harness.agents.send(chat(None, "one")).await.unwrap();
        let session = sent.session.as_str();
        until(&mut events, "chat.delta").await;
        harness
            .agents
            .send(chat(Some(session), "two"))
            .await
            .unwrap();
        harness.agents.shutdown(Duration::ZERO).await;
        let spoken: Vec<_> = harness
            .spoken(session)
            .await
            .into_iter()
            .map(|m| m.1)
            .collect();
        assert_eq!(spoken, ["one", "So far", "two", ""]);
        assert_eq!(harness.model.seen().len(), 1);
        let (code, _) = problem_of(harness.agents.send(chat(None, "three")).await.unwrap_err());
        assert_eq!(code, "STORAGE_UNAVAILABLE");
        let session = session.to_owned();
        let harness = harness.restart().await;
        assert!(harness.say(Some(&session), "four").await.error.is_none());
    }
}

#[tokio::test]
async fn shutdown_lets_a_turn_finish_in_its_grace() {
    let harness = Harness::new().await;
    let (open, gate) = watch::channel(false);
    harness.model.will([Reaction::Gate(gate)]);
    let sent = harness.agents.send(chat(None, "one")).await.unwrap();
    harness.model.until(1).await;
    let ending = harness.agents.shutdown(Duration::from_mins(1));
    tokio::join!(ending, async { open.send(true).unwrap() });
    assert_eq!(harness.spoken(sent.session.as_str()).await.len(), 2);
}

#[tokio::test]
async fn a_running_turn_is_listed_with_the_messages() {
    let harness = Harness::new().await;
    harness
        .model
        .will([Reaction::Hang("So 𝄞far".to_owned()), say("next")]);
    let mut events = harness.agents.subscribe();
    let sent = harness.agents.send(chat(None, "one")).await.unwrap();
    let session = sent.session.as_str();
    let mut said = String::new();
    while said != "So 𝄞far" {
        let delta = until(&mut events, "chat.delta").await;
        // JavaScript counts the clef as two UTF-16 units.
        assert_eq!(delta["at"], said.encode_utf16().count());
        said.push_str(delta["text"].as_str().unwrap());
    }
    let page = harness.agents.history(session, 50, None).await.unwrap();
    assert_eq!(page.messages.len(), 1);
    let running = page.running.unwrap();
    assert_eq!((running.turn_id, running.text), (sent.turn_id, said));
    assert!(harness.agents.get_session(session).await.unwrap().running);
    let listed = harness
        .agents
        .list_sessions(&gatehouse_agents::SessionQuery {
            limit: 50,
            ..gatehouse_agents::SessionQuery::default()
        })
        .await
        .unwrap();
    assert!(listed.sessions[0].running);

    harness.agents.abort(session).await.unwrap();
    until(&mut events, "chat.done").await;
    let page = harness.agents.history(session, 50, None).await.unwrap();
    assert_eq!((page.messages.len(), page.running), (2, None));
    assert!(!harness.agents.get_session(session).await.unwrap().running);

    harness
        .agents
        .send(chat(Some(session), "two"))
        .await
        .unwrap();
    let delta = until(&mut events, "chat.delta").await;
    assert_eq!(delta["at"], 0, "another answer begins at its beginning");
}
