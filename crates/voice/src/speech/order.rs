//! Resolves a request: selects the spoken text, the persona and the providers to try.

mod job;

use super::request::{self, SpeechRequest};
use crate::handle::State;
use crate::persona::Persona;
use crate::text::markup::MarkupFilter;
use crate::text::speakable;
use crate::tts::TtsId;
use crate::{Voice, VoiceError};
use gatehouse_audio::Format;
pub(super) use job::Job;
use std::sync::Arc;

/// A validated request.
pub(super) struct Order {
    pub(super) state: Arc<State>,
    pub(super) request: SpeechRequest,
    pub(super) persona: Option<Persona>,
    pub(super) format: Format,
    /// The text to speak.
    pub(super) text: String,
    /// The providers to try, in order: the selected one, then the configured fallbacks.
    pub(super) speakers: Vec<TtsId>,
}

impl Voice {
    /// Validates and resolves a request.
    pub(super) async fn order(&self, request: SpeechRequest) -> Result<Order, VoiceError> {
        let state = self.state();
        let checked = request::check(&request, &state.settings)?;
        let persona = self.persona(request.persona.as_deref()).await?;
        let text = speakable(&unmarked(&request.text));
        if text.trim().is_empty() {
            return Err(VoiceError::invalid(
                "text",
                "contains nothing that can be spoken",
            ));
        }
        let first = self
            .speaker(&state, checked.provider, persona.as_ref())
            .await?;
        let others = state.settings.tts.fallback.iter().copied();
        let speakers = std::iter::once(first).chain(others.filter(|id| *id != first));
        Ok(Order {
            speakers: speakers.collect(),
            format: checked.format,
            persona,
            text,
            request,
            state,
        })
    }

    /// Returns the provider that speaks: the requested one, else the persona's, else the configured
    /// one.
    pub(super) async fn speaker(
        &self,
        state: &State,
        requested: Option<TtsId>,
        persona: Option<&Persona>,
    ) -> Result<TtsId, VoiceError> {
        match requested.or_else(|| persona?.provider) {
            Some(id) => Ok(id),
            None => Ok(self.chosen(state).await.ok_or_else(nobody)?.0),
        }
    }

    /// Returns the persona with this ID. `none` means no persona, and `None` means the active
    /// persona.
    pub(crate) async fn persona(&self, id: Option<&str>) -> Result<Option<Persona>, VoiceError> {
        match id {
            None => self.personas().active().await,
            Some("none") => Ok(None),
            Some(id) => match self.personas().find(id).await? {
                Some(persona) => Ok(Some(persona)),
                None => Err(VoiceError::invalid("persona", "the persona does not exist")),
            },
        }
    }
}

/// Removes answer markers from any text, including texts that no agent wrote.
fn unmarked(text: &str) -> String {
    let mut filter = MarkupFilter::new();
    let mut visible = filter.push(text);
    visible.push_str(&filter.finish().0);
    visible
}

fn nobody() -> VoiceError {
    let hint = "No speech provider is configured. Set a provider's key or model under `voice.tts`.";
    VoiceError::not_configured("voice.tts.provider", hint)
}
