//! Deletion of audio: the oldest, the expired, and that of one session.

use crate::pieces::{PIECE_BYTES, first_within};
use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{AudioId, SessionId};

/// Maximum number of old recordings removed in one step.
const REMOVED_AT_ONCE: i64 = 64;

/// Maximum number of steps per insertion, which bounds its duration: 1,024 recordings. The next insertion
/// continues.
const STEPS: u32 = 16;

struct Old {
    id: String,
    size: i64,
    message_id: Option<String>,
    created_at: i64,
}

columns! { Old: id, size, message_id, created_at }

impl Conn {
    /// Removes the oldest recordings until at most `max_bytes` remain, and their references in messages.
    pub(super) async fn make_room(
        &mut self,
        newest: &AudioId,
        max_bytes: i64,
    ) -> Result<(), StoreError> {
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

    /// Removes some of the oldest recordings, but not more than needed to free the given number of bytes. Returns
    /// whether more recordings must be removed.
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

    /// Sets when a recording expires. A recording that gets a message no longer expires.
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

    /// Deletes all recordings of a session.
    pub(crate) async fn delete_session_audio(
        &mut self,
        session: &SessionId,
    ) -> Result<(), StoreError> {
        let query = query("DELETE FROM session_audio WHERE session_id = $1");
        self.run(query.bind(session.as_str())).await.map(drop)
    }
}
