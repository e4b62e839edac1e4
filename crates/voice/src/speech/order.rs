//! Resolves a request: which text is spoken, with which persona, and which providers are tried.

use super::request::{self, SpeechRequest};
use crate::cache::Name;
use crate::handle::State;
use crate::last_use::Setup;
use crate::persona::{Chosen, Persona, RequestVoice, apply};
use crate::provider::ProviderSettings;
use crate::text::markup::MarkupFilter;
use crate::text::{pieces, sentence_ends, speakable};
use crate::tts::{Parameter, RequestedOutput, TtsCall, TtsId};
use crate::{Voice, VoiceError};
use gatehouse_audio::Format;
use std::sync::Arc;

/// The shortest first sentence that is spoken on its own.
const LEAST_FIRST_CHARACTERS: usize = 24;

/// A validated request.
pub(super) struct Order {
    pub(super) state: Arc<State>,
    pub(super) request: SpeechRequest,
    pub(super) persona: Option<Persona>,
    pub(super) format: Format,
    /// The text to speak.
    pub(super) text: String,
    /// The providers to try, in order: the chosen one, then the configured fallbacks.
    pub(super) speakers: Vec<TtsId>,
}

/// The calls to one provider.
pub(super) struct Job {
    pub(super) id: TtsId,
    /// One call per piece of the text.
    pub(super) calls: Vec<TtsCall>,
    /// Names everything that affects the audio.
    pub(super) key: Name,
    /// Whether the audio is cached. Audio of a fallback provider is not.
    pub(super) is_kept: bool,
    /// Request fields that this provider does not support.
    pub(super) ignored: Vec<&'static str>,
    pub(super) format: Format,
    /// A fingerprint of the address, the key and the settings that the provider is used with.
    pub(super) setup: Setup,
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

    /// The provider that speaks: the requested one, else the persona's, else the configured one.
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

    /// The persona with this ID, no persona for `none`, and the active persona for `None`.
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

    /// The job for this provider. A fallback provider ignores the requested voice and model.
    pub(super) async fn job(&self, order: &Order, id: TtsId) -> Result<Job, VoiceError> {
        let is_first = order.speakers.first() == Some(&id);
        let state = &order.state;
        let settings = state.settings.tts.providers.get(&id).cloned();
        let settings = settings.unwrap_or_default();
        let provider = id.provider();
        let asked = &order.request;
        let request = RequestVoice {
            voice: asked.voice.clone().filter(|_| is_first),
            model: asked.model.clone().filter(|_| is_first),
            speed: asked.speed,
            stability: asked.stability,
            similarity_boost: asked.similarity_boost,
        };
        let mut chosen = apply(order.persona.as_ref(), id, &request, &settings)?;
        for (member, is_dropped) in [
            ("voiceId", asked.voice.is_some() && !is_first),
            ("model", asked.model.is_some() && !is_first),
        ] {
            if is_dropped {
                chosen.ignored.push(member);
            }
        }
        if asked.speed.is_some() && provider.speed.is_some() && chosen.speed != asked.speed {
            chosen.ignored.push("speed");
        }
        if let Some(instructions) = &asked.instructions {
            if provider.takes(Parameter::Instructions) {
                chosen.instructions = Some(instructions.clone());
            } else {
                chosen.ignored.push("instructions");
            }
        }
        let endpoint = self.endpoint(state, id).await?;
        self.note_use(&endpoint);
        let texts = pieces(&order.text, provider.max_characters, provider.max_bytes);
        // A Wyoming program sends raw samples, whatever the provider's own server produces.
        let is_native = texts.len() == 1
            && endpoint.wyoming().is_none()
            && provider.native.contains(&order.format);
        let first = call(&chosen, settings, is_native.then_some(order.format));
        let first = TtsCall {
            base_url: endpoint.base_url,
            key: endpoint.key,
            is_voice_requested: request.voice.is_some(),
            ..first
        };
        let setup = Setup::of(first.base_url.as_ref(), first.key.as_ref(), &first.settings);
        let stamp = stamp(&first.settings).await;
        let key = name(order, id, &first, &stamp);
        chosen.ignored.extend((provider.ignores)(&first));
        let calls = texts.into_iter().map(|text| TtsCall {
            text,
            ..first.clone()
        });
        Ok(Job {
            id,
            calls: calls.collect(),
            key,
            is_kept: is_first,
            ignored: chosen.ignored,
            format: order.format,
            setup,
        })
    }
}

