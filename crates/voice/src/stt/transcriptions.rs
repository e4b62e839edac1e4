//! `POST {base}/audio/transcriptions` and `audio/translations`, `OpenAI`'s transcription API. The input is a file and
//! some fields, and the output is JSON. Groq, Mistral and vLLM also implement this API, but not all of them implement
//! translations. Each provider's file defines its fields.
//!
//! Sources: <https://platform.openai.com/docs/api-reference/audio/createTranscription>, as
//! `types/audio/transcription_create_params.py`, `transcription_verbose.py`, `transcription_word.py`,
//! `transcription_segment.py` and `transcription_diarized.py` in `OpenAI`'s Python library, which is generated from its
//! OpenAPI description.

use super::{SttCall, SttResult, TranscriptStream, events, label, language, pieces_of, reading};
use crate::VoiceError;
use crate::resources::{self, Resources, join};
use reqwest::header::AUTHORIZATION;
use reqwest::multipart::{Form, Part};
use reqwest::{Body, RequestBuilder, Response};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

/// Sends the audio with these fields, in order, and parses the response.
pub(super) async fn transcribe(
    resources: &Resources,
    call: &SttCall,
    provider: &'static str,
    fields: Vec<(&'static str, String)>,
) -> Result<SttResult, VoiceError> {
    let response = send(resources, call, provider, fields).await?;
    whole(resources, provider, response).await
}

/// Sends the audio as [`transcribe`] does, but requests a stream. Waits for the first piece.
pub(super) async fn stream(
    resources: &Resources,
    call: &SttCall,
    provider: &'static str,
    fields: Vec<(&'static str, String)>,
) -> Result<TranscriptStream, VoiceError> {
    let response = send(resources, call, provider, fields).await?;
    if events::is_stream(&response) {
        return events::begun(provider, resources.pieces(provider, response)).await;
    }
    // Some compatible servers ignore the field and return a whole transcript.
    let recognized = whole(resources, provider, response).await?;
    Ok(pieces_of(recognized.text))
}

async fn send(
    resources: &Resources,
    call: &SttCall,
    provider: &'static str,
    fields: Vec<(&'static str, String)>,
) -> Result<Response, VoiceError> {
    let path = if call.translate {
        "audio/translations"
    } else {
        "audio/transcriptions"
    };
    let url = join(address(call)?, path);
    let post = with_key(provider, resources.post(url), call)?;
    let post = post.multipart(form(call, fields)?);
    resources.send(provider, post).await
}

async fn whole(
    resources: &Resources,
    provider: &'static str,
    response: Response,
) -> Result<SttResult, VoiceError> {
    let answer = resources.text(provider, response).await?;
    let answer: Answer = reading::json(provider, &answer)?;
    Ok(answer.recognized())
}

/// Returns the vendor's address.
pub(super) fn address(call: &SttCall) -> Result<&Url, VoiceError> {
    let missing = VoiceError::Internal("a provider was called without its URL");
    call.base_url.as_ref().ok_or(missing)
}

/// Adds the key, if there is one, as a Bearer token (RFC 6750).
pub(super) fn with_key(
    provider: &'static str,
    request: RequestBuilder,
    call: &SttCall,
) -> Result<RequestBuilder, VoiceError> {
    resources::with_key(
        request,
        AUTHORIZATION,
        ("stt", provider),
        call.key.as_ref(),
        "Bearer ",
    )
}

/// The form shares the audio's bytes without copying them.
fn form(call: &SttCall, fields: Vec<(&'static str, String)>) -> Result<Form, VoiceError> {
    let (ending, mime_type) = label::label(call);
    let length = u64::try_from(call.audio.len()).unwrap_or(u64::MAX);
    let file = Part::stream_with_length(Body::from(call.audio.clone()), length)
        .file_name(format!("audio.{ending}"))
        .mime_str(mime_type)
        .map_err(|_| VoiceError::Internal("a media type is invalid"))?;
    let form = fields
        .into_iter()
        .fold(Form::new(), |form, (name, value)| form.text(name, value));
    Ok(form.part("file", file))
}

/// A response, plain or verbose. Only the text is required: a server without timestamps responds with
/// `{"text": …}` even if they are requested.
#[derive(Deserialize)]
struct Answer {
    text: String,
    language: Option<String>,
    /// The duration in seconds, as a number or a numeric string. `OpenAI`'s description changed
    /// from one form to the other.
    #[serde(default)]
    duration: Value,
    words: Option<Vec<AnswerWord>>,
    segments: Option<Vec<AnswerSegment>>,
    logprobs: Option<Vec<Token>>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct AnswerWord {
    word: String,
    #[serde(default)]
    start: Value,
    #[serde(default)]
    end: Value,
}

#[derive(Deserialize)]
struct AnswerSegment {
    text: String,
    #[serde(default)]
    start: Value,
    #[serde(default)]
    end: Value,
    /// The mean of the natural logarithms of the tokens' likelihoods.
    avg_logprob: Option<f64>,
    tokens: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Token {
    logprob: Option<f64>,
}

/// The billed usage, which for some vendors is the only source of the duration.
#[derive(Deserialize)]
struct Usage {
    /// `OpenAI` and vLLM.
    #[serde(default)]
    seconds: Value,
    /// Mistral.
    #[serde(default)]
    prompt_audio_seconds: Value,
}

impl Answer {
    fn recognized(self) -> SttResult {
        let confidence = self.confidence();
        let duration_seconds = self.duration_seconds();
        let words = self.words.unwrap_or_default();
        let segments = self.segments.unwrap_or_default();
        SttResult {
            text: self.text.trim().to_owned(),
            language: self.language.as_deref().and_then(language::code),
            confidence,
            duration_seconds,
            words: words
                .iter()
                .filter_map(|said| reading::word(&said.word, &said.start, &said.end, 0.0))
                .collect(),
            segments: segments
                .iter()
                .filter_map(|said| reading::segment(&said.text, &said.start, &said.end, 0.0))
                .collect(),
        }
    }

    /// Estimates a confidence, because no vendor with this API reports one. The estimate is the likelihood of the
    /// tokens: e to the mean of their logarithms. Segments are weighted by their number of tokens.
    fn confidence(&self) -> Option<f64> {
        let tokens = self.logprobs.iter().flatten();
        let tokens = tokens.filter_map(|token| Some((token.logprob?, 1.0)));
        let segments = self.segments.iter().flatten().filter_map(|segment| {
            let tokens = segment.tokens.as_ref().map_or(1, Vec::len);
            let weight = u32::try_from(tokens.max(1)).map_or(f64::MAX, f64::from);
            Some((segment.avg_logprob?, weight))
        });
        let mean = reading::mean(tokens).or_else(|| reading::mean(segments))?;
        reading::likelihood(mean.exp())
    }

    fn duration_seconds(&self) -> Option<f64> {
        let usage = self.usage.as_ref();
        reading::seconds(&self.duration)
            .or_else(|| reading::seconds(&usage?.seconds))
            .or_else(|| reading::seconds(&usage?.prompt_audio_seconds))
    }
}

#[cfg(test)]
mod tests;
