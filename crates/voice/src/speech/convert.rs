//! A text to the whole audio: `tts.convert`.

use super::made::Made;
use super::order::Order;
use super::request::SpeechRequest;
use crate::attempt::{Attempt, Tries};
use crate::cache::Spoken;
use crate::provider::TtsId;
use crate::usage;
use crate::{Voice, VoiceError};
use bytes::Bytes;
use gatehouse_audio::Format;

/// Speech, whole.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The audio.
    pub audio: Bytes,
    /// What it is.
    pub format: Format,
    /// How long it lasts, measured; 0 when it could not be.
    pub duration_ms: u64,
    /// Who spoke.
    pub provider: TtsId,
    /// Whose persona it was.
    pub persona: Option<String>,
    /// Whether it was spoken before and kept.
    pub cached: bool,
    /// Who was asked, in order.
    pub attempts: Vec<Attempt>,
    /// What the caller should know.
    pub warning: Option<String>,
}

impl Voice {
    /// Speaks a text and gives the whole audio. Dropping the future ends what was begun.
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

    /// One speaker says all of it; or it was kept from the last time.
    async fn say(&self, order: &Order, id: TtsId) -> Result<(Made, bool), VoiceError> {
        let job = self.job(order, id).await?;
        let (cache, most) = (&self.0.cache, order.state.settings.cache_max_bytes);
        if let Some(name) = &job.name
            && let Some(spoken) = cache.find(name, most).await
        {
            let made = Made {
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
