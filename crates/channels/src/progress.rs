//! The progress of messages with several parts. A retry sends only the remaining parts.

use crate::handle::Inner;
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;

/// How long progress is kept after the last attempt, in milliseconds. No caller retries for longer than this.
const KEPT_MS: i64 = 7 * 24 * 3_600_000;

impl Inner {
    /// Returns the number of parts that the vendor has accepted.
    pub(crate) async fn parts_sent(&self, message: &str) -> Result<usize, StoreError> {
        let message = message.to_owned();
        let found = self
            .store
            .read(move |conn| Box::pin(async move { conn.find_channel_parts(&message).await }));
        Ok(usize::try_from(found.await?).unwrap_or(0))
    }

    /// Stores the number of parts that the vendor has accepted.
    pub(crate) async fn note_parts(&self, message: &str, sent: usize) -> Result<(), StoreError> {
        let (message, now) = (message.to_owned(), self.clock.now());
        let sent = i64::try_from(sent).unwrap_or(i64::MAX);
        let swept_at = self.sweep_clock.now(&self.store, &*self.clock).await?;
        let before = Timestamp::from_millis(swept_at.as_millis().saturating_sub(KEPT_MS));
        let write = self.store.write(move |conn| {
            Box::pin(async move { conn.update_channel_parts(&message, sent, now, before).await })
        });
        write.await
    }

    /// Removes the progress of a message that will not be sent again. If the removal fails, the row is deleted later
    /// because of its age.
    pub(crate) async fn forget_parts(&self, message: &str) {
        let message = message.to_owned();
        let write = self
            .store
            .write(move |conn| Box::pin(async move { conn.delete_channel_parts(&message).await }));
        let done: Result<(), StoreError> = write.await;
        if let Err(error) = done {
            tracing::warn!(%error, "the progress of a sent message was not removed");
        }
    }
}
