//! Whether the database responds, for probes and metrics.

use crate::Services;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

const PING_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the answer of the database is used again, so that callers without an account cannot load it.
const PING_VALID: Duration = Duration::from_secs(1);

/// The last answer.
#[derive(Debug, Default)]
pub(crate) struct DatabaseProbe(Mutex<Option<(Instant, bool)>>);

impl Services {
    /// Asks the database whether it responds within two seconds, at most once a second.
    pub async fn database_responds(&self) -> bool {
        // The lock is held during the query, so concurrent callers share it.
        let mut last = self.database.0.lock().await;
        if let Some((at, responds)) = *last
            && at.elapsed() < PING_VALID
        {
            return responds;
        }
        let ping = tokio::time::timeout(PING_TIMEOUT, self.store.ping()).await;
        let responds = matches!(ping, Ok(Ok(())));
        *last = Some((Instant::now(), responds));
        responds
    }
}
