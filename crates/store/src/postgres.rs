//! PostgreSQL: connections and statements.

use crate::dialect::{Engine, Role};
use crate::postgres_answers::{Answer, answers, send, send_each};
use crate::postgres_silence::ServerSilence;
use crate::postgres_tls::TlsPolicy;
use crate::sql::{Query, Row, Value};
use crate::take::{FoundTwo, TakeRow};
use crate::{OpenError, StoreError};
use deadpool_postgres::{
    ClientWrapper, Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod,
};
use futures_util::{FutureExt, TryStreamExt};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config, Row as PostgresRow, SimpleQueryMessage, Statement};

/// Timeout for getting a connection from a pool, which includes connecting and configuring the session.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);
/// TCP keepalive: an idle connection is probed after this time and closed after [`UNANSWERED`].
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
const KEEPALIVE_RETRIES: u32 = 3;
/// How long sent data may remain unacknowledged.
const UNANSWERED: Duration = Duration::from_secs(10);

/// Sets the isolation level of the session if the database, the role or the server has a different default. At other
/// levels, a transaction would read a state from before it acquired its lock.
const READ_COMMITTED: &str =
    "; SELECT set_config('default_transaction_isolation', 'read committed', false)
     WHERE current_setting('default_transaction_isolation') <> 'read committed'";

/// A database on a server.
#[derive(Clone, Debug)]
pub(crate) struct PostgresServer {
    pub(crate) config: Config,
    pub(crate) tls: TlsPolicy,
    /// Shared by all connections of the process.
    pub(crate) silence: Arc<ServerSilence>,
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
            silence: Arc::default(),
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
            self.config_for(role),
            self.tls.connector()?,
            ManagerConfig {
                recycling_method: RecyclingMethod::Fast,
            },
        );
        let server = Arc::new(self.clone());
        let prepare = Hook::async_fn(move |client: &mut ClientWrapper, _| {
            let server = Arc::clone(&server);
            Box::pin(async move {
                let sent = Instant::now();
                let prepared = server.prepare_session(client, role).await;
                if prepared.is_ok() {
                    server.silence.note_answer(&client.statement_cache, sent);
                }
                prepared
            })
        });
        let silence = Arc::clone(&self.silence);
        let check = Hook::sync_fn(move |client: &mut ClientWrapper, _| {
            let answered = silence.last_answer(&client.statement_cache);
            if answered.is_some_and(|answered| silence.concerns(answered)) {
                return Err(HookError::message("the connection may be silent"));
            }
            Ok(())
        });
        Pool::builder(manager)
            .max_size(size)
            .post_create(prepare)
            .pre_recycle(check)
            .build()
            .map_err(|error| OpenError::postgres(StoreError::unavailable(error)))
    }

    /// The configuration of a role's connections. The URL may contain options of its own; the role's come last, so
    /// they win.
    fn config_for(&self, role: Role) -> Config {
        let mut config = self.config.clone();
        if let Some(own) = Engine::Postgres.startup_options(role) {
            let options = match config.get_options() {
                Some(given) => format!("{given} {own}"),
                None => own.to_owned(),
            };
            config.options(options);
        }
        config
    }

    async fn prepare_session(&self, client: &Client, role: Role) -> Result<(), HookError> {
        if role == Role::Writer {
            // Its transactions begin with `READ WRITE`, which would overrule the default of the database.
            if self.is_read_only().await? {
                let refused = "the database is read-only (default_transaction_read_only)";
                return Err(HookError::message(refused));
            }
            if !shows_read_only(client).await? {
                let refused = "the connection pooler dropped the startup option \
                     default_transaction_read_only; it must pass it on";
                return Err(HookError::message(refused));
            }
        }
        let statements = [Engine::Postgres.on_connect(role), READ_COMMITTED].concat();
        let answers = client.batch_execute(&statements).await;
        answers.map_err(HookError::Backend)
    }

    /// Whether transactions are read-only by default on this server, in this database or for this role. The options of
    /// a writer hide that, so a connection without them reads it.
    async fn is_read_only(&self) -> Result<bool, HookError> {
        let tls = self.tls.connector();
        let tls = tls.map_err(|error| HookError::message(error.to_string()))?;
        let connected = self.config.connect(tls).await;
        let (client, connection) = connected.map_err(HookError::Backend)?;
        let asking = async move { shows_read_only(&client).await };
        // The connection ends when its client is dropped. If it fails, the query fails too.
        tokio::join!(asking, connection).0
    }
}

