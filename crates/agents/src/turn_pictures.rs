//! The pictures that the tools of a turn returned.

use crate::attached_file::{Attachment, attachments_of};
use crate::handle::Agents;
use gatehouse_domain::id::DeliveryId;
use gatehouse_store::{ChatMessageRow, StoreError};

/// The number of newest turns of a session that are considered.
const TURNS: i64 = 50;

impl Agents {
    /// Returns the pictures that tools returned in the turn for a message or a delivery, in the order of the calls.
    /// `key` is the session's key. The list is empty if there is no such turn among the newest ones, or if the turn has
    /// failed or has not ended.
    pub async fn list_pictures_of(
        &self,
        key: &str,
        delivery: &DeliveryId,
    ) -> Result<Vec<Attachment>, StoreError> {
        let (key, delivery) = (key.to_owned(), delivery.clone());
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let Some(session) = conn.find_chat_session_by_key(&key).await? else {
                    return Ok(Vec::new());
                };
                let first = session.last_turn.saturating_sub(TURNS);
                conn.list_chat_files_of_tools(&session.id, first, &delivery)
                    .await
            })
        });
        let rows: Vec<ChatMessageRow> = read.await?;
        // A turn that was interrupted and continued has two ends. The last one counts.
        let end = rows.iter().rfind(|row| row.stop.is_some());
        if end.is_none_or(|row| row.error.is_some()) {
            return Ok(Vec::new());
        }
        let files = rows.iter().flat_map(attachments_of);
        Ok(files.filter(|file| file.width.is_some()).collect())
    }
}
