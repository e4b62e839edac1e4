//! `OpenAI`'s transcription, and compatible servers.
//!
//! Sources: <https://platform.openai.com/docs/api-reference/audio/createTranscription> and the guide
//! <https://platform.openai.com/docs/guides/speech-to-text>:
//! - `model` is `whisper-1`, `gpt-4o-transcribe`, `gpt-4o-mini-transcribe` or a dated variant of these, or
//!   `gpt-4o-transcribe-diarize`. Files are flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, up to 25 MB.
//! - `timestamp_granularities[]` (`word`, `segment`) needs `response_format=verbose_json`. Whisper supports this
//!   format. The gpt-4o models reject it: for them "the only supported format is `json`". Word timestamps add latency.
//! - `include[]=logprobs` requires `json` and a gpt-4o model other than the diarizing one.
//! - The diarizing model accepts no prompt, returns timestamps as `diarized_json`, and requires `chunking_strategy` for
//!   audio longer than 30 seconds.
//! - `stream=true` returns server-sent events: `transcript.text.delta` with `delta`, and `transcript.text.done` with
//!   `text` and `usage` (`TranscriptTextDeltaEvent` and `TranscriptTextDoneEvent` in the vendor's OpenAPI document).
//!   Streaming "is not supported for the `whisper-1` model and will be ignored".
//! - `POST audio/translations` (<https://platform.openai.com/docs/api-reference/audio/createTranslation>) takes
//!   `prompt` in English, `response_format` and no language; "only `whisper-1` is currently available".
//! - `language` is ISO 639-1; `prompt` is a text in the language of the audio.
//!
//! The default model is `whisper-1`, the only one with word timestamps. Unknown models are called like Whisper, because
//! compatible servers work that way. Plain JSON is requested from models with `transcribe` in their name, such as
//! `OpenAI`'s newer models.

use super::{MIB, Streaming, SttCall, SttProvider, Translator, language, transcriptions, usual};
use crate::provider::{About, BASE_URL, LANGUAGE, MODEL, OPENAI};
use futures_util::FutureExt;

/// The model with word timestamps.
const DEFAULT_MODEL: &str = "whisper-1";

const ID: &str = "stt_cloud_1";

pub(super) static PROVIDER: SttProvider = SttProvider {
    about: About {
        id: ID,
        alias: "whisper",
        label: "OpenAI",
        about: "Hosted, or any compatible server. Uses its own API key or that of the model provider OpenAI.",
        service: OPENAI,
        settings: &[MODEL, LANGUAGE, BASE_URL],
    },
    accepts: usual,
    max_bytes: 25 * MIB,
    takes_hints: true,
    translator: Some(Translator {
        model: Some(DEFAULT_MODEL),
        lacks: |model| model.contains("transcribe"),
    }),
    streaming: Some(Streaming {
        can: |model, _url| does_stream(model),
        begin: |resources, call| {
            transcriptions::stream(resources, call, ID, streamed(call)).boxed()
        },
    }),
    listen: |resources, call| transcriptions::transcribe(resources, call, ID, fields(call)).boxed(),
};

fn fields(call: &SttCall) -> Vec<(&'static str, String)> {
    if call.translate {
        return translation(call);
    }
    let model = call.model.as_deref().unwrap_or(DEFAULT_MODEL);
    let mut fields = vec![("model", model.to_owned())];
    if let Some(language) = language::wanted(call.language.as_deref()) {
        fields.push(("language", language));
    }
    let tells_speakers = model.contains("diarize");
    if let Some(prompt) = call.prompt.clone().filter(|_| !tells_speakers) {
        fields.push(("prompt", prompt));
    }
    if tells_speakers {
        fields.push(("response_format", "diarized_json".to_owned()));
        fields.push(("chunking_strategy", "auto".to_owned()));
    } else if model.contains("transcribe") {
        fields.push(("response_format", "json".to_owned()));
        if model.starts_with("gpt-4o") {
            fields.push(("include[]", "logprobs".to_owned()));
        }
    } else {
        fields.extend(verbose(call.timestamps));
    }
    fields
}

/// Returns the fields of a translation to English.
pub(super) fn translation(call: &SttCall) -> Vec<(&'static str, String)> {
    let model = call.model.as_deref().unwrap_or(DEFAULT_MODEL);
    let mut fields = vec![("model", model.to_owned())];
    if let Some(prompt) = &call.prompt {
        fields.push(("prompt", prompt.clone()));
    }
    fields.push(("response_format", "verbose_json".to_owned()));
    fields
}

/// Returns whether the model streams text. The diarizing model is excluded, because its events are speaker segments.
fn does_stream(model: Option<&str>) -> bool {
    let model = model.unwrap_or(DEFAULT_MODEL);
    model.starts_with("gpt-") && model.contains("transcribe") && !model.contains("diarize")
}

/// Returns the fields of a streamed transcription. Omits `include[]`, because every event would contain the
/// probabilities.
fn streamed(call: &SttCall) -> Vec<(&'static str, String)> {
    let mut fields = fields(call);
    fields.retain(|(name, _)| *name != "include[]");
    fields.push(("stream", "true".to_owned()));
    fields
}

/// Returns the fields that request timestamps from Whisper. Segments are free. Words are requested only if needed.
pub(super) fn verbose(words: bool) -> Vec<(&'static str, String)> {
    let mut fields = vec![("response_format", "verbose_json".to_owned())];
    if words {
        fields.push(("timestamp_granularities[]", "word".to_owned()));
    }
    fields.push(("timestamp_granularities[]", "segment".to_owned()));
    fields
}
