//! Two nodes on one PostgreSQL database. Left out without PostgreSQL, as `testing` reports.

use crate::fake_model::{Reaction, say};
use crate::harness::{Harness, chat, until};
use crate::speaker::TestSpeaker;
use gatehouse_agents::AgentsSettings;
use gatehouse_store::{StoreError, testing};
use std::sync::Arc;
use tokio::sync::Notify;

/// Applies the changes so far, as the feed of a node does.
async fn follow(node: &Harness) {
    let read = node
        .store
        .read(|conn| Box::pin(async move { conn.list_changes(0).await }));
    let changes: Result<Vec<_>, StoreError> = read.await;
    for change in changes.unwrap() {
        node.agents.apply_change(&change.subject);
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
    }

    there.agents.abort(&session).await.unwrap();
    follow(&there).await;
    follow(&here).await;
    assert_eq!(until(&mut events, "chat.done").await["stop"], "aborted");
    // The waiting turn runs, and the same change does not stop it.
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
