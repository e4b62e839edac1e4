//! How far a message in several parts has got, so that another try sends only what is missing.

use crate::handle::Inner;
use gatehouse_domain::Timestamp;
use gatehouse_store::StoreError;

/// How long after its last try a message is remembered. Longer than anybody goes on trying.
const KEPT_MS: i64 = 7 * 24 * 3_600_000;

impl Inner {
    /// How many parts the vendor has taken.
    pub(crate) async fn parts_sent(&self, message: &str) -> Result<usize, StoreError> {
        let message = message.to_owned();
        let found = self
            .store
            .read(move |conn| Box::pin(async move { conn.find_channel_parts(&message).await }));
        Ok(usize::try_from(found.await?).unwrap_or(0))
    }

    /// Notes that the vendor has taken this many.
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

    /// Forgets a message: it was sent whole, or never will be. If that fails, it is forgotten by age.
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
