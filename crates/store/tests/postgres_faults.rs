//! Faults between a node and its PostgreSQL server, simulated by a proxy.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on has failed; the proxy's tasks end with the test"
)]

use futures_util::future::{BoxFuture, try_join_all};
use gatehouse_domain::Timestamp;
use gatehouse_store::testing::{TestDatabase, postgres};
use gatehouse_store::{Conn, Location, NodeMessage, Store, StoreError};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The behavior of the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Forwards everything.
    None,
    /// Forwards nothing in either direction and closes nothing.
    Silence,
    /// The same for the connections with a smaller number. Forwards everything on later ones.
    SilenceBefore(u64),
    /// Does not forward simple queries, as they configure a session. Forwards everything else.
    NoQueries,
    /// Forwards requests only.
    NoAnswers,
    /// Forwards a `COMMIT` and closes the connection instead of forwarding the response.
    CutAfterCommit,
    /// Closes the connection instead of forwarding a `COMMIT`.
    CutBeforeCommit,
    /// Like [`Fault::CutAfterCommit`], and closes every later connection.
    CutForGood,
    /// Closes every connection.
    Closed,
    /// Does not forward notifications, as a pooler in transaction mode.
    NoNotifications,
    /// Removes the options of a connection when it starts, as `PgBouncer` does with `ignore_startup_parameters`.
    NoOptions,
}

/// A TCP proxy for a PostgreSQL server.
struct Proxy {
    fault: Arc<watch::Sender<Fault>>,
    /// The number of connections so far.
    accepted: Arc<AtomicU64>,
    location: Location,
}

impl Proxy {
    async fn before(database: &TestDatabase) -> Self {
        let url = database.location.url();
        let (user, rest) = url.split_once('@').unwrap();
        let (server, path) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let fault = Arc::new(watch::Sender::new(Fault::None));
        let accepted = Arc::new(AtomicU64::new(0));
        let (control, server) = (Arc::clone(&fault), server.to_owned());
        let counter = Arc::clone(&accepted);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let number = counter.fetch_add(1, Ordering::SeqCst);
                let server = TcpStream::connect(&server).await.unwrap();
                tokio::spawn(forward(client, server, number, Arc::clone(&control)));
            }
        });
        Self {
            fault,
            accepted,
            location: Location::from_url(&format!("{user}@127.0.0.1:{port}/{path}")).unwrap(),
        }
    }

    fn set(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }

    /// Forwards nothing on the connections that exist, and everything on later ones.
    fn silence_all(&self) {
        self.set(Fault::SilenceBefore(self.accepted.load(Ordering::SeqCst)));
    }
}

async fn forward(
    client: TcpStream,
    server: TcpStream,
    number: u64,
    fault: Arc<watch::Sender<Fault>>,
) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let requests = pump(from_client, to_server, number, Arc::clone(&fault), true);
    let answers = pump(from_server, to_client, number, fault, false);
    // The end of one direction closes both. Requests are handled first.
    tokio::select! {
        biased;
        () = requests => {}
        () = answers => {}
    }
}

/// Splits what a server sends into messages.
#[derive(Default)]
struct Answers {
    pending: Vec<u8>,
    have_begun: bool,
}

impl Answers {
    /// Returns what to forward, which are whole messages.
    fn pass(&mut self, bytes: &[u8], without_notifications: bool) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        // The answer to a request for TLS is one byte.
        if !std::mem::replace(&mut self.have_begun, true) && self.pending.len() == 1 {
            return std::mem::take(&mut self.pending);
        }
        let mut sent = Vec::new();
        while let Some(length) = self.pending.get(1..5) {
            let length = u32::from_be_bytes(length.try_into().unwrap());
            let end = 1 + usize::try_from(length).unwrap();
            if self.pending.len() < end {
                break;
            }
            let message: Vec<u8> = self.pending.drain(..end).collect();
            if !(without_notifications && message.starts_with(b"A")) {
                sent.extend(message);
            }
        }
        sent
    }
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    number: u64,
    fault: Arc<watch::Sender<Fault>>,
    is_requests: bool,
) {
    let mut answers = Answers::default();
    let mut buffer = vec![0; 65_536];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let bytes = buffer.get(..read).unwrap();
        let commits = is_requests && bytes.windows(6).any(|window| window == b"COMMIT");
        let now = *fault.borrow();
        match now {
            Fault::Silence => until_over(&fault, now).await,
            Fault::SilenceBefore(later) if number < later => until_over(&fault, now).await,
            Fault::NoQueries if is_requests && bytes.starts_with(b"Q") => {
                until_over(&fault, now).await;
            }
            Fault::NoAnswers if !is_requests => until_over(&fault, Fault::NoAnswers).await,
            Fault::CutBeforeCommit if commits => {
                fault.send_replace(Fault::None);
                return;
            }
            Fault::Closed => return,
            Fault::CutAfterCommit | Fault::CutForGood if commits => {
                fault.send_replace(Fault::NoAnswers);
                to.write_all(bytes).await.unwrap();
                // Enough time for the server to read the message. If it were not, nothing would be committed
                // and the test would fail.
                tokio::time::sleep(Duration::from_millis(500)).await;
                fault.send_replace(if now == Fault::CutForGood {
                    Fault::Closed
                } else {
                    Fault::None
                });
                return;
            }
            _ => {}
        }
        let sent = if is_requests {
            let without = (now == Fault::NoOptions).then(|| without_options(bytes));
            without.flatten()
        } else {
            Some(answers.pass(bytes, now == Fault::NoNotifications))
        };
        if to
            .write_all(sent.as_deref().unwrap_or(bytes))
            .await
            .is_err()
        {
            return;
        }
    }
}

