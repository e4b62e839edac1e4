//! Reads stored audio.

use super::StoredAudio;
use crate::{Voice, VoiceError};
use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use gatehouse_domain::id::{AudioId, SessionId};
use gatehouse_store::{SessionAudioRow, StoreError};
use std::ops::Range;

/// The size of a chunk of a recording. The database may read the whole value for each chunk, so small chunks would be
/// slow.
const PIECE_BYTES: u64 = 1 << 20;

impl Voice {
    /// Returns the metadata of a session's audio. Audio of another session is not found.
    pub async fn get_audio(
        &self,
        session: &SessionId,
        id: &str,
    ) -> Result<StoredAudio, VoiceError> {
        let missing = || VoiceError::NotFound("audio");
        // PostgreSQL rejects a NUL character in a query.
        if id.contains('\0') {
            return Err(missing());
        }
        let (session, id) = (session.clone(), id.to_owned());
        let read = self.0.store.read(move |conn| {
            Box::pin(async move { conn.find_session_audio(&session, &id).await })
        });
        let found: Result<Option<SessionAudioRow>, StoreError> = read.await;
        let row = found?.ok_or_else(missing)?;
        Ok(StoredAudio {
            id: row.id,
            format: row.format,
            mime_type: row.mime_type,
            duration_ms: u64::try_from(row.duration_ms).unwrap_or(0),
            created_at: row.created_at,
            size_bytes: u64::try_from(row.size).unwrap_or(0),
        })
    }

    /// Streams a byte range on demand, with at most one chunk in memory. If bytes are missing when they are read, the
    /// last item is an error.
    pub fn read_audio(
        &self,
        id: &AudioId,
        bytes: Range<u64>,
    ) -> BoxStream<'static, Result<Bytes, VoiceError>> {
        let state = (self.clone(), id.clone(), bytes);
        let pieces = stream::try_unfold(state, |(voice, id, mut left)| async move {
            if left.is_empty() {
                return Ok(None);
            }
            let length = (left.end - left.start).min(PIECE_BYTES);
            let piece = voice.read_piece(&id, left.start, length).await?;
            left.start += length;
            Ok(Some((piece, (voice, id, left))))
        });
        pieces.boxed()
    }

    async fn read_piece(&self, id: &AudioId, from: u64, length: u64) -> Result<Bytes, VoiceError> {
        let id = id.clone();
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let (from, most) = (number(from), number(length));
        let read = self.0.store.read(move |conn| {
            Box::pin(async move { conn.find_session_audio_part(&id, from, most).await })
        });
        let found: Result<Option<Vec<u8>>, StoreError> = read.await;
        let piece = found?.ok_or(VoiceError::NotFound("audio"))?;
        if piece.len() as u64 == length {
            Ok(piece.into())
        } else {
            Err(VoiceError::Internal(
                "the stored audio is shorter than recorded",
            ))
        }
    }
}
