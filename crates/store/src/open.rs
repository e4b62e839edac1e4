//! Opens a database.

use crate::compatibility::Outdated;
use crate::database_clock::DatabaseClock;
use crate::dialect::Role;
use crate::location::{Location, LocationKind};
use crate::open_file::OpenFile;
use crate::postgres::PostgresServer;
use crate::postgres_link::{self, NodeLink};
use crate::readers::Readers;
use crate::writer::Writers;
use crate::{CHANGES, MESSAGES, OpenError, Store, migrate};
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

impl Store {
    /// Opens the database and migrates its schema to this version.
    pub async fn open(location: &Location) -> Result<Self, OpenError> {
        Self::open_at(location, None).await
    }

    /// Opens the database and migrates its schema up to `version` only. For tests of the migrations.
    #[doc(hidden)]
    pub async fn open_at(location: &Location, version: Option<i64>) -> Result<Self, OpenError> {
        let engine = location.engine();
        let fail = |source| OpenError::Connect { engine, source };
        let source = location.source(Role::Migrator, 1)?;
        let mut conn = source.connect_patiently().await.map_err(fail)?;
        migrate::run(&mut conn, engine, version).await?;
        drop(conn);
        let changed = broadcast::Sender::new(CHANGES);
        let outdated = Outdated::default();
        let (hear, heard) = watch::channel(0);
        let (to_nodes, outgoing) = mpsc::channel(MESSAGES);
        let from_nodes = broadcast::Sender::new(MESSAGES);
        let database_clock: Arc<DatabaseClock> = Arc::default();
        let (stop, listener) = (CancellationToken::new(), TaskTracker::new());
        if let LocationKind::Postgres(server) = &location.0 {
            let link = NodeLink {
                heard: hear,
                received: from_nodes.clone(),
                outgoing,
                clock: Arc::clone(&database_clock),
            };
            // The task also ends when the last receiver of `heard` is dropped.
            let link = postgres_link::link(PostgresServer::clone(server), link);
            listener.spawn(stop.clone().run_until_cancelled_owned(link));
        }
        let readers = Readers::open(location).await?;
        let file = match &location.0 {
            LocationKind::Sqlite(file) => OpenFile::at(file.path(), file.log_path()).map(Arc::new),
            LocationKind::Postgres(_) => None,
        };
        Ok(Self {
            engine,
            readers,
            writers: Writers::open(location, &changed, &outdated, file.as_ref())?,
            outdated,
            database_clock,
            file,
            changed,
            heard,
            to_nodes,
            from_nodes,
            stop,
            listener,
        })
    }
}
