//! One provider asked for one text.

use super::convert::{Attempt, Converted};
use super::request::SpeechRequest;
use crate::handle::State;
use crate::provider::TtsId;
use crate::tts::{self, Speech, TtsCall, Want};
use crate::{Voice, VoiceError};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use gatehouse_audio::Format;

impl Voice {
    pub(super) async fn attempt(
        &self,
        state: &State,
        id: TtsId,
        request: &SpeechRequest,
        format: Format,
    ) -> Result<Converted, VoiceError> {
        let place = self.tts_place(state, id).await?;
        let settings = state
            .settings
            .tts
            .providers
            .get(&id)
            .cloned()
            .unwrap_or_default();
        let call = TtsCall {
            text: request.text.clone(),
            want: Want::Native(format),
            base_url: place.base_url,
            key: place.key,
            voice: request.voice.clone().or_else(|| settings.voice.clone()),
            model: request.model.clone().or_else(|| settings.model.clone()),
            speed: request.speed.or(settings.speed),
            stability: request.stability.or(settings.stability),
            similarity_boost: request.similarity_boost.or(settings.similarity_boost),
            pitch: None,
            instructions: request.instructions.clone(),
            settings,
        };
        let speech = tts::provider(id).speak(&state.means, &call).await?;
        let audio = whole(id, speech).await?;
        Ok(Converted {
            audio,
            format,
            duration_ms: 0,
            provider: id,
            persona: None,
            cached: false,
            attempts: vec![Attempt::good(id)],
            warning: None,
        })
    }
}

/// All bytes of a speech; none is a failure.
pub(super) async fn whole(id: TtsId, mut speech: Speech) -> Result<Bytes, VoiceError> {
    let mut audio = BytesMut::new();
    while let Some(piece) = speech.body.next().await {
        audio.extend_from_slice(&piece?);
    }
    if audio.is_empty() {
        return Err(VoiceError::failed(id.as_str(), "gave no audio", true));
    }
    Ok(audio.freeze())
}
