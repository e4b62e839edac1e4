//! Two nodes on one PostgreSQL database. Skipped without PostgreSQL, as `testing` reports.

use crate::fake_model::{Reaction, call, say};
use crate::harness::{Harness, LEASE, TestTool, chat, problem_of, until};
use crate::speaker::TestSpeaker;
use gatehouse_agents::{AgentsSettings, Audience, ButtonRecipient, PressedCall, Remember, Stop};
use gatehouse_domain::id::ApprovalId;
use gatehouse_domain::{Clock, Timestamp};
use gatehouse_store::{StoreError, testing};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Returns the stop reason of each answer of a session, as a node reports it.
async fn stops_of(node: &Harness, session: &str) -> Vec<&'static str> {
    let page = node.agents.history(session, 50, None).await.unwrap();
    let messages = page.messages.iter().filter_map(|message| message.stop);
    messages.map(Stop::as_str).collect()
}

/// Two nodes with the same settings.
async fn two_nodes(settings: AgentsSettings) -> Option<(Harness, Harness)> {
    let database = testing::postgres().await?;
    let other = database.for_another_node();
    let here = Harness::on(database, settings.clone(), true).await;
    Some((here, Harness::on(other, settings, true).await))
}

/// Applies the changes so far, as the feed of a node does.
async fn follow(node: &Harness) {
    let read = node
        .store
        .read(|conn| Box::pin(async move { conn.list_changes(0).await }));
    let changes: Result<Vec<_>, StoreError> = read.await;
    for change in changes.unwrap() {
        node.agents.apply_change(&change.subject).await;
    }
}

#[tokio::test]
async fn a_turn_on_another_node_is_shown_and_stopped() {
    let Some(database) = testing::postgres().await else {
        return;
    };
    let other = database.for_another_node();
    let here = Harness::on(database, AgentsSettings::default(), true).await;
    let there = Harness::on(other, AgentsSettings::default(), true).await;
    here.model.will([
        Reaction::Hang("So far".to_owned()),
        Reaction::Hang("Next".to_owned()),
    ]);
    let mut events = here.agents.subscribe();
    let sent = here.agents.send(chat(None, "one")).await.unwrap();
    let session = sent.session.as_str().to_owned();
    until(&mut events, "chat.delta").await;
    here.agents.send(chat(Some(&session), "two")).await.unwrap();
    for node in [&here, &there] {
        assert!(node.agents.get_session(&session).await.unwrap().running);
        let page = node.agents.history(&session, 50, None).await.unwrap();
        assert_eq!(
            page.running.map(|turn| turn.turn_id),
            Some(sent.turn_id.clone())
        );
    }

    there.agents.abort(&session).await.unwrap();
    follow(&there).await;
    follow(&here).await;
    assert_eq!(until(&mut events, "chat.done").await["stop"], "aborted");
    // The waiting turn runs. The same change does not stop it.
    until(&mut events, "chat.delta").await;
    follow(&here).await;
    assert!(here.agents.get_session(&session).await.unwrap().running);
    assert!(there.agents.get_session(&session).await.unwrap().running);
    there.agents.abort(&session).await.unwrap();
    follow(&here).await;
    assert_eq!(until(&mut events, "chat.done").await["stop"], "aborted");
    assert!(!there.agents.get_session(&session).await.unwrap().running);
}

#[tokio::test]
async fn speech_on_another_node_is_stopped() {
    let Some(database) = testing::postgres().await else {
        return;
    };
    let other = database.for_another_node();
    let here = Harness::on(database, AgentsSettings::default(), true).await;
    let there = Harness::on(other, AgentsSettings::default(), true).await;
    let began = Arc::new(Notify::new());
    let begins = Arc::clone(&began);
    let speaker = TestSpeaker::new(move |_| {
        begins.notify_one();
        Box::pin(std::future::pending())
    });
    here.agents.register_speaker(speaker.clone());
    here.model.will([say("A long story.")]);
    let sent = here.agents.send(chat(None, "Tell")).await.unwrap();
    began.notified().await;
    there.agents.abort(sent.session.as_str()).await.unwrap();
    assert!(!speaker.heard()[0].cancel.is_cancelled());
    follow(&here).await;
    assert!(speaker.heard()[0].cancel.is_cancelled());
}

