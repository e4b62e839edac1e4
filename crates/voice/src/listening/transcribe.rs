//! Audio to text: `stt.transcribe`.

use super::request::{self, TranscribeRequest};
use crate::handle::State;
use crate::provider::SttId;
use crate::stt::{self, Heard, Segment, SttCall, Word};
use crate::{Voice, VoiceError};
use schemars::JsonSchema;
use serde::Serialize;

/// What was heard.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// The text.
    pub text: String,
    /// The language that was heard, else the one that was asked for, else `und`.
    pub language: String,
    /// How sure the provider is, 0 to 1.
    pub confidence: Option<f64>,
    /// How long the audio lasts; 0 when that could not be measured.
    pub duration_seconds: f64,
    /// Each word, where the provider gives times.
    pub words: Vec<Word>,
    /// Each sentence or so, where the provider gives times.
    pub segments: Vec<Segment>,
    /// Who listened.
    pub provider: SttId,
}

impl Voice {
    /// Understands audio.
    pub async fn transcribe(&self, request: TranscribeRequest) -> Result<Transcript, VoiceError> {
        let state = self.state();
        let checked = request::check(&request, &state.settings.stt, None)?;
        let provider = match checked.provider {
            Some(id) => id,
            None => self.chosen_stt(&state).await.ok_or_else(nobody)?.0,
        };
        self.listen(&state, provider, &request, &checked).await
    }

    async fn listen(
        &self,
        state: &State,
        id: SttId,
        request: &TranscribeRequest,
        checked: &request::Checked,
    ) -> Result<Transcript, VoiceError> {
        let place = self.stt_place(state, id).await?;
        let settings = state
            .settings
            .stt
            .providers
            .get(&id)
            .cloned()
            .unwrap_or_default();
        let call = SttCall {
            audio: request.audio.clone(),
            kind: checked.kind,
            declared: request.format.clone(),
            language: request
                .language
                .clone()
                .or_else(|| settings.language.clone()),
            prompt: request.prompt.clone(),
            timestamps: request.timestamps,
            model: request.model.clone().or_else(|| settings.model.clone()),
            base_url: place.base_url,
            key: place.key,
            settings,
        };
        let heard = stt::provider(id).listen(&state.means, &call).await?;
        Ok(transcript(id, heard, request))
    }
}

fn transcript(id: SttId, heard: Heard, request: &TranscribeRequest) -> Transcript {
    let language = heard.language.or_else(|| request.language.clone());
    Transcript {
        text: heard.text,
        language: language.unwrap_or_else(|| "und".to_owned()),
        confidence: heard.confidence,
        duration_seconds: heard.duration_seconds.unwrap_or_default(),
        words: heard.words,
        segments: heard.segments,
        provider: id,
    }
}

fn nobody() -> VoiceError {
    let hint = "Nobody can listen yet: set a provider's key or model below `voice.stt`.";
    VoiceError::not_configured("voice.stt.provider", hint)
}
