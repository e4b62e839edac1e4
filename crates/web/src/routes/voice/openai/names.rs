//! What a client means by `model` and `voice`. Pure.

use gatehouse_voice::{SttId, TtsId};

/// `OpenAI`'s models that speak, the ones that are listed.
pub(super) const SPEAKERS: [&str; 3] = ["tts-1", "tts-1-hd", "gpt-4o-mini-tts"];
/// `OpenAI`'s models that listen.
pub(super) const LISTENERS: [&str; 3] =
    ["whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"];

/// `OpenAI`'s voices.
const VOICES: [&str; 13] = [
    "alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage",
    "shimmer", "verse",
];

/// What `model` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named<Id> {
    /// A provider here; the chosen one when absent.
    pub(super) provider: Option<Id>,
    /// A model of that provider's.
    pub(super) model: Option<String>,
    /// The model is one of `OpenAI`'s: it says nothing to others.
    pub(super) is_openai: bool,
}

/// A provider's id or alias, `provider/model`, a model of `OpenAI`'s, or one of the chosen provider's.
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

/// What `model` means where somebody is to speak.
pub(super) fn speaker(model: Option<&str>) -> Named<TtsId> {
    // Some have a date behind them.
    read(model, TtsId::find, |model| {
        model.starts_with("tts-1") || (model.starts_with("gpt-") && model.contains("-tts"))
    })
}

/// The same where somebody is to listen.
pub(super) fn listener(model: Option<&str>) -> Named<SttId> {
    read(model, SttId::find, |model| {
        model.starts_with("whisper-1")
            || (model.starts_with("gpt-") && model.contains("-transcribe"))
    })
}

/// Whether the voice is one of `OpenAI`'s: it says nothing to others.
pub(super) fn is_openai_voice(voice: &str) -> bool {
    VOICES.contains(&voice)
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
