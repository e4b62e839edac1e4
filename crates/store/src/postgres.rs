//! PostgreSQL: connections and statements.

mod server;
mod transactions;

use crate::StoreError;
use crate::postgres_answers::{Answer, answers, send, send_each};
use crate::sql::{Query, Row, Value};
use crate::take::{FoundTwo, TakeRow};
use deadpool_postgres::Object;
use futures_util::{FutureExt, TryStreamExt};
pub(crate) use server::PostgresServer;
use std::pin::pin;
use std::time::Duration;
use tokio_postgres::types::Type;
use tokio_postgres::{Row as PostgresRow, Statement};
pub(crate) use transactions::{TransactionId, TransactionStatus, begin, find_status};

/// Timeout for getting a connection from a pool, which includes connecting and configuring the session.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);
/// Idle time after which TCP keep-alive probes are sent. The connection is closed after [`UNANSWERED`] without a
/// response.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
const KEEPALIVE_RETRIES: u32 = 3;
/// How long sent data may remain unacknowledged.
const UNANSWERED: Duration = Duration::from_secs(10);

/// Sets the isolation level of the session if the database, the role or the server has a different default. At
/// other levels, a transaction would read the state from before it acquired its lock.
const READ_COMMITTED: &str =
    "; SELECT set_config('default_transaction_isolation', 'read committed', false)
     WHERE current_setting('default_transaction_isolation') <> 'read committed'";

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

/// Reads rows until `take` returns true.
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
