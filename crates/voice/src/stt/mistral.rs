//! Mistral's transcription: Voxtral behind an API like `OpenAI`'s with some different fields.
//!
//! Sources: <https://docs.mistral.ai/api/endpoint/audio/transcriptions> (as
//! `docs/models/audiotranscriptionrequest.md` and `transcriptionresponse.md` in Mistral's Python library),
//! and <https://docs.mistral.ai/capabilities/audio_transcription/offline_transcription>:
//! - `model` (`voxtral-mini-latest`), `file`, `language` ("e.g. 'en'"), `temperature`, `diarize`,
//!   `context_bias` (up to 100 words without commas or spaces; underscores join the words of a phrase),
//!   `timestamp_granularities` (`segment`). No `prompt`, no `response_format`. List fields are repeated,
//!   without brackets.
//! - "`timestamp_granularities` is currently not compatible with `language`, please use either one or the
//!   other": a requested language takes precedence, and then there are no timestamps.
//! - The response is `{model, text, language, segments[{text, start, end}], usage{prompt_audio_seconds}}`,
//!   where `language` may be null. There are no word timestamps and no likelihoods.
//! - The key is a Bearer token. Files are wav, mp3, flac, ogg or webm, up to 500 MB
//!   (<https://docs.mistral.ai/resources/known-limitations>, from a secondary source).

use super::{SttCall, SttProvider, hint, language, transcriptions, usual};
use crate::provider::{About, BASE_URL, LANGUAGE, MODEL, hosted};
use futures_util::FutureExt;
use gatehouse_audio::Kind;

/// The default model, which supports only transcription.
const DEFAULT_MODEL: &str = "voxtral-mini-latest";

const ID: &str = "stt_cloud_5";

pub(super) static PROVIDER: SttProvider = SttProvider {
    about: About {
        id: ID,
        alias: "mistral",
        label: "Mistral",
        about: "Hosted. Needs a Mistral API key.",
        service: hosted("https://api.mistral.ai/v1"),
        settings: &[MODEL, LANGUAGE, BASE_URL],
    },
    // Mistral's documentation does not list MPEG-4.
    accepts: |kind| usual(kind) && !matches!(kind, Kind::M4a),
    max_bytes: 500_000_000,
    takes_hints: true,
    translator: None,
    streaming: None,
    listen: |resources, call| transcriptions::transcribe(resources, call, ID, fields(call)).boxed(),
};

fn fields(call: &SttCall) -> Vec<(&'static str, String)> {
    let model = call.model.as_deref().unwrap_or(DEFAULT_MODEL);
    let mut fields = vec![("model", model.to_owned())];
    match language::wanted(call.language.as_deref()) {
        Some(language) => fields.push(("language", language)),
        None if call.timestamps => {
            fields.push(("timestamp_granularities", "segment".to_owned()));
        }
        None => (),
    }
    for term in hint::terms(call.prompt.as_deref()) {
        let words: Vec<&str> = term.split_whitespace().collect();
        fields.push(("context_bias", words.join("_")));
    }
    fields
}
