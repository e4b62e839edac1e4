//! Faults between a node and its PostgreSQL server, simulated by a proxy.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot continue has failed; the proxy's tasks end with the test"
)]

mod proxy;
mod silence;

use gatehouse_domain::Timestamp;
use gatehouse_store::testing::{hold_write_lock, postgres};
use gatehouse_store::{Location, NodeMessage, OpenError, Snapshot, Store, StoreError};
use proxy::{Fault, Proxy};
use serde_json::json;
use silence::RECOVERY;
use std::time::Duration;
use tokio::net::TcpListener;

async fn write(store: &Store, key: &'static str) -> Result<(), StoreError> {
    let at = Timestamp::from_millis(1);
    store
        .write(move |conn| {
            Box::pin(async move { conn.update_setting(key, &json!(1), at).await.map(drop) })
        })
        .await
}

async fn has(store: &Store, key: &'static str) -> bool {
    let found = store
        .read(move |conn| Box::pin(async move { conn.find_setting(key).await }))
        .await;
    found.map_err(|error: StoreError| error).unwrap().is_some()
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_looked_up() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let store = Store::open(&proxy.location).await.unwrap();
    write(&store, "before").await.unwrap();

    // The response is lost while the server commits. The outcome is determined by the transaction's ID.
    proxy.set(Fault::CutAfterCommit);
    write(&store, "committed").await.unwrap();
    assert!(has(&store, "committed").await);

    proxy.set(Fault::CutBeforeCommit);
    let refused = write(&store, "undone").await;
    assert!(
        matches!(refused, Err(StoreError::NotCommitted(_))),
        "{refused:?}"
    );
    assert!(!has(&store, "undone").await);

    write(&store, "after").await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_commit_that_cannot_be_looked_up_is_never_called_undone() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let store = Store::open(&proxy.location).await.unwrap();
    write(&store, "before").await.unwrap();
    proxy.set(Fault::CutForGood);
    let outcome = write(&store, "committed").await;
    assert!(
        matches!(outcome, Err(StoreError::OutcomeUnknown)),
        "{outcome:?}"
    );
    proxy.set(Fault::None);
    assert!(has(&store, "committed").await);
    store.close().await;
}

#[tokio::test]
async fn nothing_is_written_through_a_pooler_that_drops_the_options() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    proxy.set(Fault::NoOptions);
    let store = Store::open(&proxy.location).await.unwrap();
    let refused = write(&store, "a").await;
    assert!(
        matches!(refused, Err(StoreError::NotCommitted(_))),
        "{refused:?}"
    );
    assert!(!has(&store, "a").await);
    proxy.set(Fault::None);
    write(&store, "a").await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_write_that_the_database_does_not_take_is_remembered_until_one_on_trial_succeeds() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    proxy.set(Fault::NoOptions);
    let store = Store::open(&proxy.location).await.unwrap();
    assert!(!store.has_failed_to_write());
    write(&store, "a").await.unwrap_err();
    assert!(store.has_failed_to_write());
    store.try_writing().await.unwrap_err();
    assert!(store.has_failed_to_write());
    proxy.set(Fault::None);
    store.try_writing().await.unwrap();
    assert!(!store.has_failed_to_write());
    assert!(!has(&store, "write_probe").await);
    // A refused row is not a fault of the database.
    write(&store, "a\0b").await.unwrap_err();
    assert!(!store.has_failed_to_write());
    store.close().await;
}

#[tokio::test]
async fn a_write_that_ignores_a_failed_statement_is_not_acknowledged() {
    let Some(database) = postgres().await else {
        return;
    };
    let store = database.open().await;
    let written: Result<(), StoreError> = store
        .write(|conn| {
            Box::pin(async move {
                let at = Timestamp::from_millis(1);
                conn.update_setting("lost", &json!(1), at).await?;
                // PostgreSQL rejects NUL in text.
                drop(conn.update_setting("a\0b", &json!(1), at).await);
                Ok(())
            })
        })
        .await;
    assert!(written.is_err());
    assert!(!has(&store, "lost").await);
    store.close().await;
}

#[tokio::test]
async fn a_connection_that_dies_in_silence_is_given_up_and_replaced() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let store = Store::open(&proxy.location).await.unwrap();
    write(&store, "before").await.unwrap();
    proxy.set(Fault::Silence);
    let (written, read) = tokio::join!(write(&store, "lost"), store.ping());
    assert!(written.unwrap_err().is_unavailable());
    assert!(read.unwrap_err().is_unavailable());
    proxy.set(Fault::None);
    write(&store, "after").await.unwrap();
    assert!(has(&store, "after").await);
    assert!(!has(&store, "lost").await);
    store.close().await;
}

#[tokio::test]
async fn a_session_whose_settings_are_not_answered_is_given_up() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let store = Store::open(&proxy.location).await.unwrap();
    proxy.set(Fault::NoQueries);
    let written = tokio::time::timeout(RECOVERY, write(&store, "lost")).await;
    assert!(written.unwrap().unwrap_err().is_unavailable());
    proxy.set(Fault::None);
    write(&store, "after").await.unwrap();
    assert!(!has(&store, "lost").await);
    store.close().await;
}

/// The maximum time until a start fails if the server stops responding during a migration.
const SILENCE: Duration = Duration::from_mins(1);

