//! Deletion of files: the oldest, the expired, and those of one session.

use super::{OF_DELIVERIES, SessionAttachmentRow};
use crate::pieces::{PIECE_BYTES, first_within};
use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{MessageId, SessionId};

/// Maximum number of old files removed in one step.
const REMOVED_AT_ONCE: i64 = 64;

/// Maximum number of steps per insertion, which bounds its duration: 1,024 files. The next insertion continues.
const STEPS: u32 = 16;

struct Old {
    id: String,
    stored_size: i64,
}

columns! { Old: id, stored_size }

impl Conn {
    /// Removes old files until at most `max_bytes` remain.
    pub(super) async fn make_room_for_attachment(
        &mut self,
        new: &SessionAttachmentRow,
        max_bytes: i64,
    ) -> Result<(), StoreError> {
        let sum = "SELECT CAST(COALESCE(SUM(stored_size), 0) AS BIGINT) FROM session_attachments";
        let mut over = self.number(query(sum)).await? - max_bytes;
        // The ID of a file never equals the ID of a message.
        let message = new.message_id.as_ref();
        let message = message.map_or(new.id.as_str(), MessageId::as_str);
        let mut which = OF_DELIVERIES;
        for _step in 0..=STEPS {
            if over <= 0 {
                break;
            }
            let oldest = query(format!(
                "SELECT a.id, a.stored_size FROM session_attachments a
                 WHERE a.id <> $1 AND COALESCE(a.message_id, '') <> $2 {which} ORDER BY a.id LIMIT $3"
            ));
            let oldest = oldest.bind(new.id.as_str()).bind(message);
            let oldest: Vec<Old> = self.list(oldest.bind(REMOVED_AT_ONCE)).await?;
            if oldest.is_empty() {
                if which.is_empty() {
                    break;
                }
                which = "";
            }
            for old in oldest {
                if over > 0 {
                    over -= old.stored_size;
                    self.delete_attachment(&old.id).await?;
                }
            }
        }
        Ok(())
    }

    async fn delete_attachment(&mut self, id: &str) -> Result<u64, StoreError> {
        let delete = query("DELETE FROM session_attachments WHERE id = $1");
        self.run(delete.bind(id)).await
    }

    /// Deletes a file of a session that belongs to no message yet; `false` if there is none.
    pub async fn delete_unsent_session_attachment(
        &mut self,
        session: &SessionId,
        id: &str,
    ) -> Result<bool, StoreError> {
        let query = query(
            "DELETE FROM session_attachments
             WHERE id = $1 AND session_id = $2 AND message_id IS NULL",
        );
        Ok(self.run(query.bind(id).bind(session.as_str())).await? > 0)
    }

    /// Removes some of the old files: files stored before `before`, and files without a message stored before
    /// `unsent_before`. Returns their number.
    pub async fn delete_old_session_attachments(
        &mut self,
        before: Option<Timestamp>,
        unsent_before: Timestamp,
    ) -> Result<u64, StoreError> {
        let old = query(
            "SELECT id, stored_size FROM session_attachments
             WHERE created_at < $1 OR (message_id IS NULL AND created_at < $2)
             ORDER BY id LIMIT $3",
        );
        let old = old
            .bind(before.map_or(i64::MIN, Timestamp::as_millis))
            .bind(unsent_before.as_millis())
            .bind(REMOVED_AT_ONCE);
        let old: Vec<Old> = self.list(old).await?;
        let mut removed = 0;
        for old in first_within(old, PIECE_BYTES, |old| old.stored_size) {
            removed += self.delete_attachment(&old.id).await?;
        }
        Ok(removed)
    }

    /// Deletes all files of a session.
    pub(crate) async fn delete_session_attachments(
        &mut self,
        session: &SessionId,
    ) -> Result<(), StoreError> {
        let query = query("DELETE FROM session_attachments WHERE session_id = $1");
        self.run(query.bind(session.as_str())).await.map(drop)
    }
}
