//! Encodes samples while they arrive.

use crate::handle::State;
use crate::speech::{container::broken, observed::Body, order::Job, samples::Samples};
use crate::{TtsId, VoiceError};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use gatehouse_audio::{Encoder, Format};
use std::sync::Arc;

/// How many samples to encode before yielding to other tasks.
const SAMPLES_AT_ONCE: usize = 12_000;

/// Encodes samples as they arrive.
pub(super) fn encoded(state: &Arc<State>, job: Job) -> Body {
    let samples = Samples::new(Arc::clone(state), job.id, job.calls);
    let state = Encoding {
        id: job.id,
        format: job.format,
        samples,
        waiting: Vec::new(),
        encoder: None,
        at_end: false,
    };
    let pieces = stream::try_unfold(state, |mut state| async move {
        let piece = state.next().await?;
        Ok(piece.map(|piece| (piece, state)))
    });
    pieces.boxed()
}

struct Encoding {
    id: TtsId,
    format: Format,
    samples: Samples,
    /// Samples that are not encoded yet, in reverse order.
    waiting: Vec<i16>,
    encoder: Option<Encoder>,
    at_end: bool,
}

impl Encoding {
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, VoiceError> {
        let id = self.id;
        while !self.at_end {
            let bytes = if let Some(samples) = self.some().await? {
                self.encoder()?.push(&samples)
            } else {
                self.at_end = true;
                let encoder = self.encoder.take();
                encoder.map_or_else(|| Ok(Vec::new()), Encoder::finish)
            };
            let bytes = bytes.map_err(|error| broken(id, &error))?;
            if !bytes.is_empty() {
                return Ok(Some(bytes.into()));
            }
            tokio::task::yield_now().await;
        }
        Ok(None)
    }

    /// Creates the encoder for the rate of the first samples.
    fn encoder(&mut self) -> Result<&mut Encoder, VoiceError> {
        let rate = self.samples.rate().unwrap_or(Format::PCM_RATE);
        let (id, format) = (self.id, self.format);
        match &mut self.encoder {
            Some(encoder) => Ok(encoder),
            none => {
                let made = Encoder::new(format, rate).map_err(|error| broken(id, &error))?;
                Ok(none.insert(made))
            }
        }
    }

    /// Returns the next samples, at most [`SAMPLES_AT_ONCE`].
    async fn some(&mut self) -> Result<Option<Vec<i16>>, VoiceError> {
        if self.waiting.is_empty() {
            match self.samples.next().await? {
                None => return Ok(None),
                Some(samples) if samples.len() <= SAMPLES_AT_ONCE => return Ok(Some(samples)),
                Some(mut samples) => {
                    samples.reverse();
                    self.waiting = samples;
                }
            }
        }
        let keep = self.waiting.len().saturating_sub(SAMPLES_AT_ONCE);
        let mut some = self.waiting.split_off(keep);
        some.reverse();
        Ok(Some(some))
    }
}
