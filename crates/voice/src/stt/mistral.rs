//! Mistral's transcription: Voxtral behind `OpenAI`'s form, with fields of its own.
//!
//! <https://docs.mistral.ai/api/endpoint/audio/transcriptions>, read as `docs/models/
//! audiotranscriptionrequest.md` and `transcriptionresponse.md` of Mistral's own Python library, and
//! <https://docs.mistral.ai/capabilities/audio_transcription/offline_transcription>:
//! - `model` (`voxtral-mini-latest`), `file`, `language` ("e.g. 'en'"), `temperature`, `diarize`,
//!   `context_bias` (up to 100 words without commas or spaces; underscores join a phrase's words),
//!   `timestamp_granularities` (`segment`). No `prompt`, no `response_format`. Fields that are lists are
//!   repeated, without brackets.
//! - "`timestamp_granularities` is currently not compatible with `language`, please use either one or the
//!   other": a language that is wanted wins, and there are no times then.
//! - The answer is `{model, text, language, segments[{text, start, end}], usage{prompt_audio_seconds}}`,
//!   where `language` may be null. There are no times of words and no likelihoods.
//! - The key is a Bearer token. Files are wav, mp3, flac, ogg or webm, up to 500 MB
//!   (<https://docs.mistral.ai/resources/known-limitations>, at second hand).

use super::transcriptions::{self, Request};
use super::{Heard, Stt, SttCall, hint, language};
use crate::VoiceError;
use crate::means::Means;
use crate::provider::SttId;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// The model that only transcribes.
const DEFAULT_MODEL: &str = "voxtral-mini-latest";

/// Mistral.
#[derive(Debug)]
pub(super) struct Mistral;

impl Stt for Mistral {
    fn listen<'a>(
        &'a self,
        means: &'a Means,
        call: &'a SttCall,
    ) -> BoxFuture<'a, Result<Heard, VoiceError>> {
        let request = Request {
            provider: SttId::Mistral.as_str(),
            fields: fields(call),
        };
        transcriptions::transcribe(means, call, request).boxed()
    }
}

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