#[tokio::test]
async fn a_session_runs_one_turn_at_a_time_on_all_nodes() {
    let Some((here, there)) = two_nodes(AgentsSettings::default()).await else {
        return;
    };
    here.model.will([Reaction::Hang("So far".to_owned())]);
    there.model.will([say("Next")]);
    let (mut events, mut events_there) = (here.agents.subscribe(), there.agents.subscribe());
    let sent = here.agents.send(chat(None, "one")).await.unwrap();
    let session = sent.session.as_str().to_owned();
    until(&mut events, "chat.delta").await;
    let behind = there.agents.send(chat(Some(&session), "two")).await;
    assert_eq!(behind.unwrap().position, 1);
    assert!(there.model.seen().is_empty());

    there.agents.abort(&session).await.unwrap();
    follow(&here).await;
    assert_eq!(until(&mut events, "chat.done").await["stop"], "aborted");
    assert_eq!(until(&mut events_there, "chat.done").await["stop"], "end");
    let messages = there.model.messages(0);
    let texts: Vec<_> = messages.iter().map(|message| &message["content"]).collect();
    assert!(texts.contains(&&json!("So far")), "{texts:?}");
    assert_eq!(texts.last(), Some(&&json!("two")));
}

#[tokio::test]
async fn a_waiting_turn_is_stopped_before_it_runs() {
    let Some((here, there)) = two_nodes(AgentsSettings::default()).await else {
        return;
    };
    here.model.will([Reaction::Hang("So far".to_owned())]);
    let (mut events, mut events_there) = (here.agents.subscribe(), there.agents.subscribe());
    let sent = here.agents.send(chat(None, "one")).await.unwrap();
    let session = sent.session.as_str().to_owned();
    until(&mut events, "chat.delta").await;
    there
        .agents
        .send(chat(Some(&session), "two"))
        .await
        .unwrap();
    there.agents.shutdown(Duration::from_secs(20)).await;
    assert_eq!(
        until(&mut events_there, "chat.done").await["stop"],
        "interrupted"
    );
    assert!(there.model.seen().is_empty());
    assert!(here.agents.get_session(&session).await.unwrap().running);
}

#[tokio::test]
async fn a_node_that_was_frozen_does_not_write_into_a_turn_that_another_ended() {
    let Some((here, there)) = two_nodes(AgentsSettings::default()).await else {
        return;
    };
    here.model.will([Reaction::Hang("So far".to_owned())]);
    let mut events = here.agents.subscribe();
    let sent = here.agents.send(chat(None, "one")).await.unwrap();
    let session = sent.session.as_str().to_owned();
    until(&mut events, "chat.delta").await;
    let stops = async || stops_of(&there, &session).await;
    there.agents.background().await;
    there
        .clock
        .advance(LEASE.saturating_sub(Duration::from_millis(1)));
    there.agents.background().await;
    assert_eq!(stops().await, [""; 0], "before the end of its lease");
    there.clock.advance(Duration::from_millis(1));
    there.agents.background().await;
    assert_eq!(stops().await, ["interrupted"]);

    here.agents.abort(&session).await.unwrap();
    until(&mut events, "chat.done").await;
    assert_eq!(stops().await, ["interrupted"]);
}

#[tokio::test]
async fn a_node_whose_clock_is_wrong_by_a_day_does_not_end_the_turns_of_others() {
    let day = 86_400_000;
    for wrong_by in [day, -day] {
        let Some((here, there)) = two_nodes(AgentsSettings::default()).await else {
            return;
        };
        here.model.will([Reaction::Hang("So far".to_owned())]);
        let mut events = here.agents.subscribe();
        let sent = here.agents.send(chat(None, "one")).await.unwrap();
        let session = sent.session.as_str().to_owned();
        until(&mut events, "chat.delta").await;
        let stops = async || stops_of(&there, &session).await;
        let wrong = there.clock.now().as_millis() + wrong_by;
        there.clock.set_wall(Timestamp::from_millis(wrong));
        for _ in 0..3 {
            there.agents.background().await;
            assert_eq!(stops().await, [""; 0], "its node renews it");
            let renew = "UPDATE chat_turns SET alive_until = alive_until + 15000";
            testing::run_sql(&here.database.location, renew).await;
            there.clock.advance(Duration::from_secs(40));
        }
        there.agents.background().await;
        there.clock.advance(LEASE);
        there.agents.background().await;
        assert_eq!(stops().await, ["interrupted"], "its node is gone");
        here.agents.abort(&session).await.unwrap();
        until(&mut events, "chat.done").await;
    }
}

