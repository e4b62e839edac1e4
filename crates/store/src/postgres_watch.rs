//! Checks whether a PostgreSQL server still works on a statement that may take long: one of a migration, a backup or a
//! move. TCP keep-alives notice a lost connection. This notices a server, or a proxy before it, that accepts packets
//! and does not respond.

use crate::StoreError;
use crate::postgres::{CONNECT, PostgresServer};
use crate::postgres_tls::Connector;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_postgres::{Client, SimpleQueryMessage};

/// How long a statement runs before the server is asked about it, and the pause before it is asked again.
const PAUSE: Duration = Duration::from_secs(10);

/// A connection whose statements may take long.
#[derive(Debug)]
pub(crate) struct StatementWatch {
    server: Arc<PostgresServer>,
    /// The process of the server that serves the connection.
    process: i32,
}

/// The state of a connection on the server.
#[derive(Debug, PartialEq, Eq)]
enum Session {
    /// It runs a statement, or the server does not report its state.
    Works,
    /// Its statement waits for a lock.
    Waits,
    /// It has run no statement since `since`. No other pause of the connection has the same value.
    Idle { since: String },
    /// The server has no such connection, or does not respond.
    Lost,
}

impl StatementWatch {
    /// Watches the statements of a connection to this server.
    pub(crate) async fn of(
        server: &Arc<PostgresServer>,
        client: &Client,
    ) -> Result<Self, StoreError> {
        let row = client.query_one("SELECT pg_backend_pid()", &[]).await?;
        Ok(Self {
            server: Arc::clone(server),
            process: row.try_get(0)?,
        })
    }

    /// Returns when the server no longer works on the current statement.
    fn until_silent(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut before = Session::Works;
            loop {
                sleep(PAUSE).await;
                // The timeout of the driver ends before the first message of the server.
                let now = timeout(CONNECT, self.look()).await.unwrap_or(Session::Lost);
                if now == Session::Waits {
                    tracing::warn!(
                        "a statement waits for a lock of another session of the database, such as the migration of \
                         another node"
                    );
                }
                // One such answer may come from between two statements, or from a server under load.
                let is_silent = matches!(now, Session::Idle { .. } | Session::Lost);
                if is_silent && now == before {
                    return;
                }
                before = now;
            }
        })
    }

    /// Asks the server on a new connection.
    async fn look(&self) -> Session {
        let Ok(tls) = self.server.tls.connector() else {
            return Session::Works;
        };
        match self.ask(tls).await {
            Ok(answers) => Session::of(&answers),
            // The server responds, for example that it has no free connection.
            Err(error) if error.as_db_error().is_some() => Session::Works,
            Err(error) => {
                tracing::debug!(%error, "the database server was not asked about a statement");
                Session::Lost
            }
        }
    }

    async fn ask(&self, tls: Connector) -> Result<Vec<SimpleQueryMessage>, tokio_postgres::Error> {
        let (client, connection) = self.server.config.connect(tls).await?;
        let sql = format!(
            "SELECT state, wait_event_type, state_change::text FROM pg_stat_activity WHERE pid = {}",
            self.process
        );
        let asking = async move { client.simple_query(&sql).await };
        // The connection ends when its client is dropped. If it fails, the query fails too.
        tokio::join!(asking, connection).0
    }
}

impl Session {
    fn of(answers: &[SimpleQueryMessage]) -> Self {
        let row = answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let Some(row) = row else {
            return Self::Lost;
        };
        let (state, wait, changed) = (row.get(0), row.get(1), row.get(2));
        match state {
            Some("active") if wait == Some("Lock") => Self::Waits,
            Some("idle" | "idle in transaction" | "idle in transaction (aborted)") => Self::Idle {
                since: changed.unwrap_or_default().to_owned(),
            },
            _ => Self::Works,
        }
    }
}

/// Awaits the response to a statement. Returns `None` if the connection is watched and the server no longer works on
/// the statement.
pub(crate) async fn watched<T>(
    watch: Option<&StatementWatch>,
    answer: impl Future<Output = T>,
) -> Option<T> {
    let Some(watch) = watch else {
        return Some(answer.await);
    };
    tokio::select! {
        biased;
        answered = answer => Some(answered),
        () = watch.until_silent() => None,
    }
}