impl Job {
    /// Splits the first sentence off if the provider returns nothing before it has spoken the whole text. The
    /// audio can then begin after the first sentence.
    pub(super) fn begin_early(&mut self) {
        if self.id.provider().streams || self.format == Format::Aac {
            return;
        }
        let Some(first) = self.calls.first() else {
            return;
        };
        let is_long = |at: &usize| {
            let before = first.text.get(..*at).unwrap_or_default();
            before.chars().nth(LEAST_FIRST_CHARACTERS - 1).is_some()
        };
        let Some(at) = sentence_ends(&first.text).into_iter().find(is_long) else {
            return;
        };
        let mut rest = first.clone();
        let mut first = first.clone();
        rest.text = first.text.split_off(at);
        for call in [&mut first, &mut rest] {
            // Only samples can be joined.
            call.want = RequestedOutput::Samples;
        }
        drop(self.calls.splice(..1, [first, rest]));
    }

    /// The only call, if the provider returns the format natively.
    pub(super) fn native(&self) -> Option<&TtsCall> {
        match self.calls.as_slice() {
            [call] if call.want != RequestedOutput::Samples => Some(call),
            _ => None,
        }
    }

    /// A warning for the caller.
    pub(super) fn warning(&self) -> Option<String> {
        if self.ignored.is_empty() {
            return None;
        }
        let fields = self.ignored.join(", ");
        Some(format!("{} does not apply {fields} as requested.", self.id))
    }
}

fn call(chosen: &Chosen, settings: ProviderSettings, native: Option<Format>) -> TtsCall {
    TtsCall {
        text: String::new(),
        want: native.map_or(RequestedOutput::Samples, RequestedOutput::Native),
        base_url: None,
        key: None,
        voice: chosen.voice.clone(),
        is_voice_requested: false,
        model: chosen.model.clone(),
        speed: chosen.speed,
        stability: chosen.stability,
        similarity_boost: chosen.similarity_boost,
        pitch: chosen.pitch,
        instructions: chosen.instructions.clone(),
        settings,
    }
}

/// Removes answer markers, whatever the source of the text.
fn unmarked(text: &str) -> String {
    let mut filter = MarkupFilter::new();
    let mut visible = filter.push(text);
    visible.push_str(&filter.finish().0);
    visible
}

/// Distinguishes versions of a program's model at the same path.
async fn stamp(settings: &ProviderSettings) -> String {
    let Some(path) = &settings.model_path else {
        return String::new();
    };
    match tokio::fs::metadata(path).await {
        Ok(about) => format!("{} {:?}", about.len(), about.modified().ok()),
        Err(_) => String::new(),
    }
}

/// The cache key: everything that affects the audio.
fn name(order: &Order, id: TtsId, call: &TtsCall, stamp: &str) -> Name {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let settings = &call.settings;
    let path = |path: &Option<std::path::PathBuf>| {
        let path = path.as_ref();
        path.map(|path| path.display().to_string())
            .unwrap_or_default()
    };
    let url = call.base_url.as_ref().map_or("", url::Url::as_str);
    Name::of(
        order.format,
        &[
            id.as_str(),
            url,
            call.voice.as_deref().unwrap_or_default(),
            call.model.as_deref().unwrap_or_default(),
            &number(call.speed),
            &number(call.stability),
            &number(call.similarity_boost),
            &number(call.pitch),
            call.instructions.as_deref().unwrap_or_default(),
            settings.language.as_deref().unwrap_or_default(),
            &path(&settings.model_path),
            stamp,
            &path(&settings.config_path),
            &settings
                .speaker_id
                .map(|id| id.to_string())
                .unwrap_or_default(),
            &number(settings.length_scale),
            &order.text,
        ],
    )
}

fn nobody() -> VoiceError {
    let hint = "No speech provider is configured. Set a provider's key or model under `voice.tts`.";
    VoiceError::not_configured("voice.tts.provider", hint)
}
