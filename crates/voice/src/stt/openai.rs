//! `OpenAI`'s transcription, and servers that are compatible with it.
//!
//! <https://platform.openai.com/docs/api-reference/audio/createTranscription> and the guide
//! <https://platform.openai.com/docs/guides/speech-to-text>:
//! - `model` is `whisper-1`, `gpt-4o-transcribe`, `gpt-4o-mini-transcribe` or one of their dated variants, or
//!   `gpt-4o-transcribe-diarize`. Files are flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, up to 25 MB.
//! - `timestamp_granularities[]` (`word`, `segment`) needs `response_format=verbose_json`, which Whisper
//!   gives and the gpt-4o models refuse: for them "the only supported format is `json`". Words cost time.
//! - `include[]=logprobs` is for `json` and the gpt-4o models; not for the one that tells speakers apart.
//! - That one takes no prompt, gives times as `diarized_json`, and wants `chunking_strategy` for audio of
//!   more than 30 seconds.
//! - `language` is ISO 639-1; `prompt` is a text in the audio's language.
//!
//! The model is `whisper-1` unless another is wanted: it alone gives the times of words. A model that is
//! not known here is asked as Whisper is, for so are the models of compatible servers; one that has
//! `transcribe` in its name, as `OpenAI`'s younger ones have, is asked for plain JSON.

use super::transcriptions::{self, Request};
use super::{Heard, Stt, SttCall, language};
use crate::VoiceError;
use crate::means::Means;
use crate::provider::SttId;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// The model that gives times of words.
const DEFAULT_MODEL: &str = "whisper-1";

/// `OpenAI`, or a server that is compatible with it.
#[derive(Debug)]
pub(super) struct OpenAi;

impl Stt for OpenAi {
    fn listen<'a>(
        &'a self,
        means: &'a Means,
        call: &'a SttCall,
    ) -> BoxFuture<'a, Result<Heard, VoiceError>> {
        let request = Request {
            provider: SttId::OpenAi.as_str(),
            fields: fields(call),
        };
        transcriptions::transcribe(means, call, request).boxed()
    }
}

fn fields(call: &SttCall) -> Vec<(&'static str, String)> {
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

/// The fields that Whisper gives times for. Segments cost nothing; words are left out by those who need
/// no times.
pub(super) fn verbose(words: bool) -> Vec<(&'static str, String)> {
    let mut fields = vec![("response_format", "verbose_json".to_owned())];
    if words {
        fields.push(("timestamp_granularities[]", "word".to_owned()));
    }
    fields.push(("timestamp_granularities[]", "segment".to_owned()));
    fields
}
