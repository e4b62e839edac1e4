//! Transactions, and the outcome of one whose commit was not acknowledged.

use crate::StoreError;
use deadpool_postgres::Object;
use tokio_postgres::SimpleQueryMessage;

/// Begins a transaction with `sql`, whose last result is the run of the server and the number of the transaction.
/// Errors are always errors of the database, because `sql` contains no statement of a caller.
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
    /// Identifies a run of the server: the time between two crashes.
    server_run: String,
    /// An `xid8`, as text.
    number: String,
}

#[cfg(test)]
impl TransactionId {
    /// Returns the ID of a transaction with the same number in an earlier run of the server.
    pub(crate) fn before_a_crash(&self) -> Self {
        Self {
            server_run: "another".to_owned(),
            ..self.clone()
        }
    }
}

/// The status of a transaction whose commit was not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionStatus {
    InProgress,
    Committed,
    RolledBack,
    /// The server has no information about the transaction and never will.
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
