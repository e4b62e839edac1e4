//! Groq's transcription: Whisper behind an `OpenAI`-compatible API.
//!
//! Sources: <https://console.groq.com/docs/speech-to-text> and <https://console.groq.com/docs/api-reference>:
//! `POST https://api.groq.com/openai/v1/audio/transcriptions`; models `whisper-large-v3-turbo` and
//! `whisper-large-v3`; files flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, 25 MB on the free tier;
//! `language` ISO 639-1; `prompt` up to 224 tokens; `response_format` json, `verbose_json` or text;
//! `timestamp_granularities[]` word and segment with `verbose_json`. Segments have `avg_logprob`.
//! `POST audio/translations` takes the same file, `prompt` and formats; only `whisper-large-v3` translates.

use super::{MIB, SttCall, SttProvider, Translator, language, openai, transcriptions, usual};
use crate::provider::{About, BASE_URL, LANGUAGE, MODEL, hosted};
use futures_util::FutureExt;

/// The fast model, for all languages.
const DEFAULT_MODEL: &str = "whisper-large-v3-turbo";

const ID: &str = "stt_cloud_2";

pub(super) static PROVIDER: SttProvider = SttProvider {
    about: About {
        id: ID,
        alias: "groq",
        label: "Groq",
        about: "Hosted. Needs a Groq API key.",
        service: hosted("https://api.groq.com/openai/v1"),
        settings: &[MODEL, LANGUAGE, BASE_URL],
    },
    accepts: usual,
    max_bytes: 25 * MIB,
    takes_hints: true,
    translator: Some(Translator {
        model: Some("whisper-large-v3"),
        lacks: |model| model.ends_with("turbo") || model.starts_with("distil"),
    }),
    streaming: None,
    listen: |resources, call| transcriptions::transcribe(resources, call, ID, fields(call)).boxed(),
};

fn fields(call: &SttCall) -> Vec<(&'static str, String)> {
    if call.translate {
        return openai::translation(call);
    }
    let model = call.model.as_deref().unwrap_or(DEFAULT_MODEL);
    let mut fields = vec![("model", model.to_owned())];
    if let Some(language) = language::wanted(call.language.as_deref()) {
        fields.push(("language", language));
    }
    if let Some(prompt) = &call.prompt {
        fields.push(("prompt", prompt.clone()));
    }
    fields.extend(openai::verbose(call.timestamps));
    fields
}
