//! Lanes: one turn at a time per session, stopping turns, deleting sessions, shutdown.

use crate::fake_model::{Act, call, say};
use crate::harness::{House, TestTool, chat, houses, told, until, until_done, webhook};
use gatehouse_agents::Audience;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};

#[tokio::test]
async fn turns_of_a_session_wait_for_each_other_in_their_order() {
    for house in houses().await {
        let (open, gate) = watch::channel(false);
        let first = house.say(None, "zero").await;
        let session = first.session.as_str();
        let gated = Act::Gate(gate);
        house
            .model
            .will([gated.clone(), say("at once"), gated.clone(), gated]);
        let mut events = house.agents.subscribe();
        for text in ["one", "two", "three"] {
            house.agents.send(chat(Some(session), text)).await.unwrap();
        }
        house.model.until(2).await;
        // Waiting texts are already stored, after the earlier messages.
        assert_eq!(house.spoken(session).await.len(), 5);
        // Another session does not wait.
        assert_eq!(house.say(None, "elsewhere").await.text, "at once");
        open.send(true).unwrap();
        for _ in 0..4 {
            until_done(&mut events).await;
        }
        let spoken: Vec<_> = house
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
    let house = House::new().await;
    let (open, gate) = watch::channel(false);
    let first = house.say(None, "zero").await;
    let session = first.session.as_str();
    house.model.will([Act::Gate(gate)]);
    house
        .agents
        .send(chat(Some(session), "runs"))
        .await
        .unwrap();
    house.model.until(2).await;
    for n in 0..64 {
        let sent = house.agents.send(chat(Some(session), "waits")).await;
        assert!(sent.is_ok(), "{n}");
    }
    let (code, _) = told(
        house
            .agents
            .send(chat(Some(session), "too many"))
            .await
            .unwrap_err(),
    );
    assert_eq!(code, "RATE_LIMITED");
    let mut events = house.agents.subscribe();
    open.send(true).unwrap();
    for _ in 0..65 {
        until(&mut events, "chat.done").await;
    }
    assert_eq!(house.spoken(session).await.len(), 2 + 2 * 65);
    assert!(
        house
            .say(Some(session), "there is room again")
            .await
            .error
            .is_none()
    );
}

#[tokio::test]
async fn a_turn_survives_its_caller() {
    let house = House::new().await;
    let (open, gate) = watch::channel(false);
    house.model.will([Act::Gate(gate)]);
    let mut events = house.agents.subscribe();
    {
        let sending = house.agents.send_sync(chat(None, "hello"));
        tokio::pin!(sending);
        tokio::select! {
            biased;
            _ = &mut sending => panic!("the gate is shut"),
            () = house.model.until(1) => {}
        }
    }
    open.send(true).unwrap();
    let told = until_done(&mut events).await;
    let session = told[0].1["session"].as_str().unwrap();
    assert_eq!(house.spoken(session).await.len(), 2);
}

#[tokio::test]
async fn abort_keeps_what_was_said_and_lets_the_next_turn_run() {
    for house in houses().await {
        house
            .model
            .will([Act::Hang("So far".to_owned()), say("next")]);
        let mut events = house.agents.subscribe();
        let sent = house.agents.send(chat(None, "one")).await.unwrap();
        let session = sent.session.as_str();
        until(&mut events, "chat.delta").await;
        house.agents.send(chat(Some(session), "two")).await.unwrap();
        house.agents.abort(session).await.unwrap();
        let done = until(&mut events, "chat.done").await;
        assert_eq!(done["error"]["code"], "CONFLICT");
        let done = until(&mut events, "chat.done").await;
        assert_eq!(done.get("error"), None);
        let spoken: Vec<_> = house
            .spoken(session)
            .await
            .into_iter()
            .map(|m| m.1)
            .collect();
        assert_eq!(spoken, ["one", "So far", "two", "next"]);
        // Aborting without a running turn succeeds; an unknown session is an error.
        house.agents.abort(session).await.unwrap();
        let (code, _) = told(house.agents.abort("nowhere").await.unwrap_err());
        assert_eq!(code, "NOT_FOUND");
    }
}

#[tokio::test]
async fn abort_ends_a_tool_at_once() {
    let house = House::new().await;
    let (started, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begins, ends) = (Arc::clone(&started), Arc::clone(&dropped));
    house.agents.tools().register(TestTool::new(
        "hangs",
        Audience::Public,
        move |context, _| {
            let (begins, ends) = (Arc::clone(&begins), Arc::clone(&ends));
            // Work that the call started elsewhere is cancelled, too.
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
    house.model.will([call("hangs", &json!({ "x": 1 }))]);
    let mut events = house.agents.subscribe();
    let sent = house.agents.send(chat(None, "go")).await.unwrap();
    started.notified().await;
    house.agents.abort(sent.session.as_str()).await.unwrap();
    dropped.notified().await;
    let done = until(&mut events, "chat.done").await;
    assert_eq!(done["error"]["code"], "CONFLICT");
    assert!(
        house
            .say(Some(sent.session.as_str()), "go on")
            .await
            .error
            .is_none()
    );
}

#[tokio::test]
async fn a_request_can_be_withdrawn() {
    let house = House::new().await;
    house.model.will([Act::Hang("So far".to_owned())]);
    let mut events = house.agents.subscribe();
    let request = webhook("webhook:a", "event", None);
    let cancel = request.cancel.clone();
    let sending = house.agents.send_sync(request);
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
    assert!(house.agents.send_sync(request).await.unwrap().cancelled);
    assert_eq!(house.model.seen().len(), 1);
}

#[tokio::test]
async fn a_session_that_is_deleted_takes_its_turns_with_it() {
    for house in houses().await {
        house.model.will([Act::Hang("So far".to_owned())]);
        let mut events = house.agents.subscribe();
        let running = webhook("webhook:a", "one", None);
        let sending = house.agents.send_sync(running);
        let (report, ()) = tokio::join!(sending, async {
            until(&mut events, "chat.delta").await;
            house
                .agents
                .send(chat(Some("webhook:a"), "two"))
                .await
                .unwrap();
            house.agents.delete_session("webhook:a").await.unwrap();
        });
        assert!(report.unwrap().error.is_some());
        until(&mut events, "chat.done").await;
        until(&mut events, "chat.done").await;
        let (code, _) = told(
            house
                .agents
                .history("webhook:a", 10, None)
                .await
                .unwrap_err(),
        );
        assert_eq!(code, "NOT_FOUND");
        assert_eq!(house.agents.count_sessions().await.unwrap(), 0);
        let left = house.store.read(|conn| {
            Box::pin(async move {
                let session = gatehouse_domain::id::SessionId::from_text("x");
                conn.list_chat_spoken(&session, i64::MAX, 10, usize::MAX)
                    .await
            })
        });
        assert!(Result::<_, gatehouse_store::StoreError>::unwrap(left.await).is_empty());
        // The key is free again.
        let fresh = house
            .agents
            .send_sync(webhook("webhook:a", "three", None))
            .await
            .unwrap();
        assert_eq!(house.spoken(fresh.session.as_str()).await.len(), 2);
    }
}

#[tokio::test]
async fn shutdown_stops_what_runs_and_keeps_what_was_said() {
    for house in houses().await {
        house.model.will([Act::Hang("So far".to_owned())]);
        let mut events = house.agents.subscribe();
        let sent = house.agents.send(chat(None, "one")).await.unwrap();
        let session = sent.session.as_str();
        until(&mut events, "chat.delta").await;
        house.agents.send(chat(Some(session), "two")).await.unwrap();
        house.agents.shutdown(Duration::ZERO).await;
        let spoken: Vec<_> = house
            .spoken(session)
            .await
            .into_iter()
            .map(|m| m.1)
            .collect();
        assert_eq!(spoken, ["one", "So far", "two", ""]);
        assert_eq!(house.model.seen().len(), 1);
        let (code, _) = told(house.agents.send(chat(None, "three")).await.unwrap_err());
        assert_eq!(code, "STORAGE_UNAVAILABLE");
        let session = session.to_owned();
        let house = house.restart().await;
        assert!(house.say(Some(&session), "four").await.error.is_none());
    }
}

#[tokio::test]
async fn shutdown_lets_a_turn_finish_in_its_grace() {
    let house = House::new().await;
    let (open, gate) = watch::channel(false);
    house.model.will([Act::Gate(gate)]);
    let sent = house.agents.send(chat(None, "one")).await.unwrap();
    house.model.until(1).await;
    let ending = house.agents.shutdown(Duration::from_mins(1));
    tokio::join!(ending, async { open.send(true).unwrap() });
    assert_eq!(house.spoken(sent.session.as_str()).await.len(), 2);
}

#[tokio::test]
async fn what_runs_is_told_beside_the_messages() {
    let house = House::new().await;
    house
        .model
        .will([Act::Hang("So 𝄞far".to_owned()), say("next")]);
    let mut events = house.agents.subscribe();
    let sent = house.agents.send(chat(None, "one")).await.unwrap();
    let session = sent.session.as_str();
    let mut said = String::new();
    while said != "So 𝄞far" {
        let delta = until(&mut events, "chat.delta").await;
        // JavaScript counts the clef as two.
        assert_eq!(delta["at"], said.encode_utf16().count());
        said.push_str(delta["text"].as_str().unwrap());
    }
    let page = house.agents.history(session, 50, None).await.unwrap();
    assert_eq!(page.messages.len(), 1);
    let running = page.running.unwrap();
    assert_eq!((running.turn_id, running.text), (sent.turn_id, said));
    assert!(house.agents.get_session(session).await.unwrap().running);
    let listed = house
        .agents
        .list_sessions(&gatehouse_agents::SessionQuery {
            limit: 50,
            ..gatehouse_agents::SessionQuery::default()
        })
        .await
        .unwrap();
    assert!(listed.sessions[0].running);

    house.agents.abort(session).await.unwrap();
    until(&mut events, "chat.done").await;
    let page = house.agents.history(session, 50, None).await.unwrap();
    assert_eq!((page.messages.len(), page.running), (2, None));
    assert!(!house.agents.get_session(session).await.unwrap().running);

    house.agents.send(chat(Some(session), "two")).await.unwrap();
    let delta = until(&mut events, "chat.delta").await;
    assert_eq!(delta["at"], 0, "another answer begins at its beginning");
}
