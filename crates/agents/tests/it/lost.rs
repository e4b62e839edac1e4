//! Turns of a process that was killed.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, TestTool, chat, harnesses, until, webhook};
use gatehouse_agents::{AgentsError, Audience, Message, Stop};
use gatehouse_domain::Fence;
use gatehouse_store::testing::run_sql;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn ends(history: &[Message]) -> Vec<(&str, &str, Option<Stop>)> {
    history
        .iter()
        .map(|message| {
            (
                message.role.as_str(),
                message.content.as_str(),
                message.stop,
            )
        })
        .collect()
}

#[tokio::test]
async fn the_history_says_interrupted_and_keeps_the_text_so_far() {
    for harness in harnesses().await {
        harness.model.will([Reaction::Hang("So far".to_owned())]);
        let sent = harness.agents.send(chat(None, "one")).await.unwrap();
        let session = sent.session.as_str();
        harness.until_saved("So far").await;
        harness
            .agents
            .send(chat(Some(session), "two"))
            .await
            .unwrap();
        let agents = harness.after_a_kill().await;
        let page = agents.history(session, 50, None).await.unwrap();
        let interrupted = Some(Stop::Interrupted);
        assert_eq!(
            ends(&page.messages),
            [
                ("user", "one", None),
                ("assistant", "So far", interrupted),
                ("user", "two", None),
                ("assistant", "", interrupted),
            ]
        );
        assert_eq!(page.messages[1].model.as_deref(), Some("fake/m1"));
        let record = agents.get_session(session).await.unwrap();
        assert_eq!(record.message_count, 4);
        // A turn that has ended is not marked as interrupted, and a turn is marked as interrupted only once.
        let report = agents
            .send_sync(chat(Some(session), "three"))
            .await
            .unwrap();
        assert_eq!(report.text, "ok");
        let agents = harness.after_a_kill().await;
        let page = agents.history(session, 50, None).await.unwrap();
        assert_eq!(page.messages.len(), 6);
        harness.agents.abort(session).await.unwrap();
    }
}

#[tokio::test]
async fn a_delivery_that_runs_again_stands_once_in_its_session() {
    for harness in harnesses().await {
        harness.model.will([Reaction::Hang("So far".to_owned())]);
        let event = webhook("webhook:a", "event", None);
        harness.agents.send(event.clone()).await.unwrap();
        harness.until_saved("So far").await;
        let agents = harness.after_a_kill().await;
        harness.model.will([say("Done.")]);
        let again = agents.send_sync(event.clone()).await.unwrap();
        assert_eq!(again.text, "Done.");
        let page = agents.history("webhook:a", 50, None).await.unwrap();
        let expected = [
            ("user", "event", None),
            ("assistant", "So far", Some(Stop::Interrupted)),
            ("assistant", "Done.", Some(Stop::End)),
        ];
        assert_eq!(ends(&page.messages), expected);
        let turns: Vec<_> = page
            .messages
            .iter()
            .map(|message| &message.turn_id)
            .collect();
        assert!(turns.iter().all(|turn| *turn == turns[0]));
        // The model does not see the previous attempt.
        let sent = harness.model.messages(1);
        assert_eq!(sent.last().unwrap()["content"], "event");
        // After another turn, a new attempt becomes a new turn.
        agents
            .send_sync(chat(Some("webhook:a"), "And?"))
            .await
            .unwrap();
        agents.send_sync(event).await.unwrap();
        let page = agents.history("webhook:a", 50, None).await.unwrap();
        let events = page
            .messages
            .iter()
            .filter(|message| message.content == "event");
        assert_eq!(events.count(), 2);
    }
}

#[tokio::test]
async fn a_deleted_session_leaves_no_turn() {
    let harness = Harness::new().await;
    harness.model.will([Reaction::Hang("So far".to_owned())]);
    let mut events = harness.agents.subscribe();
    let sent = harness.agents.send(chat(None, "one")).await.unwrap();
    until(&mut events, "chat.delta").await;
    let session = sent.session.as_str();
    harness.agents.delete_session(session).await.unwrap();
    let agents = harness.after_a_kill().await;
    assert!(agents.history(session, 50, None).await.is_err());
}

/// A process that was suspended may continue after another node has run its work.
#[tokio::test]
async fn a_turn_of_work_that_another_node_may_have_taken_over_is_not_stored_or_asks_no_model() {
    for permitted in 0..4 {
        let harness = Harness::new().await;
        harness.model.will([say("too late")]);
        let checks = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&checks);
        let fence = Fence::new(move || count.fetch_add(1, Ordering::Relaxed) < permitted);
        let sent = fence.over(harness.agents.send_sync(chat(None, "go"))).await;
        if permitted == 0 {
            assert!(matches!(sent, Err(AgentsError::TakenOver)), "{sent:?}");
            assert_eq!(harness.session_count().await, 0);
        } else {
            assert!(!sent.unwrap().has_answer, "{permitted}");
        }
        assert!(checks.load(Ordering::Relaxed) > permitted);
        assert!(harness.model.seen().is_empty(), "{permitted}");
    }
}

/// A node that is cut off from its database must not act.
#[tokio::test]
async fn a_node_that_cannot_store_an_answer_makes_none_of_its_calls() {
    for harness in harnesses().await {
        let made = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&made);
        let tool = TestTool::new("double", Audience::Public, move |_, _| {
            count.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { Ok("2".to_owned()) })
        });
        harness.agents.tools().register(tool);
        harness.model.hold();
        harness.model.will([call("double", &json!({ "x": 1 }))]);
        let location = &harness.database.location;
        let cut_off = async {
            harness.model.until(1).await;
            run_sql(location, "ALTER TABLE chat_messages RENAME TO away").await;
            harness.model.release(10);
        };
        let (report, ()) = tokio::join!(harness.say(None, "Twice 1?"), cut_off);
        assert!(report.error.is_some());
        assert_eq!(made.load(Ordering::Relaxed), 0);
        assert_eq!(harness.model.seen().len(), 1);
    }
}
