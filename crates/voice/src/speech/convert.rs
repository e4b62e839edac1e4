//! Text to complete audio: `tts.convert`.

use super::complete::CompleteAudio;
use super::order::Order;
use super::request::SpeechRequest;
use crate::TtsId;
use crate::attempt::{Attempt, Tries};
use crate::cache::Spoken;
use crate::usage;
use crate::{Voice, VoiceError};
use bytes::Bytes;
use gatehouse_audio::Format;

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
    /// Whether the audio came from the cache.
    pub cached: bool,
    /// The providers tried, in order.
    pub attempts: Vec<Attempt>,
    /// A warning for the caller.
    pub warning: Option<String>,
}

impl Voice {
    /// Synthesizes a text. Dropping the future cancels the work.
    pub async fn convert(&self, request: SpeechRequest) -> Result<Converted, VoiceError> {
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

    /// Synthesizes with one provider, or returns cached audio.
    async fn say(&self, order: &Order, id: TtsId) -> Result<(CompleteAudio, bool), VoiceError> {
        let job = self.job(order, id).await?;
        let (cache, most) = (&self.0.cache, order.state.settings.cache_max_bytes);
        if let Some(name) = &job.name
            && let Some(spoken) = cache.find(name, most).await
        {
            let made = CompleteAudio {
                audio: spoken.audio,
                duration_ms: spoken.duration_ms,
                warning: job.warning(),
                is_sound: true,
            };
            return Ok((made, true));
        }
        let counting = usage::begin("tts", id.as_str());
        let made = counting.of(job.make(&order.state).await)?;
        usage::characters(id, order.text.chars().count());
        usage::spoken_for(id, made.duration_ms);
        if let (Some(name), true) = (&job.name, made.is_sound) {
            let spoken = Spoken {
                audio: made.audio.clone(),
                duration_ms: made.duration_ms,
            };
            cache.keep(name, spoken, most).await;
        }
        Ok((made, false))
    }
}