#[tokio::test]
async fn the_nodes_compare_the_leases_of_turns_by_the_clock_of_the_database() {
    let Some((here, there)) = two_nodes(AgentsSettings::default()).await else {
        return;
    };
    let clock: Arc<dyn Clock> = here.clock.clone();
    here.store.measure_clock(&clock).await.unwrap();
    there.clock.set_wall(there.clock.now().after(LEASE * 2));
    let clock: Arc<dyn Clock> = there.clock.clone();
    there.store.measure_clock(&clock).await.unwrap();
    here.model.will([Reaction::Hang("So far".to_owned())]);
    let mut events = here.agents.subscribe();
    let sent = here.agents.send(chat(None, "one")).await.unwrap();
    let session = sent.session.as_str().to_owned();
    until(&mut events, "chat.delta").await;
    assert!(there.agents.get_session(&session).await.unwrap().running);
    let page = there.agents.history(&session, 50, None).await.unwrap();
    assert!(page.running.is_some());
    here.agents.abort(&session).await.unwrap();
    until(&mut events, "chat.done").await;
}

#[tokio::test]
async fn a_turn_that_its_node_renews_after_it_was_read_is_not_ended() {
    let Some((here, there)) = two_nodes(AgentsSettings::default()).await else {
        return;
    };
    here.model.will([Reaction::Hang("So far".to_owned())]);
    let mut events = here.agents.subscribe();
    let sent = here.agents.send(chat(None, "one")).await.unwrap();
    let session = sent.session.as_str().to_owned();
    until(&mut events, "chat.delta").await;
    there.agents.background().await;
    there.clock.advance(LEASE);
    let renew = "BEGIN; UPDATE chat_turns SET alive_until = alive_until + 15000;
        SELECT pg_sleep(1); COMMIT";
    let ending = async {
        // The read of this node sees the state before the renewal, and its write waits for the
        // renewal.
        testing::until_waits_for(&here.database.location, "PgSleep").await;
        there.agents.background().await;
    };
    tokio::join!(testing::run_sql(&here.database.location, renew), ending);
    assert_eq!(stops_of(&there, &session).await, [""; 0]);
    here.agents.abort(&session).await.unwrap();
    until(&mut events, "chat.done").await;
}

