//! Deepgram's transcription of recorded audio.
//!
//! Sources: <https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded> (as `openapi.yml`
//! in Deepgram's `deepgram-api-specs`), and the pages on language detection, key terms, keywords, utterances
//! and errors under <https://developers.deepgram.com/docs/>:
//! - `POST {base}/listen` with the audio as the body, options in the query, and `Authorization: Token …`. Up
//!   to 2 GB of almost any format with a header.
//! - `model` (`nova-3`), `language` (BCP 47) or `detect_language=true`, `punctuate`, `smart_format`,
//!   `utterances` (speech between pauses).
//! - Hints: `keyterm`, repeatable, phrases, Nova-3 only, up to 100 and 500 tokens; `keywords`, repeatable,
//!   single words, for Nova-2, Nova, Enhanced and Base. Deepgram's Whisper models accept neither.
//! - Response: `metadata.duration`; `results.channels[0].detected_language` and `.alternatives[0]` with
//!   `transcript`, `confidence` and `words[{word, punctuated_word, start, end}]`; `results.utterances[]`.
//!
//! `smart_format` is on unless the setting disables it, because it makes numbers and dates readable.
//! Punctuation is always requested.

use super::{SttCall, SttProvider, SttResult, hint, label, language, reading, transcriptions};
use crate::VoiceError;
use crate::provider::{About, BASE_URL, LANGUAGE, MODEL, hosted, setting};
use crate::resources::{Resources, join, with_key};
use futures_util::FutureExt;
use gatehouse_audio::Kind;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde::Deserialize;
use serde_json::Value;

/// Deepgram's best model for general use.
const DEFAULT_MODEL: &str = "nova-3";

const ID: &str = "stt_cloud_3";

pub(super) static PROVIDER: SttProvider = SttProvider {
    about: About {
        id: ID,
        alias: "deepgram",
        label: "Deepgram",
        about: "Hosted. Needs a Deepgram API key.",
        service: hosted("https://api.deepgram.com/v1"),
        settings: &[
            MODEL,
            LANGUAGE,
            setting("smart_format", "Smart format")
                .hint("Formats numbers, dates and sentences for reading."),
            BASE_URL,
        ],
    },
    // Deepgram accepts any audio with a header.
    accepts: |kind| !matches!(kind, Kind::Pcm { .. }),
    max_bytes: 2_000_000_000,
    takes_hints: true,
    translator: None,
    streaming: None,
    listen: |resources, call| listen(resources, call).boxed(),
};

async fn listen(resources: &Resources, call: &SttCall) -> Result<SttResult, VoiceError> {
    let mut url = join(transcriptions::address(call)?, "listen");
    url.query_pairs_mut().extend_pairs(query(call));
    let request = resources
        .post(url)
        .header(CONTENT_TYPE, label::label(call).1)
        .body(call.audio.clone());
    let request = with_key(
        request,
        AUTHORIZATION,
        ("stt", ID),
        call.key.as_ref(),
        "Token ",
    )?;
    let response = resources.send(ID, request).await?;
    let answer = resources.text(ID, response).await?;
    let answer: Answer = reading::json(ID, &answer)?;
    Ok(answer.recognized())
}

fn query(call: &SttCall) -> Vec<(&'static str, String)> {
    let model = call.model.as_deref().unwrap_or(DEFAULT_MODEL);
    let smart_format = call.settings.smart_format.unwrap_or(true);
    let mut query = vec![
        ("model", model.to_owned()),
        ("punctuate", true.to_string()),
        ("smart_format", smart_format.to_string()),
        ("utterances", true.to_string()),
    ];
    match call.language.as_deref().map(str::trim) {
        Some(said) if !said.is_empty() => query.push(("language", language::tag(said))),
        _ => query.push(("detect_language", true.to_string())),
    }
    let terms = hint::terms(call.prompt.as_deref());
    if model.starts_with("nova-3") {
        query.extend(terms.into_iter().map(|term| ("keyterm", term)));
    } else if !model.starts_with("whisper") {
        let words = terms.iter().flat_map(|term| term.split_whitespace());
        let words = words.take(hint::MAX_TERMS).map(str::to_owned);
        query.extend(words.map(|word| ("keywords", word)));
    }
    query
}

#[derive(Deserialize)]
struct Answer {
    metadata: Option<Metadata>,
    results: Results,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    duration: Value,
}

#[derive(Deserialize)]
struct Results {
    channels: Vec<Channel>,
    utterances: Option<Vec<Utterance>>,
}

#[derive(Deserialize)]
struct Channel {
    detected_language: Option<String>,
    #[serde(default)]
    alternatives: Vec<Alternative>,
}

#[derive(Deserialize)]
struct Alternative {
    transcript: String,
    confidence: Option<f64>,
    words: Option<Vec<AnswerWord>>,
}

#[derive(Deserialize)]
struct AnswerWord {
    word: String,
    punctuated_word: Option<String>,
    #[serde(default)]
    start: Value,
    #[serde(default)]
    end: Value,
}

#[derive(Deserialize)]
struct Utterance {
    transcript: String,
    #[serde(default)]
    start: Value,
    #[serde(default)]
    end: Value,
}

impl Answer {
    /// One channel is requested, and one is used. Silence has confidence 0, which is meaningless.
    fn recognized(self) -> SttResult {
        let duration = self.metadata.unwrap_or(Metadata {
            duration: Value::Null,
        });
        let mut recognized = SttResult {
            duration_seconds: reading::seconds(&duration.duration),
            ..SttResult::default()
        };
        for said in self.results.utterances.unwrap_or_default() {
            let segment = reading::segment(&said.transcript, &said.start, &said.end, 0.0);
            recognized.segments.extend(segment);
        }
        let Some(channel) = self.results.channels.into_iter().next() else {
            return recognized;
        };
        recognized.language = channel
            .detected_language
            .as_deref()
            .and_then(language::code);
        let Some(best) = channel.alternatives.into_iter().next() else {
            return recognized;
        };
        best.transcript.trim().clone_into(&mut recognized.text);
        let confidence = best.confidence.filter(|_| !recognized.text.is_empty());
        recognized.confidence = confidence.and_then(reading::likelihood);
        for said in best.words.unwrap_or_default() {
            let text = said.punctuated_word.as_deref().unwrap_or(&said.word);
            let word = reading::word(text, &said.start, &said.end, 0.0);
            recognized.words.extend(word);
        }
        recognized
    }
}
