//! Checks whether a PostgreSQL server still works on a statement that may take long, such as one of a migration, a
//! backup or a move. TCP keep-alives detect a lost connection. This check detects a server, or a proxy in front of
//! it, that accepts packets but does not respond.

use crate::StoreError;
use crate::postgres::{CONNECT, PostgresServer};
use crate::postgres_tls::Connector;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_postgres::{Client, SimpleQueryMessage};

/// How long a statement runs before its state on the server is checked, and the pause between two checks.
const PAUSE: Duration = Duration::from_secs(10);

/// A connection whose statements may take long.
#[derive(Debug)]
pub(crate) struct StatementWatch {
    server: Arc<PostgresServer>,
    /// The ID of the server process of the connection.
    process: i32,
}

/// The state of a connection on the server.
#[derive(Debug, PartialEq, Eq)]
enum Session {
    /// The server runs a statement of the connection, or does not report the state.
    Works,
    /// A statement of the connection waits for a lock.
    Waits,
    /// The server has run no statement of the connection since `since`. The value is different for each idle period
    /// of the connection.
    Idle { since: String },
    /// The server has no such connection, or does not respond.
    Lost,
}

impl StatementWatch {
    /// Creates a watch for the statements of a connection to this server.
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
                // The driver's timeout covers only the TCP connection, not the first message of the server.
                let now = timeout(CONNECT, self.look()).await.unwrap_or(Session::Lost);
                if now == Session::Waits {
                    tracing::warn!(
                        "a statement waits for a lock of another session of the database, such as the migration of \
                         another node"
                    );
                }
                // A single idle result may come from the time between two statements, and a single lost result from
                // a server under load.
                let is_silent = matches!(now, Session::Idle { .. } | Session::Lost);
                if is_silent && now == before {
                    return;
                }
                before = now;
            }
        })
    }

    /// Queries the state of the connection on a new connection.
    async fn look(&self) -> Session {
        let Ok(tls) = self.server.tls.connector() else {
            return Session::Works;
        };
        match self.ask(tls).await {
            Ok(answers) => Session::of(&answers),
            // The server responds with an error, for example that no connection is free.
            Err(error) if error.as_db_error().is_some() => Session::Works,
            Err(error) => {
                tracing::debug!(%error, "the state of a statement could not be queried");
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
