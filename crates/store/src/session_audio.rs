//! Table `session_audio`: spoken messages of users and agents.

use crate::pieces::{PIECE_BYTES, first_within};
use crate::sql::{FromRow, Row, columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{AudioId, MessageId, SessionId};

/// Maximum number of old recordings removed in one step.
const REMOVED_AT_ONCE: i64 = 64;
/// Maximum number of steps per insertion, which bounds its duration: 1,024 recordings. The next insertion
/// continues.
const STEPS: u32 = 16;

/// A row of `session_audio` without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionAudioRow {
    pub id: AudioId,
    pub session_id: SessionId,
    /// The message that the recording belongs to; `None` until the message is stored.
    pub message_id: Option<MessageId>,
    /// Whether the user spoke, rather than an agent.
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

struct Old {
    id: String,
    size: i64,
    message_id: Option<String>,
    created_at: i64,
}

columns! { Old: id, size, message_id, created_at }

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

    /// Removes the oldest recordings until at most `max_bytes` remain, and their references in messages.
    async fn make_room(&mut self, newest: &AudioId, max_bytes: i64) -> Result<(), StoreError> {
        let sum = "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM session_audio";
        let mut over = self.number(query(sum)).await? - max_bytes;
        if over <= 0 {
            return Ok(());
        }
        for _step in 0..STEPS {
            if !self.remove_oldest(newest, &mut over).await? {
                break;
            }
        }
        Ok(())
    }

    /// Removes some of the oldest recordings, but no more than needed to free the given number of bytes.
    /// Returns whether more must be removed.
    async fn remove_oldest(
        &mut self,
        newest: &AudioId,
        over: &mut i64,
    ) -> Result<bool, StoreError> {
        let oldest = query(
            "SELECT id, size, message_id, created_at FROM session_audio WHERE id <> $1
             ORDER BY id LIMIT $2",
        );
        let oldest = oldest.bind(newest.as_str()).bind(REMOVED_AT_ONCE);
        let oldest: Vec<Old> = self.list(oldest).await?;
        let is_there_one = !oldest.is_empty();
        for old in oldest {
            if *over <= 0 {
                return Ok(false);
            }
            *over -= old.size;
            self.remove(&old).await?;
        }
        Ok(is_there_one && *over > 0)
    }

    /// Removes a recording and its reference in a message.
    async fn remove(&mut self, old: &Old) -> Result<(), StoreError> {
        let delete = query("DELETE FROM session_audio WHERE id = $1");
        self.run(delete.bind(&old.id)).await?;
        if let Some(message) = &old.message_id {
            let query = query("UPDATE chat_messages SET audio = NULL WHERE id = $1 AND audio = $2");
            self.run(query.bind(message).bind(&old.id)).await?;
        }
        Ok(())
    }

    /// Removes some of the recordings made before a time. Returns their number.
    pub async fn delete_old_session_audio(&mut self, before: Timestamp) -> Result<u64, StoreError> {
        // IDs sort by time.
        let oldest = query(
            "SELECT id, size, message_id, created_at FROM session_audio ORDER BY id LIMIT $1",
        );
        let oldest: Vec<Old> = self.list(oldest.bind(REMOVED_AT_ONCE)).await?;
        let mut removed = 0;
        for old in first_within(oldest, PIECE_BYTES, |old| old.size) {
            if Timestamp::from_millis(old.created_at) < before {
                self.remove(&old).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Lets a recording expire, unless it becomes a message's.
    pub async fn expire_session_audio(
        &mut self,
        id: &AudioId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let query = query("UPDATE session_audio SET expires_at = $2 WHERE id = $1");
        let query = query.bind(id.as_str()).bind(at.as_millis());
        self.run(query).await.map(drop)
    }

    /// Removes some of the expired recordings. Returns their number.
    pub async fn delete_expired_session_audio(
        &mut self,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let query = query(
            "DELETE FROM session_audio WHERE id IN (
                 SELECT id FROM session_audio
                 WHERE expires_at IS NOT NULL AND expires_at < $1 LIMIT $2)",
        );
        let query = query.bind(now.as_millis()).bind(REMOVED_AT_ONCE);
        self.run(query).await
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

    /// Returns the newest recording of a session since the given time, if its transcript is exactly this text
    /// and it belongs to no message yet.
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

    /// Sets the message of a recording, which is then kept; `false` if the recording no longer exists.
    pub async fn update_session_audio_message(
        &mut self,
        id: &str,
        message: &MessageId,
    ) -> Result<bool, StoreError> {
        let query =
            query("UPDATE session_audio SET message_id = $2, expires_at = NULL WHERE id = $1");
        Ok(self.run(query.bind(id).bind(message.as_str())).await? > 0)
    }

    /// Deletes all recordings of a session.
    pub(crate) async fn delete_session_audio(
        &mut self,
        session: &SessionId,
    ) -> Result<(), StoreError> {
        let query = query("DELETE FROM session_audio WHERE session_id = $1");
        self.run(query.bind(session.as_str())).await.map(drop)
    }
}
