//! PostgreSQL: connections and statements.

use crate::dialect::Role;
use crate::node_messages::{self, Joiner, NodeMessage};
use crate::postgres_tls::TlsPolicy;
use crate::sql::{FromRow, Query, Row, Value};
use crate::{OpenError, StoreError};
use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime,
};
use futures_util::TryStreamExt;
use futures_util::future::{BoxFuture, try_join_all};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::timeout;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, SimpleQueryMessage, Statement};

/// Timeout for connecting and for getting a connection from the pool.
const CONNECT: Duration = Duration::from_secs(10);
/// TCP keepalive: an idle connection is probed after this time and closed after [`UNANSWERED`].
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
const KEEPALIVE_RETRIES: u32 = 3;
/// Delay before the listening connection is reopened after a loss.
const RECONNECT: Duration = Duration::from_secs(1);
/// How long sent data may remain unacknowledged.
const UNANSWERED: Duration = Duration::from_secs(10);

/// A database on a server.
#[derive(Clone, Debug)]
pub(crate) struct PostgresServer {
    config: Config,
    tls: TlsPolicy,
    #[cfg(feature = "testing")]
    url: String,
}

impl PostgresServer {
    /// Parses `postgres://user:password@host:port/database?parameters` like libpq. `sslmode` is `disable`,
    /// `prefer` (the default), `require`, `verify-ca` or `verify-full`; `sslrootcert` names a PEM file.
    pub(crate) fn from_url(url: &str) -> Result<Self, OpenError> {
        let (url_without_tls, tls) = TlsPolicy::take_from(url)?;
        let mut config: Config = url_without_tls
            .parse()
            .map_err(|error| OpenError::postgres(StoreError::from(error)))?;
        tls.apply(&mut config);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNANSWERED);
        }
        if config.get_application_name().is_none() {
            config.application_name("gatehouse");
        }
        config
            .keepalives(true)
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_RETRIES);
        Ok(Self {
            config,
            tls,
            #[cfg(feature = "testing")]
            url: url.to_owned(),
        })
    }

    #[cfg(feature = "testing")]
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Creates a pool that connects on demand.
    pub(crate) fn pool(&self, role: Role, size: usize) -> Result<Pool, OpenError> {
        let manager = Manager::from_config(
            self.config.clone(),
            self.tls.connector()?,
            ManagerConfig {
                recycling_method: RecyclingMethod::Fast,
            },
        );
        let statements = crate::dialect::Engine::Postgres.on_connect(role);
        let prepare = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
            Box::pin(async move {
                client
                    .batch_execute(statements)
                    .await
                    .map_err(HookError::Backend)
            })
        });
        Pool::builder(manager)
            .max_size(size)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(CONNECT))
            .create_timeout(Some(CONNECT))
            .recycle_timeout(Some(CONNECT))
            .post_create(prepare)
            .build()
            .map_err(|error| OpenError::postgres(StoreError::unavailable(error)))
    }
}

/// Begins listening to changes and to messages of other nodes. Messages are not stored, so sending them need not
/// wait for the disk.
const LISTEN: &str =
    "SET synchronous_commit = off; LISTEN gatehouse_changes; LISTEN gatehouse_events";
/// How often an idle connection between nodes is checked.
const LINK_CHECK: Duration = Duration::from_secs(5);
/// How long the server may take to answer on it.
const LINK_ANSWER: Duration = Duration::from_secs(5);
/// Maximum number of messages sent at once.
const SENT_AT_ONCE: usize = 64;

/// What connects a node with the others on its database.
pub(crate) struct NodeLink {
    /// Counts the server's notifications of changes by any process.
    pub(crate) heard: watch::Sender<u64>,
    /// Messages of other nodes.
    pub(crate) received: broadcast::Sender<NodeMessage>,
    /// Messages to other nodes.
    pub(crate) outgoing: mpsc::Receiver<String>,
}

/// Passes notifications on until the last receiver is dropped. A reconnection counts as a notification, because
/// earlier ones may have been missed.
pub(crate) async fn link(server: PostgresServer, mut link: NodeLink) {
    let mut is_again = false;
    while !link.heard.is_closed() {
        if let Err(error) = link_once(&server, &mut link, is_again).await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "changes of other nodes are not heard; the feed is read in intervals"
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
    let (client, connection) = server.config.connect(tls).await?;
    let NodeLink {
        heard,
        received,
        outgoing,
    } = link;
    let listener = Listener {
        own: AtomicI32::new(0),
        heard,
        received,
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
        Err(_) => Err(StoreError::unavailable(
            "the database server does not answer",
        )),
    }
}

/// The receiving end of a connection between nodes.
struct Listener<'a> {
    /// The server's process of this connection, whose own messages are ignored.
    own: AtomicI32,
    heard: &'a watch::Sender<u64>,
    received: &'a broadcast::Sender<NodeMessage>,
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
        let own = answered(client.query_one("SELECT pg_backend_pid()", &[])).await?;
        self.own.store(own.try_get(0)?, Ordering::Relaxed);
        let prepared = client.prepare_typed(node_messages::SEND, &[Type::TEXT_ARRAY]);
        let statement = answered(prepared).await?;
        self.note_change();
        drop(self.received.send(NodeMessage::Missed));
        // What waited during an outage is out of date. The other nodes have missed it.
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
                // The store is being closed.
                Ok(0) => return std::future::pending().await,
                Ok(_) => {
                    let mut parts = Vec::with_capacity(messages.len());
                    for text in messages.drain(..) {
                        number = number.wrapping_add(1);
                        parts.extend(node_messages::split(number, &text));
                    }
                    answered(client.execute(&statement, &[&parts])).await?;
                }
                // A listener sends nothing, so it would not notice that its connection is dead. An empty statement
                // makes the server answer.
                Err(_) => answered(client.batch_execute("")).await?,
            }
        }
    }
}

