//! The job for one provider and voice.

use super::Order;
use crate::cache::Name;
use crate::last_use::Setup;
use crate::persona::{Chosen, RequestVoice, apply};
use crate::provider::ProviderSettings;
use crate::text::{pieces, sentence_ends};
use crate::tts::{Parameter, RequestedOutput, TtsCall, TtsId};
use crate::{Voice, VoiceError};
use gatehouse_audio::Format;

/// The shortest first sentence that is spoken on its own.
const LEAST_FIRST_CHARACTERS: usize = 24;

/// The calls to one provider.
pub(in super::super) struct Job {
    pub(in super::super) id: TtsId,
    /// One call per piece of the text.
    pub(in super::super) calls: Vec<TtsCall>,
    /// The cache key, a hash of everything that affects the audio.
    pub(in super::super) key: Name,
    /// Whether the audio is cached. Audio of a fallback provider is not cached.
    pub(in super::super) is_kept: bool,
    /// Request fields that this provider does not support.
    pub(in super::super) ignored: Vec<&'static str>,
    pub(in super::super) format: Format,
    /// A fingerprint of the address, the key and the settings that the provider is used with.
    pub(in super::super) setup: Setup,
}

impl Voice {
    /// Creates the job for this provider. A fallback provider ignores the requested voice and
    /// model.
    pub(in super::super) async fn job(&self, order: &Order, id: TtsId) -> Result<Job, VoiceError> {
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
        // A Wyoming program sends raw samples, unlike the provider's own server.
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
    /// Splits off the first sentence if the provider returns nothing before it has spoken the whole text. The audio can
    /// then begin after the first sentence.
    pub(in super::super) fn begin_early(&mut self) {
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

    /// Returns the only call, if the provider returns the format natively.
    pub(in super::super) fn native(&self) -> Option<&TtsCall> {
        match self.calls.as_slice() {
            [call] if call.want != RequestedOutput::Samples => Some(call),
            _ => None,
        }
    }

    /// Returns a warning for the caller.
    pub(in super::super) fn warning(&self) -> Option<String> {
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

/// Returns the cache key: everything that affects the audio.
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
