//! Observes a stream: records metrics at its end, and caches the audio if it is not too large.

use crate::TtsId;
use crate::VoiceError;
use crate::cache::{Cache, Name, Spoken};
use crate::cpu::CpuPermits;
use crate::usage::{self, Counting};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use gatehouse_audio::{Format, Meter, duration_ms};
use std::sync::Arc;

/// A stream of audio.
pub(super) type Body = BoxStream<'static, Result<Bytes, VoiceError>>;

/// The maximum size of a stream that is buffered for the cache: about two minutes of MP3.
pub(super) const MAX_KEPT_BYTES: usize = 768 << 10;

/// A stream whose first bytes have arrived.
pub(super) struct ObservedStream {
    pub(super) id: TtsId,
    pub(super) format: Format,
    pub(super) cpu: CpuPermits,
    pub(super) counting: Counting,
    /// The cache, the entry name and the maximum cache size.
    pub(super) keep: Option<(Arc<Cache>, Name, u64)>,
    pub(super) so_far: SoFar,
}

/// The audio so far.
pub(super) enum SoFar {
    Whole(Vec<u8>),
    /// The audio is too large for the cache.
    Measured(Meter),
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
        match &mut self.so_far {
            SoFar::Whole(whole) if whole.len() + piece.len() <= MAX_KEPT_BYTES => {
                whole.extend_from_slice(piece);
            }
            SoFar::Whole(whole) => {
                let mut meter = Meter::new(self.format.kind());
                meter.push(whole);
                meter.push(piece);
                self.so_far = SoFar::Measured(meter);
            }
            SoFar::Measured(meter) => meter.push(piece),
        }
    }

    async fn end(self) {
        // Records the success.
        drop(self.counting.of(Ok::<_, VoiceError>(())));
        let whole = match self.so_far {
            SoFar::Whole(whole) => whole,
            SoFar::Measured(meter) => {
                if let Ok(duration_ms) = self.cpu.run(move || Ok(meter.finish())).await {
                    usage::spoken_for(self.id, duration_ms);
                }
                return;
            }
        };
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
