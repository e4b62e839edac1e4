//! A text to the whole audio: `tts.convert`.

use super::request::{self, SpeechRequest};
use crate::provider::TtsId;
use crate::{Voice, VoiceError};
use bytes::Bytes;
use gatehouse_audio::Format;
use gatehouse_domain::Problem;
use schemars::JsonSchema;
use serde::Serialize;

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

/// That a provider was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Attempt {
    /// Its id.
    pub provider: TtsId,
    /// Whether it spoke.
    pub ok: bool,
    /// Why it did not: the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// Why it did not: a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Attempt {
    pub(crate) const fn good(provider: TtsId) -> Self {
        Self {
            provider,
            ok: true,
            code: None,
            message: None,
        }
    }

    pub(crate) fn failed(provider: TtsId, problem: &Problem) -> Self {
        Self {
            provider,
            ok: false,
            code: Some(problem.code.name()),
            message: Some(problem.message.clone()),
        }
    }
}

impl Voice {
    /// Speaks a text and gives the whole audio.
    pub async fn convert(&self, request: SpeechRequest) -> Result<Converted, VoiceError> {
        let state = self.state();
        let checked = request::check(&request, &state.settings.tts)?;
        let provider = match checked.provider {
            Some(id) => id,
            None => self.chosen_tts(&state).await.ok_or_else(nobody)?.0,
        };
        self.attempt(&state, provider, &request, checked.format)
            .await
    }
}

pub(crate) fn nobody() -> VoiceError {
    let hint = "Nobody can speak yet: set a provider's key or model below `voice.tts`.";
    VoiceError::not_configured("voice.tts.provider", hint)
}
