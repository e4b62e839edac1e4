//! Read connections. The connections of SQLite have dedicated threads, because calls of SQLite block.

mod threads;

use crate::conn::Conn;
use crate::dialect::Role;
use crate::location::Source;
use crate::postgres::CONNECT;
use crate::sql::query;
use crate::{Location, OpenError, StoreError};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use threads::{Sessions, Threads};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, oneshot};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// Number of read connections. Each SQLite connection has a thread and a page cache.
const READERS: usize = 4;

/// A read. The closure is boxed, so that the code that runs reads is compiled only once.
type Job = Box<dyn for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Reply> + Send>;
/// Sends the result of a read to its caller.
type Reply = Box<dyn FnOnce() + Send>;

/// The read connections of a database.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    connections: Connections,
    /// Permits for all connections except the reserved one. `None` for reads that may use all connections.
    ordinary: Option<Arc<Semaphore>>,
}

#[derive(Clone, Debug)]
enum Connections {
    Sqlite(Threads),
    Postgres(Sessions),
}

impl Connections {
    async fn open(location: &Location) -> Result<Self, OpenError> {
        let source = location.source(Role::Reader, READERS)?;
        match &source {
            Source::Sqlite(..) => {
                let mut conns = Vec::with_capacity(READERS);
                for _ in 0..READERS {
                    let mut conn = source.connect().await.map_err(OpenError::sqlite)?;
                    // The first read opens the log. Later, the path of the log could lead to another file.
                    let version = conn.number(query("PRAGMA schema_version")).await;
                    version.map_err(OpenError::sqlite)?;
                    conns.push(conn);
                }
                Ok(Self::Sqlite(Threads::start(conns)))
            }
            Source::Postgres(pool, ..) => Ok(Self::Postgres(Sessions {
                pool: pool.clone(),
                source,
                running: TaskTracker::new(),
            })),
        }
    }

    /// Waits for a permit. On PostgreSQL, the wait has the timeout of a connection, because the server may not
    /// respond.
    async fn permit(&self, permits: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, StoreError> {
        let permit = Arc::clone(permits).acquire_owned();
        let permit = match self {
            Self::Sqlite(_) => permit.await,
            Self::Postgres(_) => timeout(CONNECT, permit)
                .await
                .map_err(StoreError::unavailable)?,
        };
        permit.map_err(StoreError::unavailable)
    }

    fn start(&self, job: Job) -> BoxFuture<'_, Result<Option<SemaphorePermit<'_>>, StoreError>> {
        Box::pin(async move {
            match self {
                Self::Sqlite(threads) => threads.start_reading(job).await.map(Some),
                Self::Postgres(sessions) => sessions.start_reading(job).await.map(|()| None),
            }
        })
    }
}

impl Readers {
    pub(crate) async fn open(location: &Location) -> Result<Self, OpenError> {
        Ok(Self {
            connections: Connections::open(location).await?,
            ordinary: Some(Arc::new(Semaphore::new(READERS - 1))),
        })
    }

    /// Returns the same connections for reads that may use the reserved one.
    pub(crate) fn with_reserved(&self) -> Self {
        Self {
            ordinary: None,
            ..self.clone()
        }
    }

    pub(crate) async fn read<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        let ordinary = match &self.ordinary {
            Some(permits) => Some(self.connections.permit(permits).await?),
            None => None,
        };
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |conn| {
            Box::pin(async move {
                // Skip the read if the caller no longer waits.
                if reply.is_closed() {
                    return Box::new(|| ()) as Reply;
                }
                let read = job(conn).await;
                drop(ordinary);
                Box::new(move || drop(reply.send(read)))
            })
        });
        // The permit is held until the caller has received the result.
        let _permit = self.connections.start(job).await?;
        answer.await.unwrap_or_else(|_| Err(not_finished().into()))
    }

    pub(crate) async fn close(&self) {
        match &self.connections {
            Connections::Sqlite(threads) => threads.close().await,
            Connections::Postgres(sessions) => sessions.pool.close(),
        }
    }
}

fn not_finished() -> StoreError {
    StoreError::unavailable("a read was not finished")
}
