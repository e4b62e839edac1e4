//! PostgreSQL: connections and statements.

use crate::dialect::Role;
use crate::postgres_tls::TlsPolicy;
use crate::sql::{FromRow, Query, Row, Value};
use crate::{OpenError, StoreError};
use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime,
};
use futures_util::future::try_join_all;
use futures_util::{FutureExt, TryStreamExt};
use std::future::poll_fn;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::watch;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Config, SimpleQueryMessage, Statement};

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

/// Subscribes to the channel that [`crate::Conn::insert_change`] notifies.
const CHANNEL: &str = "LISTEN gatehouse_changes";

/// Counts the server's notifications of changes by any process. Ends when the last receiver is dropped. A
/// reconnection counts as a notification, because earlier notifications may have been missed.
pub(crate) async fn listen(server: PostgresServer, heard: watch::Sender<u64>) {
    while !heard.is_closed() {
        if let Err(error) = listen_once(&server, &heard).await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "changes of other nodes are not heard; the feed is read in intervals"
            );
        }
        tokio::time::sleep(RECONNECT).await;
    }
}

async fn listen_once(
    server: &PostgresServer,
    heard: &watch::Sender<u64>,
) -> Result<(), StoreError> {
    let tls = server
        .tls
        .connector()
        .map_err(|error| StoreError::unavailable(error.to_string()))?;
    let (client, mut connection) = server.config.connect(tls).await?;
    let mut listening = pin!(client.batch_execute(CHANNEL).fuse());
    loop {
        tokio::select! {
            answer = &mut listening => answer?,
            message = poll_fn(|cx| connection.poll_message(cx)) => match message {
                Some(Ok(AsyncMessage::Notification(_))) => {}
                Some(Ok(_)) => continue,
                Some(Err(error)) => return Err(error.into()),
                None => return Ok(()),
            },
            () = heard.closed() => return Ok(()),
        }
        heard.send_modify(|count| *count = count.wrapping_add(1));
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

pub(crate) async fn run(client: &Object, query: &Query<'_>) -> Result<u64, StoreError> {
    let statement = prepare(client, &query.text, &query.values).await?;
    Ok(client.execute_raw(&statement, query.values.iter()).await?)
}

/// Sends a statement with each row of values before it awaits the first response.
pub(crate) async fn run_each(
    client: &Object,
    sql: &str,
    rows: &[Vec<Value<'_>>],
) -> Result<Vec<u64>, StoreError> {
    let Some(first) = rows.first() else {
        return Ok(Vec::new());
    };
    let statement = prepare(client, sql, first).await?;
    let runs = rows
        .iter()
        .map(|values| client.execute_raw(&statement, values.iter()));
    Ok(try_join_all(runs).await?)
}

/// Sends a statement with each row of values before it awaits the first response. Returns the first row of each.
pub(crate) async fn find_each<T: FromRow>(
    client: &Object,
    sql: &str,
    rows: &[Vec<Value<'_>>],
) -> Result<Vec<Option<T>>, StoreError> {
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
}

/// Reads rows up to and including the first for which `enough` returns true.
pub(crate) async fn list<T: FromRow>(
    client: &Object,
    query: &Query<'_>,
    mut enough: impl FnMut(&T) -> bool,
) -> Result<Vec<T>, StoreError> {
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
