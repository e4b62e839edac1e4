//! Prevents moves while nodes use a PostgreSQL database, and vice versa. A node has a shared advisory lock on its
//! connection to the other nodes, and a move needs the exclusive lock. The lock ends with the connection, and
//! therefore with the process.

use crate::dialect::Role;
use crate::sql::query;
use crate::{Conn, Location, OpenError};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long the server may take to detect that a process has ended.
const PATIENCE: Duration = Duration::from_secs(5);
const BETWEEN_TRIES: Duration = Duration::from_millis(200);

/// The lock of a move, until it is dropped. A node that starts in the meantime does not wait for it.
#[derive(Debug)]
pub struct NodeLock {
    /// Keeps the connection open, which holds the lock. `None` on SQLite.
    _conn: Option<Conn>,
}

impl NodeLock {
    /// Takes the lock. Returns `None` if a node, or a command that opened the store, uses the database. Does not
    /// detect nodes of earlier versions. On SQLite, does nothing, because the file has a lock file.
    pub async fn take(location: &Location) -> Result<Option<Self>, OpenError> {
        let engine = location.engine();
        let Some(lock) = engine.lock_out_nodes() else {
            return Ok(Some(Self { _conn: None }));
        };
        let fail = |source| OpenError::Connect { engine, source };
        let source = location.source(Role::Migrator, 1)?;
        let mut conn = source.connect_patiently().await.map_err(fail)?;
        let until = Instant::now() + PATIENCE;
        loop {
            if conn.number(query(lock)).await.map_err(fail)? == 1 {
                return Ok(Some(Self { _conn: Some(conn) }));
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            sleep(BETWEEN_TRIES).await;
        }
    }
}
