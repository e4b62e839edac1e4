//! Groq's transcription: Whisper behind an `OpenAI`-compatible API.
//!
//! Sources: <https://console.groq.com/docs/speech-to-text> and <https://console.groq.com/docs/api-reference>:
//! `POST https://api.groq.com/openai/v1/audio/transcriptions`; models `whisper-large-v3-turbo` and
//! `whisper-large-v3`; files flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, 25 MB on the free tier;
//! `language` ISO 639-1; `prompt` up to 224 tokens; `response_format` json, `verbose_json` or text;
//! `timestamp_granularities[]` word and segment with `verbose_json`. Segments have `avg_logprob`.

use super::transcriptions::{self, Request};
use super::{Heard, Stt, SttCall, language, openai};
use crate::VoiceError;
use crate::means::Means;
use crate::provider::SttId;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// The fast model, for all languages.
const DEFAULT_MODEL: &str = "whisper-large-v3-turbo";

#[derive(Debug)]
pub(super) struct Groq;

impl Stt for Groq {
    fn listen<'a>(
        &'a self,
        means: &'a Means,
        call: &'a SttCall,
    ) -> BoxFuture<'a, Result<Heard, VoiceError>> {
        let model = call.model.as_deref().unwrap_or(DEFAULT_MODEL);
        let mut fields = vec![("model", model.to_owned())];
        if let Some(language) = language::wanted(call.language.as_deref()) {
            fields.push(("language", language));
        }
        if let Some(prompt) = &call.prompt {
            fields.push(("prompt", prompt.clone()));
        }
        fields.extend(openai::verbose(call.timestamps));
        let request = Request {
            provider: SttId::Groq.as_str(),
            fields,
        };
        transcriptions::transcribe(means, call, request).boxed()
    }
}