#[tokio::test]
async fn a_start_fails_if_the_server_falls_silent_within_a_migration() {
    let Some(database) = postgres().await else {
        return;
    };
    for fault in [Fault::SilentMigration, Fault::SilentMigrator] {
        let proxy = Proxy::before(&database).await;
        proxy.set(fault);
        let opened = tokio::time::timeout(SILENCE, Store::open(&proxy.location)).await;
        let refused = opened.unwrap().unwrap_err();
        assert!(
            matches!(&refused, OpenError::Migrate(cause) if cause.is_unavailable()),
            "{fault:?} {refused:?}"
        );
    }
}

#[tokio::test]
async fn a_start_waits_for_the_migration_of_another_node() {
    let Some(database) = postgres().await else {
        return;
    };
    let held = hold_write_lock(&database.location).await;
    let opening = Store::open(&database.location);
    // The lock is held for longer than two checks of the waiting statement.
    let release = async {
        tokio::time::sleep(Duration::from_secs(22)).await;
        drop(held);
    };
    let (opened, ()) = tokio::join!(opening, release);
    opened.unwrap().close().await;
}

#[tokio::test]
async fn a_server_that_accepts_connections_and_never_answers_fails_starts_and_backups() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let location = Location::from_url(&format!("postgres://a:b@127.0.0.1:{port}/c")).unwrap();
    let silent = tokio::spawn(async move {
        let mut connections = Vec::new();
        while let Ok((connection, _)) = listener.accept().await {
            connections.push(connection);
        }
    });
    let both = async { tokio::join!(Store::open(&location), Snapshot::open(&location)) };
    let (opened, read) = tokio::time::timeout(RECOVERY, both).await.unwrap();
    for refused in [opened.unwrap_err(), read.unwrap_err()] {
        assert!(matches!(refused, OpenError::Connect { .. }), "{refused:?}");
    }
    silent.abort();
}

#[tokio::test]
async fn a_node_that_freezes_within_a_transaction_loses_its_lock() {
    let Some(database) = postgres().await else {
        return;
    };
    let (frozen, other) = (database.open().await, database.open().await);
    let (holds, held) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        frozen
            .write(move |conn| {
                Box::pin(async move {
                    conn.update_setting("frozen", &json!(1), Timestamp::from_millis(1))
                        .await?;
                    holds.send(()).unwrap();
                    std::future::pending::<Result<(), StoreError>>().await
                })
            })
            .await
    });
    held.await.unwrap();
    write(&other, "other").await.unwrap();
    assert!(!has(&other, "frozen").await);
    other.close().await;
}

#[tokio::test]
async fn a_message_reaches_every_other_node_whole_and_in_order() {
    let Some(database) = postgres().await else {
        return;
    };
    let nodes = [
        database.open().await,
        database.open().await,
        database.open().await,
    ];
    let mut receivers = Vec::new();
    for node in &nodes {
        receivers.push(node.node_messages());
        // The first notification reports that the node is listening.
        node.notified().changed().await.unwrap();
    }
    let long = "€".repeat(10_000);
    let sent = ["first", "first", &long, "last\n'quoted'"];
    for text in sent {
        assert!(nodes[0].send_to_nodes(text.to_owned()));
    }
    for receiver in &mut receivers[1..] {
        for text in sent {
            let message = loop {
                let message = receiver.recv().await.unwrap();
                if message != NodeMessage::Missed {
                    break message;
                }
            };
            assert_eq!(message, NodeMessage::Text(text.into()));
        }
    }
    assert!(nodes[1].send_to_nodes("answer".to_owned()));
    let answer = loop {
        match receivers[0].recv().await.unwrap() {
            NodeMessage::Missed => {}
            answer @ NodeMessage::Text(_) => break answer,
        }
    };
    assert_eq!(
        answer,
        NodeMessage::Text("answer".into()),
        "a node does not hear itself"
    );
    for node in nodes {
        node.close().await;
    }
}

#[tokio::test]
async fn a_listening_connection_that_dies_in_silence_is_replaced() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let node = Store::open(&proxy.location).await.unwrap();
    let mut messages = node.node_messages();
    node.notified().changed().await.unwrap();
    assert_eq!(messages.recv().await.unwrap(), NodeMessage::Missed);
    proxy.set(Fault::Silence);
    // Waits longer than the interval between two checks plus the timeout for an answer. The node has then begun to
    // reconnect.
    tokio::time::sleep(Duration::from_millis(16_500)).await;
    // The new connection also becomes silent.
    proxy.silence_all();
    // A new connection reports that messages may have been missed. The old connection would have stayed silent.
    let missed = tokio::time::timeout(Duration::from_secs(30), messages.recv()).await;
    assert_eq!(missed.unwrap().unwrap(), NodeMessage::Missed);
    node.close().await;
}

#[tokio::test]
async fn a_change_on_one_node_is_heard_on_another() {
    let Some(database) = postgres().await else {
        return;
    };
    let (one, other) = (database.open().await, database.open().await);
    let mut heard = other.notified();
    // The first notification reports that the node is listening.
    heard.changed().await.unwrap();
    let at = Timestamp::from_millis(1);
    let write =
        one.write(move |conn| Box::pin(async move { conn.insert_change("settings", at).await }));
    let written: Result<_, StoreError> = write.await;
    written.unwrap();
    heard.changed().await.unwrap();
    one.close().await;
    other.close().await;
}
