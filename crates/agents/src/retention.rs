//! Deletes conversations, audio, files and model usage after the configured time. Uses small batches, because other
//! writes wait for each batch.

use crate::error::AgentsError;
use crate::handle::{Agents, Inner};
use gatehouse_domain::id::SessionId;
use gatehouse_domain::{Timestamp, UtcDay};
use gatehouse_store::Duty;
use std::sync::Arc;
use std::time::Duration;

const PERIOD: Duration = Duration::from_mins(10);
/// The lease of the sweep. Only one of several nodes sweeps. If that node stops, another one takes
/// over after this time.
const LEASE: Duration = Duration::from_mins(30);
/// Maximum number of conversations deleted in one transaction.
const AT_ONCE: i64 = 16;
/// How long files without a message are kept.
const UNSENT_FILES: Duration = Duration::from_hours(24);

/// The numbers of deleted records of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub conversations: u64,
    pub recordings: u64,
    pub files: u64,
    /// Rows of model usage: one row per day and cause.
    pub usage_rows: u64,
}

/// Runs a sweep every ten minutes until shutdown.
pub(crate) async fn serve(inner: Arc<Inner>) {
    let stopping = inner.stopping.clone();
    let agents = Agents(inner);
    let duty = Duty::new("conversations.sweep", LEASE);
    let sweeps = async {
        loop {
            tokio::time::sleep(PERIOD).await;
            let swept = async {
                let inner = &agents.0;
                if duty.claim(&inner.store, &inner.clock, &inner.node).await? {
                    return agents.sweep().await;
                }
                Ok(Swept::default())
            };
            match swept.await {
                Ok(swept) if swept == Swept::default() => {}
                Ok(swept) => tracing::info!(
                    conversations = swept.conversations,
                    recordings = swept.recordings,
                    files = swept.files,
                    usage_rows = swept.usage_rows,
                    "old conversations, audio, files and usage were deleted"
                ),
                Err(error) => {
                    tracing::warn!(%error, "old conversations, audio, files or usage were not deleted");
                }
            }
        }
    };
    stopping.run_until_cancelled(sweeps).await;
}

impl Agents {
    /// Deletes data that is older than `agents.retention_days`, `agents.audio_retention_days`,
    /// `agents.attachment_retention_days` and `agents.usage_retention_days` allow. Also deletes files that were not
    /// sent within a day, and expired parts of spoken answers. Sweeps also run in the background.
    pub async fn sweep(&self) -> Result<Swept, AgentsError> {
        let settings = self.0.settings.load_full();
        let mut swept = Swept::default();
        if let Some(kept) = settings.retention {
            swept.conversations = self.0.delete_idle_sessions(kept).await?;
        }
        if let Some(kept) = settings.audio_retention {
            swept.recordings = self.0.delete_old_audio(kept).await?;
        }
        swept.files = self
            .0
            .delete_old_files(settings.attachment_retention)
            .await?;
        self.0.delete_expired_audio().await?;
        swept.usage_rows = self.0.delete_old_usage(settings.usage_retention).await?;
        Ok(swept)
    }
}

impl Inner {
    async fn delete_idle_sessions(&self, kept: Duration) -> Result<u64, AgentsError> {
        let mut deleted = 0;
        loop {
            let (before, now) = (self.sweep_before(kept).await?, self.clock.now());
            let write = self.store.write(move |conn| {
                Box::pin(async move {
                    let ids = conn.delete_idle_chat_sessions(before, AT_ONCE).await?;
                    if !ids.is_empty() {
                        conn.insert_change("sessions", now).await?;
                    }
                    Ok::<_, AgentsError>(ids)
                })
            });
            let ids: Vec<SessionId> = write.await?;
            if ids.is_empty() {
                return Ok(deleted);
            }
            for id in &ids {
                self.lanes.cancel_session(id);
                self.speeches.cancel_session(id);
            }
            deleted += ids.len() as u64;
        }
    }

    async fn delete_old_audio(&self, kept: Duration) -> Result<u64, AgentsError> {
        let mut deleted = 0;
        loop {
            let before = self.sweep_before(kept).await?;
            let write = self.store.write(move |conn| {
                Box::pin(async move {
                    let removed = conn.delete_old_session_audio(before).await?;
                    Ok::<_, AgentsError>(removed)
                })
            });
            match write.await? {
                0 => return Ok(deleted),
                removed => deleted += removed,
            }
        }
    }

    async fn delete_old_files(&self, kept: Option<Duration>) -> Result<u64, AgentsError> {
        let mut deleted = 0;
        loop {
            let before = match kept {
                Some(kept) => Some(self.sweep_before(kept).await?),
                None => None,
            };
            let unsent = self.sweep_before(UNSENT_FILES).await?;
            let write = self.store.write(move |conn| {
                Box::pin(async move {
                    let removed = conn.delete_old_session_attachments(before, unsent).await?;
                    Ok::<_, AgentsError>(removed)
                })
            });
            match write.await? {
                0 => return Ok(deleted),
                removed => deleted += removed,
            }
        }
    }

    async fn delete_expired_audio(&self) -> Result<(), AgentsError> {
        loop {
            let now = self.sweep_before(Duration::ZERO).await?;
            let write = self.store.write(move |conn| {
                Box::pin(async move {
                    let removed = conn.delete_expired_session_audio(now).await?;
                    Ok::<_, AgentsError>(removed)
                })
            });
            if write.await? == 0 {
                return Ok(());
            }
        }
    }

    async fn delete_old_usage(&self, kept: Duration) -> Result<u64, AgentsError> {
        let mut deleted = 0;
        loop {
            let before = UtcDay::of(self.sweep_before(kept).await?).number();
            let write = self.store.write(move |conn| {
                Box::pin(async move {
                    let removed = conn.delete_oldest_usage(before).await?;
                    Ok::<_, AgentsError>(removed)
                })
            });
            match write.await? {
                0 => return Ok(deleted),
                removed => deleted += removed,
            }
        }
    }

    /// Returns the time `kept` before now. A clock that jumps ahead has no effect on the result.
    async fn sweep_before(&self, kept: Duration) -> Result<Timestamp, AgentsError> {
        let now = self.sweep_clock.now(&self.store, &*self.clock).await?;
        let kept = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
        Ok(Timestamp::from_millis(now.as_millis().saturating_sub(kept)))
    }
}
