//! The connection to PostgreSQL through which the nodes of a database communicate: notifications of changes, and
//! messages that are not stored.

use crate::StoreError;
use crate::database_clock::DatabaseClock;
use crate::dialect::SHOW_NODE;
use crate::node_messages::{self, Joiner, NodeMessage};
use crate::postgres::{CONNECT, PostgresServer};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::timeout;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, Connection};

/// Delay before the listening connection is reopened after a loss.
const RECONNECT: Duration = Duration::from_secs(1);
/// Begins listening to changes and to messages of other nodes. Messages are not stored, so sending them need not
/// wait for the disk. The server's default keep-alive settings are too long: it would keep the lock of a crashed
/// host for about two hours.
const LISTEN: &str = "SET synchronous_commit = off; SET tcp_keepalives_idle = 10; \
     SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; \
     LISTEN gatehouse_changes; LISTEN gatehouse_events";
/// Interval between checks of an idle connection between nodes. TCP keep-alives detect a lost connection earlier.
/// The check detects a server that accepts packets but does not respond.
const LINK_CHECK: Duration = Duration::from_secs(10);
/// How long the server may take to answer on this connection.
const LINK_ANSWER: Duration = Duration::from_secs(5);
/// Maximum number of messages sent at once.
const SENT_AT_ONCE: usize = 64;

/// A node's connection to the other nodes on its database.
pub(crate) struct NodeLink {
    /// Counts the server's notifications of changes by any process.
    pub(crate) heard: watch::Sender<u64>,
    /// Messages of other nodes.
    pub(crate) received: broadcast::Sender<NodeMessage>,
    /// Messages to other nodes.
    pub(crate) outgoing: mpsc::Receiver<String>,
    /// The clock. A reconnection requires a new measurement.
    pub(crate) clock: Arc<DatabaseClock>,
}

/// Forwards notifications until the last receiver is dropped. A reconnection counts as a notification, because
/// notifications may have been missed.
pub(crate) async fn link(server: PostgresServer, mut link: NodeLink) {
    let mut is_again = false;
    while !link.heard.is_closed() {
        if let Err(error) = link_once(&server, &mut link, is_again).await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "notifications of other nodes do not arrive; the feed is read at intervals"
            );
        }
        is_again = true;
        tokio::time::sleep(RECONNECT).await;
    }
}

async fn link_once(
    server: &PostgresServer,
    link: &mut NodeLink,
    is_again: bool,
) -> Result<(), StoreError> {
    let tls = server
        .tls
        .connector()
        .map_err(|error| StoreError::unavailable(error.to_string()))?;
    // The driver's timeout covers only the TCP connection, not the first message of the server.
    let connected = timeout(CONNECT, server.config.connect(tls)).await;
    let (client, connection) = connected.map_err(|_| StoreError::silent_server())??;
    let NodeLink {
        heard,
        received,
        outgoing,
        clock,
    } = link;
    let listener = Listener {
        own: AtomicI32::new(0),
        heard,
        received,
        clock,
        is_again,
    };
    tokio::select! {
        ended = listener.listen(connection) => ended,
        failed = listener.send(&client, outgoing) => failed,
        () = heard.closed() => Ok(()),
    }
}

/// Waits for the answer of a connection between nodes for a limited time.
async fn answered<T>(
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, StoreError> {
    match timeout(LINK_ANSWER, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(StoreError::silent_server()),
    }
}

/// The receiving end of a connection between nodes.
struct Listener<'a> {
    /// The ID of the server process of this connection. Notifications from this process are ignored, because this
    /// node sent them.
    own: AtomicI32,
    heard: &'a watch::Sender<u64>,
    received: &'a broadcast::Sender<NodeMessage>,
    clock: &'a DatabaseClock,
    /// Whether an earlier connection failed.
    is_again: bool,
}

impl Listener<'_> {
    fn note_change(&self) {
        self.heard
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Reads notifications until the connection ends.
    async fn listen<S, T>(&self, mut connection: Connection<S, T>) -> Result<(), StoreError>
    where
        S: AsyncRead + AsyncWrite + Unpin,
        T: AsyncRead + AsyncWrite + Unpin,
    {
        let mut joiner = Joiner::default();
        while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
            let AsyncMessage::Notification(notification) = message? else {
                continue;
            };
            let sender = notification.process_id();
            if notification.channel() != node_messages::CHANNEL {
                self.note_change();
            } else if sender != self.own.load(Ordering::Relaxed)
                && let Some(text) = joiner.join(sender, notification.payload())
            {
                // Having no receiver is not an error.
                let is_missed = &*text == node_messages::MISSED;
                drop(self.received.send(if is_missed {
                    NodeMessage::Missed
                } else {
                    NodeMessage::Text(text)
                }));
            }
        }
        Ok(())
    }

    /// Begins listening, then sends messages to the other nodes. Ends when the connection fails.
    async fn send(
        &self,
        client: &Client,
        outgoing: &mut mpsc::Receiver<String>,
    ) -> Result<(), StoreError> {
        answered(client.batch_execute(LISTEN)).await?;
        answered(client.batch_execute(SHOW_NODE)).await?;
        let own = answered(client.query_one("SELECT pg_backend_pid()", &[])).await?;
        self.own.store(own.try_get(0)?, Ordering::Relaxed);
        let prepared = client.prepare_typed(node_messages::SEND, &[Type::TEXT_ARRAY]);
        let statement = answered(prepared).await?;
        if self.is_again {
            self.clock.note_reconnection();
        }
        self.note_change();
        drop(self.received.send(NodeMessage::Missed));
        // Messages that waited during an outage are out of date. They are dropped, and the other nodes are notified
        // that messages are missing.
        if outgoing.try_recv().is_ok() || self.is_again {
            while outgoing.try_recv().is_ok() {}
            let missed = node_messages::split(0, node_messages::MISSED);
            answered(client.execute(&statement, &[&missed])).await?;
        }
        let mut number = 0_u64;
        let mut messages = Vec::new();
        loop {
            let received = outgoing.recv_many(&mut messages, SENT_AT_ONCE);
            match timeout(LINK_CHECK, received).await {
                // The channel is closed because the store is being closed.
                Ok(0) => return std::future::pending().await,
                Ok(_) => {
                    let mut parts = Vec::with_capacity(messages.len());
                    for text in messages.drain(..) {
                        number = number.wrapping_add(1);
                        parts.extend(node_messages::split(number, &text));
                    }
                    answered(client.execute(&statement, &[&parts])).await?;
                }
                // A connection that only listens sends nothing, so it would not detect that it is dead. The server
                // must answer this statement. The statement also takes the shared lock, in case a move held the
                // lock when this node started.
                Err(_) => answered(client.batch_execute(SHOW_NODE)).await?,
            }
        }
    }
}
