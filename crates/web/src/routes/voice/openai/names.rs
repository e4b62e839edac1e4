//! Interprets `model` and `voice` in requests. Pure.

use gatehouse_voice::{OPENAI_VOICES, ProviderId, SttId, TtsId};

/// `OpenAI`'s speech synthesis models, as listed.
pub(in crate::routes) const SPEAKERS: [&str; 3] = ["tts-1", "tts-1-hd", "gpt-4o-mini-tts"];
/// `OpenAI`'s transcription models, as listed.
pub(in crate::routes) const LISTENERS: [&str; 3] =
    ["whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"];

/// The meaning of `model`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named<Id> {
    /// The provider. `None` means the configured one.
    pub(super) provider: Option<Id>,
    /// A model of that provider.
    pub(super) model: Option<String>,
    /// Whether the model is one of `OpenAI`'s. Other providers ignore such a model.
    pub(super) is_openai: bool,
}

/// Parses a provider's ID or alias, `provider/model`, one of `OpenAI`'s models, or a model of the
/// configured provider.
fn read<Id>(
    model: Option<&str>,
    find: fn(&str) -> Option<Id>,
    is_openai: fn(&str) -> bool,
) -> Named<Id> {
    let model = model.map(str::trim).filter(|model| !model.is_empty());
    let Some(model) = model else {
        return Named {
            provider: None,
            model: None,
            is_openai: false,
        };
    };
    if let Some(id) = find(model) {
        return Named {
            provider: Some(id),
            model: None,
            is_openai: false,
        };
    }
    let parts = model.split_once('/');
    if let Some((id, rest)) = parts.and_then(|(id, rest)| Some((find(id)?, rest))) {
        return Named {
            provider: Some(id),
            model: Some(rest.to_owned()).filter(|rest| !rest.is_empty()),
            is_openai: false,
        };
    }
    Named {
        provider: None,
        model: Some(model.to_owned()),
        is_openai: is_openai(model),
    }
}

/// Interprets `model` in a speech synthesis request.
pub(super) fn speaker(model: Option<&str>) -> Named<TtsId> {
    // Some names have a date suffix.
    read(model, TtsId::find, |model| {
        model.starts_with("tts-1") || (model.starts_with("gpt-") && model.contains("-tts"))
    })
}

/// Interprets `model` in a transcription request.
pub(super) fn listener(model: Option<&str>) -> Named<SttId> {
    read(model, SttId::find, |model| {
        model.starts_with("whisper-1")
            || (model.starts_with("gpt-") && model.contains("-transcribe"))
    })
}

/// Returns whether the voice is one of `OpenAI`'s. Other providers ignore such a voice.
pub(super) fn is_openai_voice(voice: &str) -> bool {
    OPENAI_VOICES.contains(&voice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(named: Named<TtsId>) -> (Option<&'static str>, Option<String>, bool) {
        (
            named.provider.map(TtsId::as_str),
            named.model,
            named.is_openai,
        )
    }

    #[test]
    fn a_model_names_a_provider_or_a_model_or_both() {
        let text = |text: &str| Some(text.to_owned());
        for (model, expected) in [
            ("piper", (Some("tts_local_1"), None, false)),
            ("tts_local_1", (Some("tts_local_1"), None, false)),
            (
                "elevenlabs/eleven_v3",
                (Some("tts_cloud_1"), text("eleven_v3"), false),
            ),
            ("openai/tts-1", (Some("tts_cloud_2"), text("tts-1"), false)),
            ("piper/", (Some("tts_local_1"), None, false)),
            ("tts-1", (None, text("tts-1"), true)),
            ("tts-1-hd-1106", (None, text("tts-1-hd-1106"), true)),
            (
                "gpt-4o-mini-tts-2025-12-15",
                (None, text("gpt-4o-mini-tts-2025-12-15"), true),
            ),
            (
                "hexgrad/Kokoro-82M",
                (None, text("hexgrad/Kokoro-82M"), false),
            ),
            ("gpt-4o", (None, text("gpt-4o"), false)),
            (" ", (None, None, false)),
        ] {
            assert_eq!(said(speaker(Some(model))), expected, "{model}");
        }
        assert_eq!(said(speaker(None)), (None, None, false));
    }

    #[test]
    fn who_listens_has_names_of_its_own() {
        let named = listener(Some("whisper-1"));
        assert_eq!((named.provider, named.is_openai), (None, true));
        assert_eq!(listener(Some("whisper")).provider, Some(SttId::OpenAi));
        let named = listener(Some("groq/whisper-large-v3"));
        assert_eq!(named.provider, Some(SttId::Groq));
        assert_eq!(named.model.as_deref(), Some("whisper-large-v3"));
        assert!(listener(Some("gpt-4o-transcribe-diarize")).is_openai);
        assert!(!listener(Some("tts-1")).is_openai);
        for model in LISTENERS {
            assert!(listener(Some(model)).is_openai, "{model}");
        }
        for model in SPEAKERS {
            assert!(speaker(Some(model)).is_openai, "{model}");
        }
    }
}
