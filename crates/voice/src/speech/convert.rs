//! Text to complete audio: `tts.convert`.

use super::complete::CompleteSpeech;
use super::observed::MAX_KEPT_BYTES;
use super::order::{Job, Order};
use super::request::SpeechRequest;
use crate::TtsId;
use crate::attempt::{Attempt, Tries};
use crate::cache::Spoken;
use crate::handle::State;
use crate::usage;
use crate::{Voice, VoiceError};
use bytes::Bytes;
use gatehouse_audio::Format;
use gatehouse_domain::trace;
use std::sync::Arc;

/// Complete speech audio.
#[derive(Clone, Debug)]
pub struct Converted {
    pub audio: Bytes,
    pub format: Format,
    /// The measured duration; 0 if it could not be measured.
    pub duration_ms: u64,
    /// The provider that spoke.
    pub provider: TtsId,
    /// The ID of the persona used.
    pub persona: Option<String>,
    /// Whether the audio comes from the cache or from an identical request.
    pub cached: bool,
    /// The providers tried, in order.
    pub attempts: Vec<Attempt>,
    /// A warning for the caller.
    pub warning: Option<String>,
}

impl Voice {
    /// Synthesizes a text. Dropping the future cancels the work.
    pub async fn convert(&self, request: SpeechRequest) -> Result<Converted, VoiceError> {
        let span = self.begin_request("api.speech");
        let converted = span.run(self.convert_in_span(request)).await;
        span.end(converted)
    }

    async fn convert_in_span(&self, request: SpeechRequest) -> Result<Converted, VoiceError> {
        let order = self.order(request).await?;
        let mut tries = Tries::default();
        for id in &order.speakers {
            match self.say(&order, *id).await {
                Ok((made, cached)) => {
                    tries.attempts.push(Attempt::good(id.as_str()));
                    return Ok(Converted {
                        audio: made.audio,
                        format: order.format,
                        duration_ms: made.duration_ms,
                        provider: *id,
                        persona: order.persona.map(|persona| persona.id),
                        cached,
                        attempts: tries.attempts,
                        warning: made.warning,
                    });
                }
                Err(error) => tries.failed(id.as_str(), error)?,
            }
        }
        Err(tries.over())
    }

    /// Synthesizes with one provider, or returns cached audio. Identical requests wait for the first one. The flag is
    /// true if the provider was not called for this request.
    async fn say(&self, order: &Order, id: TtsId) -> Result<(CompleteSpeech, bool), VoiceError> {
        let job = self.job(order, id).await?;
        let (key, warning) = (job.key.clone(), job.warning());
        let (voice, state) = (self.clone(), Arc::clone(&order.state));
        let characters = order.text.chars().count();
        let making = async move { voice.find_or_make(&state, &job, characters).await };
        // The work belongs to the span of the first caller, even if another caller polls it.
        let making = trace::within(trace::current(), making);
        let (made, joined) = self.0.flights.join(key, making).await;
        let made = made?;
        let warning = match (&made.warning, warning) {
            (Some(one), Some(other)) => Some(format!("{one} {other}")),
            (one, other) => one.clone().or(other),
        };
        let is_cached = joined || made.is_cached;
        Ok((CompleteSpeech { warning, ..made }, is_cached))
    }

    async fn find_or_make(
        &self,
        state: &Arc<State>,
        job: &Job,
        characters: usize,
    ) -> Result<CompleteSpeech, VoiceError> {
        let most = state.settings.cache_max_bytes;
        // The running streams must be searched before the cache, because a stream is cached before it ends. In the
        // reverse order, a stream that ends between both searches would not be found.
        if let Some(streamed) = self.find_streamed(state, job).await {
            let made = streamed?;
            if made.audio.len() > MAX_KEPT_BYTES {
                self.keep(job, &made, most).await;
            }
            return Ok(made);
        }
        if job.is_kept
            && let Some(spoken) = self.0.cache.find(&job.key, most).await
        {
            return Ok(CompleteSpeech {
                audio: spoken.audio,
                duration_ms: spoken.duration_ms,
                warning: None,
                is_sound: true,
                is_cached: true,
            });
        }
        let id = job.id;
        let counting = usage::begin_speech(id, &state.resources, job.setup);
        let made = counting.of(job.make(state).await)?;
        usage::characters(id, characters);
        usage::spoken_for(id, made.duration_ms);
        self.keep(job, &made, most).await;
        Ok(made)
    }

    /// Caches the audio, unless it is of a fallback provider or cannot be parsed.
    async fn keep(&self, job: &Job, made: &CompleteSpeech, most: u64) {
        if !job.is_kept || !made.is_sound {
            return;
        }
        let spoken = Spoken {
            audio: made.audio.clone(),
            duration_ms: made.duration_ms,
        };
        self.0.cache.keep(&job.key, spoken, most).await;
    }
}