#[tokio::test]
async fn an_approval_is_listed_and_answered_on_every_node() {
    let settings = AgentsSettings {
        require_approval: vec!["double".to_owned()],
        ..AgentsSettings::default()
    };
    let Some((here, there)) = two_nodes(settings).await else {
        return;
    };
    let tool = TestTool::double("double", Audience::Public);
    here.agents.tools().register(tool);
    for (allow, status) in [(true, "ok"), (false, "denied")] {
        here.model
            .will([call("double", &json!({ "x": 4 })), say("done")]);
        let mut events = here.agents.subscribe();
        let sending = here.agents.send_sync(chat(None, "go"));
        let (report, ()) = tokio::join!(sending, async {
            let asked = until(&mut events, "approval.requested").await;
            let id = ApprovalId::from_text(asked["id"].as_str().unwrap());
            for node in [&here, &there] {
                let listed = node.agents.list_approvals().await.unwrap();
                assert_eq!(serde_json::to_value(&listed).unwrap(), json!([asked]));
            }
            let token = here.agents.approval_token(&id).unwrap();
            let found = there.agents.find_approval_by_token(&token).await;
            assert_eq!(found.unwrap().map(|found| found.id), Some(id.clone()));
            let found = there.agents.find_approval_by_token("guessed").await;
            assert_eq!(found.unwrap(), None);
            let place = ButtonRecipient {
                account: "telegram".to_owned(),
                chat: "42".to_owned(),
                person: "42".to_owned(),
            };
            let button = here.agents.button_token(&id, &place, "allow").unwrap();
            let pressed = async |choice: &str| {
                let found = there
                    .agents
                    .find_approval_by_button(&button, &place, choice);
                found.await.unwrap()
            };
            let PressedCall::Waiting(found) = pressed("allow").await else {
                panic!("the call waits");
            };
            assert_eq!(found.id, id);
            assert_eq!(pressed("deny").await, PressedCall::Gone);

            let answered = there.agents.resolve_approval(&id, allow, None).await;
            answered.unwrap();
            assert_eq!(pressed("allow").await, PressedCall::Gone);
            // The first answer counts.
            for node in [&here, &there] {
                let late = node.agents.resolve_approval(&id, !allow, None).await;
                assert_eq!(problem_of(late.unwrap_err()).0, "NOT_FOUND");
            }
            follow(&here).await;
        });
        assert_eq!(report.unwrap().actions[0].status.as_str(), status);
        assert!(there.agents.list_approvals().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn of_two_approvals_at_once_on_two_nodes_only_one_allows_later_calls() {
    let settings = AgentsSettings {
        require_approval: vec!["double".to_owned()],
        ..AgentsSettings::default()
    };
    let Some((here, there)) = two_nodes(settings).await else {
        return;
    };
    let tool = TestTool::double("double", Audience::Public);
    here.agents.tools().register(tool);
    here.model
        .will([call("double", &json!({ "x": 4 })), say("done")]);
    let mut events = here.agents.subscribe();
    let sending = here.agents.send_sync(chat(None, "go"));
    let (report, answers) = tokio::join!(sending, async {
        let asked = until(&mut events, "approval.requested").await;
        let id = ApprovalId::from_text(asked["id"].as_str().unwrap());
        let (session, arguments) = (Some(Remember::Session), Some(Remember::Arguments));
        let answers = tokio::join!(
            here.agents.resolve_approval(&id, true, session),
            there.agents.resolve_approval(&id, true, arguments),
        );
        follow(&here).await;
        answers
    });
    assert_eq!(report.unwrap().actions[0].status.as_str(), "ok");
    let (is_here_first, late) = match answers {
        (Ok(()), Err(late)) => (true, late),
        (Err(late), Ok(())) => (false, late),
        both => panic!("{both:?}"),
    };
    assert_eq!(problem_of(late).0, "NOT_FOUND");
    for node in [&here, &there] {
        let allowed = node.agents.list_allowed_calls().await.unwrap();
        assert_eq!(allowed.len(), 1, "{allowed:?}");
        assert_eq!(allowed[0].session.is_some(), is_here_first);
    }
}

#[tokio::test]
async fn a_button_for_a_call_of_a_late_node_is_not_gone() {
    let settings = AgentsSettings {
        require_approval: vec!["double".to_owned()],
        approval_wait: Duration::from_mins(10),
        ..AgentsSettings::default()
    };
    let Some((here, there)) = two_nodes(settings).await else {
        return;
    };
    let tool = TestTool::double("double", Audience::Public);
    here.agents.tools().register(tool);
    here.model
        .will([call("double", &json!({ "x": 4 })), say("done")]);
    let mut events = here.agents.subscribe();
    let sending = here.agents.send_sync(chat(None, "go"));
    let (report, ()) = tokio::join!(sending, async {
        let asked = until(&mut events, "approval.requested").await;
        let id = ApprovalId::from_text(asked["id"].as_str().unwrap());
        let place = ButtonRecipient {
            account: "telegram".to_owned(),
            chat: "42".to_owned(),
            person: "42".to_owned(),
        };
        let button = here.agents.button_token(&id, &place, "allow").unwrap();
        let pressed = async || {
            let found = there
                .agents
                .find_approval_by_button(&button, &place, "allow");
            found.await.unwrap()
        };
        there.clock.advance(Duration::from_mins(1));
        assert!(matches!(pressed().await, PressedCall::Waiting(_)));
        there.clock.advance(Duration::from_secs(1));
        assert_eq!(pressed().await, PressedCall::Paused);
        there.clock.advance(Duration::from_mins(9));
        assert_eq!(pressed().await, PressedCall::Gone, "it has expired");
        here.agents.resolve_approval(&id, true, None).await.unwrap();
    });
    assert_eq!(report.unwrap().actions[0].status.as_str(), "ok");
}

#[tokio::test]
async fn an_answer_that_no_change_announced_counts_when_the_wait_ends() {
    let settings = AgentsSettings {
        require_approval: vec!["double".to_owned()],
        approval_wait: Duration::from_secs(1),
        ..AgentsSettings::default()
    };
    for (allow, status) in [(true, "ok"), (false, "denied")] {
        let Some((here, there)) = two_nodes(settings.clone()).await else {
            return;
        };
        let tool = TestTool::double("double", Audience::Public);
        here.agents.tools().register(tool);
        here.model
            .will([call("double", &json!({ "x": 4 })), say("done")]);
        let mut events = here.agents.subscribe();
        let sending = here.agents.send_sync(chat(None, "go"));
        let (report, ()) = tokio::join!(sending, async {
            let asked = until(&mut events, "approval.requested").await;
            let id = ApprovalId::from_text(asked["id"].as_str().unwrap());
            let answered = there.agents.resolve_approval(&id, allow, None).await;
            answered.unwrap();
        });
        assert_eq!(report.unwrap().actions[0].status.as_str(), status);
    }
}

#[tokio::test]
async fn a_node_whose_turn_another_ended_asks_no_model_again() {
    let settings = AgentsSettings {
        require_approval: vec!["double".to_owned()],
        approval_wait: Duration::from_secs(3),
        ..AgentsSettings::default()
    };
    let Some((here, there)) = two_nodes(settings).await else {
        return;
    };
    let tool = TestTool::double("double", Audience::Public);
    here.agents.tools().register(tool);
    here.model
        .will([call("double", &json!({ "x": 4 })), say("done")]);
    let mut events = here.agents.subscribe();
    let sending = here.agents.send_sync(chat(None, "go"));
    let (report, ()) = tokio::join!(sending, async {
        until(&mut events, "approval.requested").await;
        there.agents.background().await;
        there.clock.advance(LEASE);
        there.agents.background().await;
        assert!(there.agents.list_approvals().await.unwrap().is_empty());
    });
    let report = report.unwrap();
    assert_eq!(report.stop.as_str(), "interrupted");
    assert_eq!(here.model.seen().len(), 1);
}

#[tokio::test]
async fn the_next_turn_ends_one_of_a_node_that_is_gone() {
    let Some((here, there)) = two_nodes(AgentsSettings::default()).await else {
        return;
    };
    here.model.will([Reaction::Hang("So far".to_owned())]);
    there.model.will([say("Next")]);
    let (mut events, mut events_there) = (here.agents.subscribe(), there.agents.subscribe());
    let sent = here.agents.send(chat(None, "one")).await.unwrap();
    let session = sent.session.as_str().to_owned();
    until(&mut events, "chat.delta").await;
    there.agents.background().await;
    there.clock.advance(LEASE);
    there
        .agents
        .send(chat(Some(&session), "two"))
        .await
        .unwrap();
    // The first turn ends on all nodes, then the second one runs.
    assert_eq!(
        until(&mut events_there, "chat.done").await["stop"],
        "interrupted"
    );
    assert_eq!(until(&mut events_there, "chat.done").await["stop"], "end");

    // The node was only frozen. Its further work is not stored.
    here.agents.abort(&session).await.unwrap();
    until(&mut events, "chat.done").await;
    let page = here.agents.history(&session, 50, None).await.unwrap();
    let stops = page.messages.iter().filter_map(|message| message.stop);
    let stops: Vec<_> = stops.map(Stop::as_str).collect();
    assert_eq!(stops, ["interrupted", "end"]);
}
