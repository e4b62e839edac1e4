//! Notices about failures and refusals.

use super::rules::{self, Kind, Notice};
use crate::Services;
use gatehouse_store::StoreError;
use gatehouse_webhooks::Failures;

/// Maximum number of changes that are counted in one transaction.
const AT_ONCE: usize = 100;

impl Services {
    /// Returns the failures and refusals for which a channel is set.
    fn wanted(&self, taken: Vec<Failures>) -> Vec<(Kind, Failures)> {
        let wanted = taken.into_iter().filter_map(|noted| {
            let kind = Kind::of(noted.status)?;
            (!self.targets(kind).is_empty()).then_some((kind, noted))
        });
        wanted.collect()
    }

    /// Counts the failures and refusals since the end of [`Self::send_notices`]. Messages about them are sent after
    /// the next start, or by another node.
    pub async fn count_last_failures(&self) {
        let last = self.wanted(self.webhooks.take_failures());
        if last.is_empty() {
            return;
        }
        let now = self.clock.now();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                for (kind, noted) in &last {
                    rules::note_for_later(conn, *kind, noted, now).await?;
                }
                Ok::<_, StoreError>(())
            })
        });
        if let Err(error) = write.await {
            tracing::warn!(%error, "the last failures and refusals were not counted for messages");
        }
    }

    /// Counts the failures and refusals for which a channel is set. Returns the messages that are due now. While
    /// the database is unavailable, failures are counted by the next call.
    pub(super) async fn note_all(&self, taken: Vec<Failures>) -> Vec<Notice> {
        let counted = self.wanted(taken);
        let mut notices = Vec::new();
        for (place, batch) in counted.chunks(AT_ONCE).enumerate() {
            match self.note(batch.to_vec()).await {
                Ok(due) => notices.extend(due),
                Err(error) => {
                    tracing::warn!(%error, "failures and refusals were not counted for messages");
                    if is_not_written(&error) {
                        let left = counted.iter().skip(place * AT_ONCE);
                        let left = left.map(|(_, noted)| noted.clone()).collect();
                        self.webhooks.return_failures(left);
                        break;
                    }
                }
            }
        }
        notices
    }

    pub(super) async fn note(
        &self,
        counted: Vec<(Kind, Failures)>,
    ) -> Result<Vec<Notice>, StoreError> {
        let now = self.clock.now();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let mut notices = Vec::new();
                for (kind, noted) in &counted {
                    notices.extend(rules::note(conn, *kind, noted, now).await?);
                }
                Ok::<_, StoreError>(notices)
            })
        });
        write.await
    }

    /// Returns the messages that have waited long enough for further failures.
    pub(super) async fn due(&self) -> Vec<Notice> {
        if self.targets(Kind::Failed).is_empty() {
            return Vec::new();
        }
        let now = self.clock.now();
        // Reads first: usually nothing is due, so nothing must be written.
        let read = self
            .store
            .read(move |conn| Box::pin(async move { rules::list_due(conn, now).await }));
        if read.await.is_ok_and(|rows| rows.is_empty()) {
            return Vec::new();
        }
        let write = self
            .store
            .write(move |conn| Box::pin(async move { rules::due(conn, now).await }));
        let due: Result<_, StoreError> = write.await;
        due.unwrap_or_else(|error| {
            tracing::warn!(%error, "messages about failures were not prepared");
            Vec::new()
        })
    }
}

/// Returns whether a write can be repeated later without counting anything twice.
const fn is_not_written(error: &StoreError) -> bool {
    error.is_unavailable() && !matches!(error, StoreError::OutcomeUnknown)
}