async fn shows_read_only(client: &Client) -> Result<bool, HookError> {
    let answers = client
        .simple_query("SHOW default_transaction_read_only")
        .await;
    let answers = answers.map_err(HookError::Backend)?;
    Ok(answers
        .iter()
        .any(|answer| matches!(answer, SimpleQueryMessage::Row(row) if row.get(0) == Some("on"))))
}

/// Prepares a statement or takes it from the connection's cache.
pub(crate) async fn prepare(
    client: &Object,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Statement, StoreError> {
    let types: Vec<Type> = values.iter().map(Value::postgres_type).collect();
    Ok(client.prepare_typed_cached(sql, &types).await?)
}

pub(crate) fn run<'a>(client: &'a Object, query: &'a Query<'_>) -> Answer<'a, u64> {
    Box::pin(async move {
        let statement = prepare(client, &query.text, &query.values).await?;
        run_prepared(client, &statement, &query.values).await
    })
}

pub(crate) async fn run_prepared(
    client: &Object,
    statement: &Statement,
    values: &[Value<'_>],
) -> Result<u64, StoreError> {
    Ok(client.execute_raw(statement, values.iter()).await?)
}

/// Runs statements without parameters.
pub(crate) async fn plain(client: &Object, sql: &str) -> Result<(), StoreError> {
    Ok(client.batch_execute(sql).await?)
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
        let runs = rows.iter();
        let runs = runs.map(|values| run_prepared(client, &statement, values).boxed());
        answers(send_each(runs).await.0).await
    })
}

/// A statement with the values of each of its runs.
pub(crate) type Each<'a> = (&'a str, &'a [Vec<Value<'a>>]);

/// Sends a statement with each row of values before it awaits the first response. Returns the first row of each.
pub(crate) fn find_each<'a>(
    client: &'a Object,
    (sql, rows): Each<'a>,
) -> Answer<'a, Vec<Option<PostgresRow>>> {
    Box::pin(async move {
        let Some(first) = rows.first() else {
            return Ok(Vec::new());
        };
        let statement = prepare(client, sql, first).await?;
        let runs = rows.iter();
        let runs = runs.map(|values| find_prepared(client, &statement, values).boxed());
        answers(send_each(runs).await.0).await
    })
}

async fn find_prepared(
    client: &Object,
    statement: &Statement,
    values: &[Value<'_>],
) -> Result<Option<PostgresRow>, StoreError> {
    let found = client.query_raw(statement, values.iter()).await?;
    Ok(pin!(found).try_next().await?)
}

/// Like [`find_each`] for two statements: sends all runs of the first, then all of the second.
pub(crate) fn find_each_of_two<'a>(
    client: &'a Object,
    first: Each<'a>,
    second: Each<'a>,
) -> Answer<'a, FoundTwo<PostgresRow, PostgresRow>> {
    Box::pin(async move {
        let (Some(of_first), Some(of_second)) = (first.1.first(), second.1.first()) else {
            let firsts = find_each(client, first).await?;
            return Ok((firsts, find_each(client, second).await?));
        };
        let one = prepare(client, first.0, of_first).await?;
        let two = prepare(client, second.0, of_second).await?;
        let runs = first.1.iter();
        let runs = runs.map(|values| find_prepared(client, &one, values).boxed());
        let (firsts, has_failed) = send_each(runs).await;
        let runs = second.1.iter().filter(|_| !has_failed);
        let runs = runs.map(|values| find_prepared(client, &two, values).boxed());
        let (seconds, _) = send_each(runs).await;
        Ok((answers(firsts).await?, answers(seconds).await?))
    })
}

