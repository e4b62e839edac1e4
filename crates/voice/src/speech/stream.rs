//! Text to audio that is forwarded as it arrives: `POST /api/tts/stream`.

use super::complete::speak;
use super::container::{other_kind_of_head, peek, read};
use super::observed::{Body, ObservedStream, SoFar};
use super::order::{Job, Order};
use super::request::SpeechRequest;
use super::samples::{Samples, broken};
use crate::TtsId;
use crate::attempt::{Attempt, Tries};
use crate::tts::TtsCall;
use crate::usage;
use crate::{Voice, VoiceError};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use gatehouse_audio::{Encoder, Format};
use std::fmt;
use std::sync::Arc;

/// How many samples to encode before yielding to other tasks.
const SAMPLES_AT_ONCE: usize = 12_000;

/// A stream of speech whose first bytes have arrived.
pub struct Streamed {
    /// The bytes. An error is the last item and means that the audio is incomplete.
    pub body: BoxStream<'static, Result<Bytes, VoiceError>>,
    pub format: Format,
    /// The provider that speaks.
    pub provider: TtsId,
    /// The ID of the persona used.
    pub persona: Option<String>,
    /// Whether the audio came from the cache.
    pub cached: bool,
    /// The providers tried, in order.
    pub attempts: Vec<Attempt>,
    /// A warning for the caller.
    pub warning: Option<String>,
}

impl fmt::Debug for Streamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streamed")
            .field("format", &self.format)
            .field("provider", &self.provider)
            .finish_non_exhaustive()
    }
}

impl Voice {
    /// Synthesizes a text and forwards the audio. Fallbacks are tried only before the first bytes. Dropping
    /// the stream cancels the work.
    pub async fn stream(&self, request: SpeechRequest) -> Result<Streamed, VoiceError> {
        let span = self.begin_request("api.speech");
        match span.run(self.stream_in_span(request)).await {
            Ok(streamed) => Ok(Streamed {
                body: span.until_end(streamed.body),
                ..streamed
            }),
            failed => span.end(failed),
        }
    }

    async fn stream_in_span(&self, request: SpeechRequest) -> Result<Streamed, VoiceError> {
        let order = self.order(request).await?;
        let mut tries = Tries::default();
        for id in &order.speakers {
            match self.begin(&order, *id).await {
                Ok((body, cached, warning)) => {
                    tries.attempts.push(Attempt::good(id.as_str()));
                    return Ok(Streamed {
                        body,
                        format: order.format,
                        provider: *id,
                        persona: order.persona.map(|persona| persona.id),
                        cached,
                        attempts: tries.attempts,
                        warning,
                    });
                }
                Err(error) => tries.failed(id.as_str(), error)?,
            }
        }
        Err(tries.over())
    }

    /// Waits for the provider's first bytes.
    async fn begin(
        &self,
        order: &Order,
        id: TtsId,
    ) -> Result<(Body, bool, Option<String>), VoiceError> {
        let mut job = self.job(order, id).await?;
        let warning = job.warning();
        let most = order.state.settings.cache_max_bytes;
        if job.is_kept
            && let Some(spoken) = self.0.cache.find(&job.key, most).await
        {
            let audio = spoken.audio;
            return Ok((stream::iter([Ok(audio)]).boxed(), true, warning));
        }
        job.begin_early();
        let keep = is_kept(&job, most).then(|| job.key.clone());
        let mut noted = ObservedStream {
            id,
            format: order.format,
            cpu: order.state.resources.cpu.clone(),
            counting: usage::begin_speech(id, &order.state.resources, job.setup),
            keep: keep.map(|name| (Arc::clone(&self.0.cache), name, most)),
            so_far: SoFar::Whole(Vec::new()),
        };
        let mut body = match job.native() {
            Some(call) => native(order, &job, call).await,
            None if order.format == Format::Aac => whole(order, &job).await,
            None => Ok(encoded(order, job)),
        };
        let first = match &mut body {
            Ok(body) => body.next().await,
            Err(_) => None,
        };
        let nothing = || VoiceError::failed(id.as_str(), "returned no audio", true);
        let first = match (body, first) {
            (Err(error), _) | (Ok(_), Some(Err(error))) => Err(error),
            (Ok(_), None) => Err(nothing()),
            (Ok(body), Some(Ok(first))) => Ok((first, body)),
        };
        let (first, body) = match first {
            Ok(begun) => begun,
            Err(error) => return noted.counting.of(Err(error)),
        };
        usage::characters(id, order.text.chars().count());
        noted.add(&first);
        let body = stream::iter([Ok(first)]).chain(noted.watch(body));
        Ok((body.fuse().boxed(), false, warning))
    }
}

/// A WAV or FLAC that is encoded while streaming has no length in its header. Do not cache it, because a request
/// for the complete audio returns a better one.
fn is_kept(job: &Job, most: u64) -> bool {
    let has_length = !matches!(job.format, Format::Wav | Format::Flac);
    job.is_kept && most > 0 && (has_length || job.native().is_some())
}

/// Streams the provider's native output. If it is in another container than was asked for, it is converted first.
async fn native(order: &Order, job: &Job, call: &TtsCall) -> Result<Body, VoiceError> {
    let speech = speak(&order.state.resources, job.id, call).await?;
    let pieces = speech
        .body
        .try_filter(|piece| std::future::ready(!piece.is_empty()));
    let (head, body) = peek(pieces.boxed()).await?;
    let Some(found) = other_kind_of_head(&head, job.format.kind()) else {
        return Ok(body);
    };
    let made = job.convert(&order.state, read(body).await?, found).await?;
    Ok(stream::iter([Ok(made.audio)]).boxed())
}

/// For a format that cannot be encoded incrementally.
async fn whole(order: &Order, job: &Job) -> Result<Body, VoiceError> {
    let made = job.make(&order.state).await?;
    Ok(stream::iter([Ok(made.audio)]).boxed())
}

/// Encodes samples as they arrive.
fn encoded(order: &Order, job: Job) -> Body {
    let samples = Samples::new(Arc::clone(&order.state), job.id, job.calls);
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
    async fn next(&mut self) -> Result<Option<Bytes>, VoiceError> {
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

    /// The next samples, at most [`SAMPLES_AT_ONCE`].
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