async fn prepare(
    client: &Object,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Statement, StoreError> {
    let types: Vec<Type> = values.iter().map(Value::postgres_type).collect();
    Ok(client.prepare_typed_cached(sql, &types).await?)
}

/// The server's response to a statement. On the heap, so that the compiler makes one small state machine of each
/// operation that runs statements instead of one that contains those of the driver.
pub(crate) type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

pub(crate) fn run<'a>(client: &'a Object, query: &'a Query<'_>) -> Answer<'a, u64> {
    Box::pin(async move {
        let statement = prepare(client, &query.text, &query.values).await?;
        Ok(client.execute_raw(&statement, query.values.iter()).await?)
    })
}

/// Sends a statement with each row of values before it awaits the first response.
pub(crate) fn run_each<'a>(
    client: &'a Object,
    sql: &'a str,
    rows: &'a [Vec<Value<'_>>],
) -> Answer<'a, Vec<u64>> {
    Box::pin(async move {
        let Some(first) = rows.first() else {
            return Ok(Vec::new());
        };
        let statement = prepare(client, sql, first).await?;
        let runs = rows
            .iter()
            .map(|values| client.execute_raw(&statement, values.iter()));
        Ok(try_join_all(runs).await?)
    })
}

/// Sends a statement with each row of values before it awaits the first response. Returns the first row of each.
pub(crate) fn find_each<'a, T: FromRow>(
    client: &'a Object,
    sql: &'a str,
    rows: &'a [Vec<Value<'_>>],
) -> Answer<'a, Vec<Option<T>>> {
    Box::pin(async move {
        let Some(first) = rows.first() else {
            return Ok(Vec::new());
        };
        let statement = &prepare(client, sql, first).await?;
        let finds = rows.iter().map(|values| async move {
            let found = client.query_raw(statement, values.iter()).await?;
            let row = pin!(found).try_next().await?;
            row.map(|row| T::from_row(&Row::Postgres(&row))).transpose()
        });
        try_join_all(finds).await
    })
}

/// Reads rows up to and including the first for which `enough` returns true.
pub(crate) fn list<'a, T: FromRow>(
    client: &'a Object,
    query: &'a Query<'_>,
    mut enough: impl FnMut(&T) -> bool + Send + 'a,
) -> Answer<'a, Vec<T>> {
    Box::pin(async move {
        let statement = prepare(client, &query.text, &query.values).await?;
        let rows = client.query_raw(&statement, query.values.iter()).await?;
        let mut rows = pin!(rows);
        let mut all = Vec::new();
        while let Some(row) = rows.try_next().await? {
            let row = T::from_row(&Row::Postgres(&row))?;
            let is_last = enough(&row);
            all.push(row);
            if is_last {
                break;
            }
        }
        Ok(all)
    })
}

/// Begins a transaction with `sql`, whose last result is the transaction's ID.
pub(crate) async fn begin(client: &Object, sql: &str) -> Result<TransactionId, StoreError> {
    let answers = client.simple_query(sql).await?;
    answers
        .iter()
        .rev()
        .find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        })
        .map(|id| TransactionId(id.to_owned()))
        .ok_or(StoreError::Damaged {
            what: "id of a transaction",
        })
}

/// The ID of a transaction (`xid8`), as text.
#[derive(Clone, Debug)]
pub(crate) struct TransactionId(String);

/// Returns whether a transaction was committed; `None` while it is in progress or if the server no longer
/// knows. <https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT>
pub(crate) async fn was_committed(
    client: &Object,
    id: &TransactionId,
) -> Result<Option<bool>, StoreError> {
    let row = client
        .query_one("SELECT pg_xact_status($1::text::xid8)", &[&id.0])
        .await?;
    let status: Option<String> = row.try_get(0)?;
    Ok(match status.as_deref() {
        Some("committed") => Some(true),
        Some("aborted") => Some(false),
        _ => None,
    })
}