/// Runs queries and returns the rows of each. Sends all of them before it awaits the first response.
pub(crate) fn lists<'a>(
    client: &'a Object,
    first: &'a Query<'_>,
    others: &'a [Query<'_>],
) -> Answer<'a, (Vec<PostgresRow>, Vec<Vec<PostgresRow>>)> {
    Box::pin(async move {
        let statement = prepare(client, &first.text, &first.values).await?;
        let mut statements = Vec::with_capacity(others.len());
        for query in others {
            statements.push(prepare(client, &query.text, &query.values).await?);
        }
        let first = list_prepared(client, &statement, &first.values);
        let (first, has_failed) = send(first.boxed()).await;
        let others = others.iter().zip(&statements).filter(|_| !has_failed);
        let others = others
            .map(|(query, statement)| list_prepared(client, statement, &query.values).boxed());
        let (others, _) = send_each(others).await;
        Ok((first.await?, answers(others).await?))
    })
}

async fn list_prepared(
    client: &Object,
    statement: &Statement,
    values: &[Value<'_>],
) -> Result<Vec<PostgresRow>, StoreError> {
    let rows = client.query_raw(statement, values.iter()).await?;
    Ok(rows.try_collect().await?)
}

/// Reads rows until `take` needs no further ones.
pub(crate) fn list<'a>(
    client: &'a Object,
    query: &'a Query<'_>,
    take: &'a mut TakeRow<'_>,
) -> Answer<'a, ()> {
    Box::pin(async move {
        let statement = prepare(client, &query.text, &query.values).await?;
        let rows = client.query_raw(&statement, query.values.iter()).await?;
        let mut rows = pin!(rows);
        while let Some(row) = rows.try_next().await? {
            if take(&Row::Postgres(&row))? {
                break;
            }
        }
        Ok(())
    })
}

/// Begins a transaction with `sql`, whose last result is the run of the server and the transaction's number. Every
/// error is one of the database: no statement of a caller was refused.
pub(crate) async fn begin(client: &Object, sql: &str) -> Result<TransactionId, StoreError> {
    let answers = client.simple_query(sql).await;
    let answers = answers.map_err(StoreError::unavailable)?;
    answers
        .iter()
        .rev()
        .find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => Some(TransactionId {
                server_run: row.get(0)?.to_owned(),
                number: row.get(1)?.to_owned(),
            }),
            _ => None,
        })
        .ok_or(StoreError::Damaged {
            what: "id of a transaction",
        })
}

/// Identifies a transaction.
#[derive(Clone, Debug)]
pub(crate) struct TransactionId {
    /// Identifies the time from one crash of the server to the next.
    server_run: String,
    /// An `xid8`, as text.
    number: String,
}

#[cfg(test)]
impl TransactionId {
    /// The ID of a transaction with the same number, of a server that has crashed since.
    pub(crate) fn before_a_crash(&self) -> Self {
        Self {
            server_run: "another".to_owned(),
            ..self.clone()
        }
    }
}

/// The status of a transaction whose commit was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionStatus {
    InProgress,
    Committed,
    RolledBack,
    /// The server does not know, and never will.
    Unknown,
}

/// Queries the status of a transaction.
/// <https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT>
pub(crate) async fn find_status(
    client: &Object,
    sql: &'static str,
    id: &TransactionId,
) -> Result<TransactionStatus, StoreError> {
    let row = client.query_one(sql, &[&id.server_run, &id.number]).await?;
    let status: Option<&str> = row.try_get(0)?;
    Ok(match status {
        Some("in progress") => TransactionStatus::InProgress,
        Some("committed") => TransactionStatus::Committed,
        Some("aborted") => TransactionStatus::RolledBack,
        _ => TransactionStatus::Unknown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_connections_are_noticed_within_seconds_and_the_url_may_set_its_own_timeout() {
        let server = PostgresServer::from_url("postgres://a:b@localhost/c").unwrap();
        let config = &server.config;
        assert!(config.get_keepalives());
        assert_eq!(config.get_keepalives_idle(), KEEPALIVE_IDLE);
        assert_eq!(config.get_keepalives_interval(), Some(KEEPALIVE_INTERVAL));
        assert_eq!(config.get_keepalives_retries(), Some(KEEPALIVE_RETRIES));
        assert_eq!(config.get_tcp_user_timeout(), Some(&UNANSWERED));
        assert_eq!(config.get_connect_timeout(), Some(&CONNECT));
        let url = "postgres://a:b@localhost/c?connect_timeout=4";
        let config = PostgresServer::from_url(url).unwrap().config;
        let own = Duration::from_secs(4);
        assert_eq!(config.get_connect_timeout(), Some(&own));
    }
}