/// The message that starts a connection, without its options. `None` for any other message.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-STARTUPMESSAGE>
fn without_options(message: &[u8]) -> Option<Vec<u8>> {
    const NAME: &[u8] = b"\0options\0";
    let name = message.windows(NAME.len()).position(|it| it == NAME)?;
    let (before, rest) = message.split_at_checked(name + 1)?;
    let (_, value) = rest.split_at_checked(NAME.len() - 1)?;
    let end = value.iter().position(|byte| *byte == 0)?;
    let (_, after) = value.split_at_checked(end + 1)?;
    let mut kept = [before, after].concat();
    let length = u32::try_from(kept.len()).ok()?.to_be_bytes();
    kept.get_mut(..4)?.copy_from_slice(&length);
    Some(kept)
}

async fn until_over(fault: &watch::Sender<Fault>, now: Fault) {
    drop(fault.subscribe().wait_for(|fault| *fault != now).await);
}

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

    // The response is cut off while the server commits; the outcome is found by the transaction's ID.
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

/// The longest time for which a node may be without its database if only its connections are silent.
const RECOVERY: Duration = Duration::from_secs(15);

/// Repeats an operation until it succeeds. Returns how often it failed.
async fn failures(mut operation: impl AsyncFnMut() -> Result<(), StoreError>) -> usize {
    let mut failed = 0;
    while let Err(error) = operation().await {
        assert!(error.is_unavailable(), "{error:?}");
        failed += 1;
        assert!(failed < 30);
    }
    failed
}

fn look(conn: &mut Conn) -> BoxFuture<'_, Result<(), StoreError>> {
    Box::pin(async move { conn.find_last_change().await.map(drop) })
}

#[tokio::test]
async fn a_node_whose_connections_are_all_silent_recovers() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let store = Store::open(&proxy.location).await.unwrap();
    let use_all = async || {
        let reads = (0..4).map(|_| store.ping());
        let reads = async { try_join_all(reads).await.map(drop) };
        tokio::try_join!(
            reads,
            store.write(look),
            store.write_queue(look),
            store.write_arrivals(look),
            store.write_limits(look),
        )
    };
    use_all().await.unwrap();
    proxy.silence_all();
    let recovery = async {
        tokio::join!(
            failures(async || store.ping().await),
            failures(async || store.write(look).await),
            failures(async || store.write_queue(look).await),
            failures(async || store.write_arrivals(look).await),
            failures(async || store.write_limits(look).await),
        )
    };
    let failed = tokio::time::timeout(RECOVERY, recovery).await.unwrap();
    assert_eq!(failed, (1, 1, 1, 1, 1));
    use_all().await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn reads_whose_callers_give_up_early_do_not_keep_silent_connections() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let store = Store::open(&proxy.location).await.unwrap();
    store.ping().await.unwrap();
    proxy.silence_all();
    let impatient = async || {
        let read = tokio::time::timeout(Duration::from_secs(1), store.ping()).await;
        read.unwrap_or_else(|_| Err(StoreError::NotCommitted("given up".to_owned())))
    };
    let failed = tokio::time::timeout(RECOVERY, failures(impatient)).await;
    assert!(failed.unwrap() > 0);
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
    // Longer than the time between two checks and the time for an answer. The node has begun to connect again.
    tokio::time::sleep(Duration::from_millis(16_500)).await;
    // That connection remains silent as well.
    proxy.silence_all();
    // A new connection reports that messages may have been missed. The old one would go on without a word.
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

#[tokio::test]
async fn a_node_notices_that_notifications_do_not_arrive() {
    let Some(database) = postgres().await else {
        return;
    };
    let proxy = Proxy::before(&database).await;
    let node = Store::open(&proxy.location).await.unwrap();
    let until_it_hears = async {
        while !node.hears_nodes() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    until_it_hears.await;
    let mut notified = node.notified();
    notified.borrow_and_update();
    proxy.set(Fault::NoNotifications);
    // Nothing else is written to this database.
    notified.changed().await.unwrap();
    assert!(!node.hears_nodes());
    // Reads and writes go on.
    write(&node, "a").await.unwrap();
    assert!(has(&node, "a").await);
    node.close().await;
    // A node that never hears is the same.
    let deaf = Store::open(&proxy.location).await.unwrap();
    let mut notified = deaf.notified();
    notified.changed().await.unwrap();
    assert!(!deaf.hears_nodes());
    deaf.close().await;
}
