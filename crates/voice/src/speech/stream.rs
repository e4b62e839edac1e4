//! Text to audio that is forwarded as it arrives: `POST /api/tts/stream`.

mod encoding;

use super::complete::CompleteSpeech;
use super::container::{other_kind_of_head, peek, read};
use super::observed::{Body, ObservedStream, SoFar};
use super::order::{Job, Order};
use super::provider_call::speak;
use super::request::SpeechRequest;
use super::shared_stream::Begun;
use crate::TtsId;
use crate::attempt::{Attempt, Tries};
use crate::handle::State;
use crate::tts::TtsCall;
use crate::usage;
use crate::{Voice, VoiceError};
use bytes::Bytes;
use encoding::encoded;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use gatehouse_audio::Format;
use gatehouse_domain::trace;
use std::fmt;
use std::sync::Arc;

/// A stream of speech whose first bytes have arrived.
pub struct Streamed {
    /// The bytes. An error is the last item and means that the audio is incomplete.
    pub body: BoxStream<'static, Result<Bytes, VoiceError>>,
    pub format: Format,
    /// The provider that speaks.
    pub provider: TtsId,
    /// The ID of the persona used.
    pub persona: Option<String>,
    /// Whether the audio comes from the cache or from an identical request's stream.
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
    /// Synthesizes a text and forwards the audio. Fallbacks are tried only before the first bytes. Dropping the stream
    /// cancels the work, unless an identical request reads the stream.
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

    /// Waits for the first bytes of this provider, or of an identical request's stream. The flag is true if the
    /// provider was not called for this request.
    async fn begin(
        &self,
        order: &Order,
        id: TtsId,
    ) -> Result<(Body, bool, Option<String>), VoiceError> {
        let job = self.job(order, id).await?;
        let (key, warning) = (job.key.clone(), job.warning());
        let (voice, state) = (self.clone(), Arc::clone(&order.state));
        let characters = order.text.chars().count();
        let beginning = async move { voice.find_or_begin(&state, job, characters).await };
        // The work belongs to the span of the first caller, even if another caller polls it.
        let beginning = trace::within(trace::current(), beginning);
        let (listener, joined) = self.0.streams.join(key, beginning);
        let (body, is_cached) = listener.begun().await?;
        Ok((body.fuse().boxed(), joined || is_cached, warning))
    }

    /// Returns the whole audio of an identical request that is being streamed. A failed stream returns its error.
    /// Returns `None` if there is no such stream, or if the format has the length in its header, because a stream may
    /// omit the length.
    pub(super) async fn find_streamed(
        &self,
        state: &State,
        job: &Job,
    ) -> Option<Result<CompleteSpeech, VoiceError>> {
        if matches!(job.format, Format::Wav | Format::Flac) {
            return None;
        }
        let listener = self.0.streams.find(&job.key)?;
        let reading = async {
            let (body, _) = listener.begun().await?;
            let made = job.measured(state, read(body).await?).await?;
            Ok::<_, VoiceError>(CompleteSpeech {
                is_cached: true,
                ..made
            })
        };
        Some(reading.await)
    }

    async fn find_or_begin(
        &self,
        state: &Arc<State>,
        mut job: Job,
        characters: usize,
    ) -> Result<Begun, VoiceError> {
        let most = state.settings.cache_max_bytes;
        if job.is_kept
            && let Some(spoken) = self.0.cache.find(&job.key, most).await
        {
            return Ok((stream::iter([Ok(spoken.audio)]).boxed(), true));
        }
        job.begin_early();
        let id = job.id;
        let keep = is_kept(&job, most).then(|| job.key.clone());
        let mut noted = ObservedStream {
            id,
            format: job.format,
            cpu: state.resources.cpu.clone(),
            counting: usage::begin_speech(id, &state.resources, job.setup),
            keep: keep.map(|name| (Arc::clone(&self.0.cache), name, most)),
            so_far: SoFar::Whole(Vec::new()),
        };
        let mut body = match job.native() {
            Some(call) => native(state, &job, call).await,
            None if job.format == Format::Aac => whole(state, &job).await,
            None => Ok(encoded(state, job)),
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
        usage::characters(id, characters);
        noted.add(&first);
        let body = stream::iter([Ok(first)]).chain(noted.watch(body));
        Ok((body.fuse().boxed(), false))
    }
}

/// A WAV or FLAC that is encoded while streaming has no length in its header, so it is not cached. A request for the
/// complete audio then caches a file with the length.
fn is_kept(job: &Job, most: u64) -> bool {
    let has_length = !matches!(job.format, Format::Wav | Format::Flac);
    job.is_kept && most > 0 && (has_length || job.native().is_some())
}

/// Streams the provider's native output. Output that is not in the requested container is converted first.
async fn native(state: &State, job: &Job, call: &TtsCall) -> Result<Body, VoiceError> {
    let speech = speak(&state.resources, job.id, call).await?;
    let pieces = speech
        .body
        .try_filter(|piece| std::future::ready(!piece.is_empty()));
    let (head, body) = peek(pieces.boxed()).await?;
    let Some(found) = other_kind_of_head(&head, job.format.kind()) else {
        return Ok(body);
    };
    let made = job.convert(state, read(body).await?, found).await?;
    Ok(stream::iter([Ok(made.audio)]).boxed())
}

/// Synthesizes a format that cannot be encoded incrementally.
async fn whole(state: &Arc<State>, job: &Job) -> Result<Body, VoiceError> {
    let made = job.make(state).await?;
    Ok(stream::iter([Ok(made.audio)]).boxed())
}
