//! Table `session_audio`: spoken messages of users and agents.

mod removal;

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{AudioId, MessageId, SessionId};

/// A row of `session_audio` without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionAudioRow {
    pub id: AudioId,
    pub session_id: SessionId,
    /// The message that the recording belongs to; `None` until the message is stored.
    pub message_id: Option<MessageId>,
    /// Whether a user spoke. Otherwise, an agent spoke.
    pub is_inbound: bool,
    /// Name of the format, such as `mp3`.
    pub format: String,
    pub mime_type: String,
    /// Size in bytes.
    pub size: i64,
    /// Duration; 0 if unknown.
    pub duration_ms: i64,
    pub transcript: Option<String>,
    pub created_at: Timestamp,
}

const COLUMNS: &str = "id, session_id, message_id, direction, format, mime_type, size, duration_ms, \
    transcript, created_at";

const INBOUND: &str = "inbound";

impl FromRow for SessionAudioRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let message: Option<String> = row.try_get("message_id")?;
        Ok(Self {
            id: AudioId::from_text(row.try_get::<String, _>("id")?),
            session_id: SessionId::from_text(row.try_get::<String, _>("session_id")?),
            message_id: message.map(MessageId::from_text),
            is_inbound: row.try_get::<String, _>("direction")? == INBOUND,
            format: row.try_get("format")?,
            mime_type: row.try_get("mime_type")?,
            size: row.try_get("size")?,
            duration_ms: row.try_get("duration_ms")?,
            transcript: row.try_get("transcript")?,
            created_at: Timestamp::from_millis(row.try_get("created_at")?),
        })
    }
}

impl Conn {
    /// Stores a recording; `false` if its session no longer exists. If the total size then exceeds
    /// `max_bytes`, the oldest recordings of all sessions are removed. The new recording is always kept.
    pub async fn insert_session_audio(
        &mut self,
        row: &SessionAudioRow,
        data: Vec<u8>,
        max_bytes: i64,
    ) -> Result<bool, StoreError> {
        if self.find_chat_session(&row.session_id).await?.is_none() {
            return Ok(false);
        }
        let query = query(
            "INSERT INTO session_audio (id, session_id, message_id, direction, format, mime_type,
                 size, duration_ms, transcript, created_at, data)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        );
        let direction = if row.is_inbound { INBOUND } else { "outbound" };
        self.run(
            query
                .bind(row.id.as_str())
                .bind(row.session_id.as_str())
                .bind(row.message_id.as_ref().map(MessageId::as_str))
                .bind(direction)
                .bind(&row.format)
                .bind(&row.mime_type)
                .bind(row.size)
                .bind(row.duration_ms)
                .bind(row.transcript.as_deref())
                .bind(row.created_at.as_millis())
                .bind(data),
        )
        .await?;
        self.make_room(&row.id, max_bytes).await?;
        Ok(true)
    }

    /// Finds a recording of a session, without its bytes.
    pub async fn find_session_audio(
        &mut self,
        session: &SessionId,
        id: &str,
    ) -> Result<Option<SessionAudioRow>, StoreError> {
        let query = query(format!(
            "SELECT {COLUMNS} FROM session_audio WHERE id = $1 AND session_id = $2"
        ));
        self.find(query.bind(id).bind(session.as_str())).await
    }

    /// Reads bytes from an offset, counted from 0. Returns fewer bytes at the end of the recording.
    pub async fn find_session_audio_part(
        &mut self,
        id: &AudioId,
        from: i64,
        length: i64,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.find_data_part("session_audio", id.as_str(), (from, length))
            .await
    }

    /// Returns the newest recording of a session since the given time that has exactly this transcript and belongs
    /// to no message yet.
    pub async fn find_session_audio_heard(
        &mut self,
        session: &SessionId,
        text: &str,
        since: Timestamp,
    ) -> Result<Option<AudioId>, StoreError> {
        let query = query(
            "SELECT id FROM session_audio
             WHERE session_id = $1 AND direction = 'inbound' AND message_id IS NULL
                 AND transcript = $2 AND created_at >= $3
             ORDER BY id DESC LIMIT 1",
        );
        let query = query.bind(session.as_str()).bind(text);
        let found: Option<String> = self.find(query.bind(since.as_millis())).await?;
        Ok(found.map(AudioId::from_text))
    }

    /// Sets the message of a recording. The recording then no longer expires. Returns `false` if the recording no
    /// longer exists.
    pub async fn update_session_audio_message(
        &mut self,
        id: &str,
        message: &MessageId,
    ) -> Result<bool, StoreError> {
        let query =
            query("UPDATE session_audio SET message_id = $2, expires_at = NULL WHERE id = $1");
        Ok(self.run(query.bind(id).bind(message.as_str())).await? > 0)
    }
}
