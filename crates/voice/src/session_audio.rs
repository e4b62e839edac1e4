//! The spoken audio of sessions. It is stored with the session's transcript and readable only through the session. The
//! agents crate assigns it to messages.

mod read;

use crate::listening::{TranscribeRequest, Transcript};
use crate::{Voice, VoiceError};
use bytes::Bytes;
use gatehouse_audio::{Kind, sniff};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{AudioId, SessionId};
use gatehouse_store::{SessionAudioRow, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

/// The lifetime of a part of a spoken answer. Slow clients can still fetch a part during this time.
const PART_KEPT: Duration = Duration::from_hours(1);

/// Audio to store with a session.
#[derive(Clone, Debug)]
pub struct NewAudio {
    pub session: SessionId,
    /// Whether the user spoke the audio. Otherwise an agent did.
    pub is_inbound: bool,
    /// The file extension.
    pub format: &'static str,
    pub mime_type: &'static str,
    /// The duration in milliseconds; 0 if unknown.
    pub duration_ms: u64,
    pub transcript: Option<String>,
    pub data: Bytes,
}

/// The metadata of stored audio.
#[derive(Clone, Debug)]
pub struct StoredAudio {
    pub id: AudioId,
    /// The file extension.
    pub format: String,
    pub mime_type: String,
    /// The duration in milliseconds; 0 if unknown.
    pub duration_ms: u64,
    pub created_at: Timestamp,
    pub size_bytes: u64,
}

/// A user's spoken message, transcribed and stored with its session.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HeardAudio {
    /// The audio ID, to pass as `audio_id` to `chat.send`.
    pub audio_id: AudioId,
    /// The transcript.
    #[serde(flatten)]
    pub transcript: Transcript,
}

impl Voice {
    /// Transcribes a user's spoken message and stores it. Stores nothing if transcription fails.
    pub async fn hear(
        &self,
        session: &SessionId,
        request: TranscribeRequest,
    ) -> Result<HeardAudio, VoiceError> {
        let (data, declared) = (request.audio.clone(), request.format.clone());
        let transcript = self.transcribe(request).await?;
        let (format, mime_type) = kind_of(&data, declared.as_deref());
        let new = NewAudio {
            session: session.clone(),
            is_inbound: true,
            format,
            mime_type,
            duration_ms: milliseconds(transcript.duration_seconds),
            transcript: Some(transcript.text.clone()),
            data,
        };
        Ok(HeardAudio {
            audio_id: self.store_audio(new).await?,
            transcript,
        })
    }

    /// Stores audio with an existing session. Deletes the oldest audio of all sessions to stay within the
    /// limit.
    pub async fn store_audio(&self, new: NewAudio) -> Result<AudioId, VoiceError> {
        self.store_until(new, None).await
    }

    /// Stores audio like [`Self::store_audio`], but deletes it after [`PART_KEPT`] unless a message uses it.
    pub(crate) async fn store_part(&self, new: NewAudio) -> Result<AudioId, VoiceError> {
        self.store_until(new, Some(PART_KEPT)).await
    }

    async fn store_until(
        &self,
        new: NewAudio,
        kept: Option<Duration>,
    ) -> Result<AudioId, VoiceError> {
        let inner = &self.0;
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let id = AudioId::generate(&*inner.clock, &*inner.random);
        let row = SessionAudioRow {
            id: id.clone(),
            session_id: new.session,
            message_id: None,
            is_inbound: new.is_inbound,
            format: new.format.to_owned(),
            mime_type: new.mime_type.to_owned(),
            size: number(new.data.len() as u64),
            duration_ms: number(new.duration_ms),
            transcript: new.transcript.as_deref().map(storable),
            created_at: inner.clock.now(),
        };
        let max_bytes = number(self.state().settings.audio_max_bytes);
        let write = inner.store.write(move |conn| {
            Box::pin(async move {
                let data = Vec::from(new.data);
                let is_there = conn.insert_session_audio(&row, data, max_bytes).await?;
                if let Some(kept) = kept.filter(|_| is_there) {
                    let at = row.created_at.as_millis();
                    let at = at.saturating_add(i64::try_from(kept.as_millis()).unwrap_or(i64::MAX));
                    conn.expire_session_audio(&row.id, Timestamp::from_millis(at))
                        .await?;
                }
                Ok(is_there)
            })
        });
        let is_there: Result<bool, StoreError> = write.await;
        if is_there? {
            Ok(id)
        } else {
            Err(VoiceError::NotFound("session"))
        }
    }
}

/// Returns the file extension and media type, by content or else as the caller declared. Both values come from a fixed
/// list, so the audio is never served as HTML.
fn kind_of(data: &[u8], declared: Option<&str>) -> (&'static str, &'static str) {
    match sniff(data).or_else(|| Kind::named(declared?)) {
        Some(kind) => (kind.as_str(), kind.mime_type()),
        None => ("bin", "application/octet-stream"),
    }
}

/// Returns a user's text in the form in which it is stored and compared: trimmed, and without the NUL character, which
/// PostgreSQL does not support.
fn storable(text: &str) -> String {
    text.trim().replace('\0', "\u{fffd}")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a negative or infinite duration saturates"
)]
fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}

#[cfg(test)]
mod tests;
