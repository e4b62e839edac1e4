//! Table `session_attachments`: the files of sessions.

mod removal;

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{AttachmentId, MessageId, SessionId};

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

/// The content of a file in the form for models.
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

/// The condition for files that senders of webhooks can add. A person uploads a file before its message exists.
const OF_DELIVERIES: &str = "AND EXISTS (
    SELECT 1 FROM chat_sessions s JOIN chat_messages m ON m.session_id = s.id
    WHERE s.id = a.session_id AND s.source = 'webhook' AND m.id = a.message_id AND m.private = 0)";

impl Conn {
    /// Stores a file; `false` if its session no longer exists. If the total size then exceeds `max_bytes`, removes
    /// old files of all sessions. Files that are not private in webhook sessions are removed first, because any
    /// sender of deliveries can use up the space. The new file and other files of its message are always kept.
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
}
