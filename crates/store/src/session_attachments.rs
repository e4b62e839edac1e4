//! Table `session_attachments`: the files of sessions.

use crate::pieces::{PIECE_BYTES, first_within};
use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{AttachmentId, MessageId, SessionId};

/// Maximum number of old files removed in one step.
const REMOVED_AT_ONCE: i64 = 64;
/// Maximum number of steps per insertion, which bounds its duration: 1,024 files. The next insertion continues.
const STEPS: u32 = 16;

/// A row of `session_attachments` without its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionAttachmentRow {
    pub id: AttachmentId,
    pub session_id: SessionId,
    /// The message that the file belongs to; `None` until the message is stored.
    pub message_id: Option<MessageId>,
    pub name: String,
    pub mime_type: String,
    /// Size in bytes.
    pub size: i64,
    /// In pixels.
    pub width: Option<i64>,
    /// In pixels.
    pub height: Option<i64>,
    pub created_at: Timestamp,
}

columns! {
    SessionAttachmentRow:
    id, session_id, message_id, name, mime_type, size, width, height, created_at
}

const COLUMNS: &str =
    "id, session_id, message_id, name, mime_type, size, width, height, created_at";

/// The content of a file for models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttachmentContent {
    /// The text of a document.
    pub text: Option<String>,
    /// A JPEG image.
    pub image: Option<Vec<u8>>,
}

impl AttachmentContent {
    /// Returns the size in bytes.
    pub fn size(&self) -> usize {
        let text = self.text.as_ref().map_or(0, String::len);
        text + self.image.as_ref().map_or(0, Vec::len)
    }
}

columns! { AttachmentContent: text("content"), image }

/// The condition for the files that senders of webhooks can add. A file without a message was uploaded by a person.
const OF_DELIVERIES: &str = "AND EXISTS (
    SELECT 1 FROM chat_sessions s JOIN chat_messages m ON m.session_id = s.id
    WHERE s.id = a.session_id AND s.source = 'webhook' AND m.id = a.message_id AND m.private = 0)";

struct Old {
    id: String,
    stored_size: i64,
}

columns! { Old: id, stored_size }

impl Conn {
    /// Stores a file; `false` if its session no longer exists. If the total size then exceeds `max_bytes`, old files of
    /// all sessions are removed: first those that are not private in sessions of webhooks, because anyone who can send
    /// deliveries can fill the space, then others. The new file and other files of its message are always kept.
    pub async fn insert_session_attachment(
        &mut self,
        row: &SessionAttachmentRow,
        content: AttachmentContent,
        data: Vec<u8>,
        max_bytes: i64,
    ) -> Result<bool, StoreError> {
        if self.find_chat_session(&row.session_id).await?.is_none() {
            return Ok(false);
        }
        let stored_size = i64::try_from(content.size() + data.len()).unwrap_or(i64::MAX);
        let insert = query(
            "INSERT INTO session_attachments (id, session_id, message_id, name, mime_type, size,
                 stored_size, width, height, created_at, content, image, data)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
        );
        let insert = insert
            .bind(row.id.as_str())
            .bind(row.session_id.as_str())
            .bind(row.message_id.as_ref().map(MessageId::as_str))
            .bind(&row.name)
            .bind(&row.mime_type)
            .bind(row.size)
            .bind(stored_size)
            .bind(row.width)
            .bind(row.height)
            .bind(row.created_at.as_millis())
            .bind(content.text)
            .bind(content.image)
            .bind(data);
        self.run(insert).await?;
        self.make_room_for_attachment(row, max_bytes).await?;
        Ok(true)
    }

    /// Removes old files until at most `max_bytes` remain.
    async fn make_room_for_attachment(
        &mut self,
        new: &SessionAttachmentRow,
        max_bytes: i64,
    ) -> Result<(), StoreError> {
        let sum = "SELECT CAST(COALESCE(SUM(stored_size), 0) AS BIGINT) FROM session_attachments";
        let mut over = self.number(query(sum)).await? - max_bytes;
        // An ID of a file is no ID of a message.
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

    /// Finds a file of a session, without its contents.
    pub async fn find_session_attachment(
        &mut self,
        session: &SessionId,
        id: &str,
    ) -> Result<Option<SessionAttachmentRow>, StoreError> {
        let query = query(format!(
            "SELECT {COLUMNS} FROM session_attachments WHERE id = $1 AND session_id = $2"
        ));
        self.find(query.bind(id).bind(session.as_str())).await
    }

    /// Reads bytes from an offset, counted from 0. Returns fewer bytes at the end of the file.
    pub async fn find_session_attachment_part(
        &mut self,
        id: &AttachmentId,
        from: i64,
        length: i64,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.find_data_part("session_attachments", id.as_str(), (from, length))
            .await
    }

    /// Reads the content of a session's file in the form for models.
    pub async fn find_session_attachment_content(
        &mut self,
        session: &SessionId,
        id: &AttachmentId,
    ) -> Result<Option<AttachmentContent>, StoreError> {
        let query = query(
            "SELECT content, image FROM session_attachments WHERE id = $1 AND session_id = $2",
        );
        self.find(query.bind(id.as_str()).bind(session.as_str()))
            .await
    }

    /// Sets the message of a file; `false` if the file no longer exists.
    pub async fn update_session_attachment_message(
        &mut self,
        id: &AttachmentId,
        message: &MessageId,
    ) -> Result<bool, StoreError> {
        let query = query("UPDATE session_attachments SET message_id = $2 WHERE id = $1");
        let query = query.bind(id.as_str()).bind(message.as_str());
        Ok(self.run(query).await? > 0)
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

    /// Removes some of the files stored before `before`, and of those that belong to no message and were stored
    /// before `unsent_before`. Returns their number.
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
