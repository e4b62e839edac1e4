//! Checks that the file of a SQLite database is still in its place while the server uses it. If it was deleted,
//! renamed or replaced, the next start and backups would use a different file.

use crate::Services;
use crate::backup::FAILED;
use gatehouse_domain::{ErrorCode, Problem};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The time between two checks. Each write also checks the file.
const INTERVAL: Duration = Duration::from_secs(5);

impl Services {
    /// Checks every five seconds until `shutdown` that the file is the one that was opened. A problem is therefore
    /// logged even without a write. Does nothing on PostgreSQL.
    pub fn watch_database_file(&self, shutdown: CancellationToken, tasks: &TaskTracker) {
        if self.store.engine().is_shared() {
            return;
        }
        let store = self.store.clone();
        tasks.spawn(shutdown.run_until_cancelled_owned(async move {
            loop {
                tokio::time::sleep(INTERVAL).await;
                // The store logs a change.
                store.file_is_replaced().await;
            }
        }));
    }

    /// Refuses a backup that would read a different database than the open one.
    pub(crate) async fn ensure_own_database(&self) -> Result<(), Problem> {
        if !self.store.file_is_replaced().await {
            return Ok(());
        }
        let message = format!(
            "{FAILED}the file of the database or its -wal file was deleted, moved or replaced while the server uses it. \
             The `database` check of `doctor` has the details."
        );
        Err(Problem::new(ErrorCode::StorageUnavailable, message))
    }
}
