//! Observes a stream: records metrics at its end, and caches the audio if it is not too large.

use crate::TtsId;
use crate::VoiceError;
use crate::cache::{Cache, Name, Spoken};
use crate::cpu::CpuPermits;
use crate::usage::{self, Counting};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use gatehouse_audio::{Format, duration_ms};
use std::sync::Arc;

/// A stream of audio.
pub(super) type Body = BoxStream<'static, Result<Bytes, VoiceError>>;

/// The most of a stream to buffer for the cache: about two minutes of MP3.
const MAX_KEPT_BYTES: usize = 768 << 10;

/// A stream whose first bytes have arrived.
pub(super) struct ObservedStream {
    pub(super) id: TtsId,
    pub(super) format: Format,
    pub(super) cpu: CpuPermits,
    pub(super) counting: Counting,
    /// The cache, the entry name and the maximum cache size.
    pub(super) keep: Option<(Arc<Cache>, Name, u64)>,
    /// The audio so far; `None` once it is too large.
    pub(super) whole: Option<Vec<u8>>,
}

impl ObservedStream {
    /// Wraps the stream. A stream that is dropped before its end is neither recorded nor cached.
    pub(super) fn watch(self, body: Body) -> Body {
        let state = (body, Some(self));
        let watched = stream::unfold(state, |(mut body, noted)| async move {
            let mut noted = noted?;
            match body.next().await {
                Some(Ok(piece)) => {
                    noted.add(&piece);
                    Some((Ok(piece), (body, Some(noted))))
                }
                Some(Err(error)) => Some((noted.counting.of(Err(error)), (body, None))),
                None => {
                    noted.end().await;
                    None
                }
            }
        });
        watched.boxed()
    }

    pub(super) fn add(&mut self, piece: &Bytes) {
        let fits = |whole: &Vec<u8>| whole.len() + piece.len() <= MAX_KEPT_BYTES;
        self.whole = self.whole.take().filter(fits).map(|mut whole| {
            whole.extend_from_slice(piece);
            whole
        });
    }

    async fn end(self) {
        // Records the success.
        drop(self.counting.of(Ok::<_, VoiceError>(())));
        let Some(whole) = self.whole else { return };
        let (audio, kind) = (Bytes::from(whole), self.format.kind());
        let bytes = audio.clone();
        let Ok(Some(duration_ms)) = self
            .cpu
            .run(move || Ok(duration_ms(&bytes, kind).ok()))
            .await
        else {
            return;
        };
        usage::spoken_for(self.id, duration_ms);
        if let Some((cache, name, most)) = self.keep {
            cache.keep(&name, Spoken { audio, duration_ms }, most).await;
        }
    }
}
