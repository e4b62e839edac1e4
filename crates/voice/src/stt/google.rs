//! Google Speech-to-Text version 1, over REST with an API key.
//!
//! Sources: <https://cloud.google.com/speech-to-text/docs/reference/rest/v1/speech/recognize> and its
//! `RecognitionConfig` (also as `google/cloud/speech/v1/cloud_speech.proto` in Google's `googleapis`), and
//! <https://cloud.google.com/speech-to-text/quotas>:
//! - `POST {base}/speech:recognize` with `{config, audio{content}}`, where the audio is base64, at most 10 MB and about
//!   one minute. Longer audio "must use the `uri` field to reference an audio file in Google Cloud Storage", even with
//!   `longrunningrecognize`. Longer audio is therefore cut here where it is quiet (`pieces.rs`), and the transcripts
//!   are concatenated.
//! - `LINEAR16` is 16-bit mono, and 16,000 Hz is "optimal". Audio is converted to such WAV first, for three reasons:
//!   Google would use only the first of two channels, `MP3` is only in `v1p1beta1`, and an Opus container cannot be
//!   cut. Audio that cannot be decoded here is sent in the format that the caller declared, if Google has an encoding
//!   for it.
//! - `languageCode` is required, BCP 47 with a region. `speechContexts[].phrases` are hints of at most 100 characters
//!   each. Google chooses the `model` if it is absent.
//! - Times are durations such as `"1.300s"`. A confidence of 0 means that there is none. Silence has no `results`.
//! - Responses contain the requested language. Google does not detect the language.

mod answer;
mod locale;
mod pieces;

use super::{MIB, SttCall, SttProvider, SttResult, hint, only_wav, transcriptions};
use crate::VoiceError;
use crate::provider::{About, BASE_URL, MODEL, hosted, setting};
use crate::resources::{Resources, join, with_key};
use answer::{Answer, Part};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use gatehouse_audio::Kind;
use pieces::Pieces;
use reqwest::header::{CONTENT_TYPE, HeaderName};
use serde_json::{Value, json};

/// The language if none is requested, as in Google's own examples.
const DEFAULT_LANGUAGE: &str = "en-US";
/// How many pieces of a recording are requested concurrently.
const AT_A_TIME: usize = 3;
/// The largest body that is not split: 10 MB in base64, with a margin for the rest of the request.
const MAX_UNCUT_BYTES: usize = 7_400_000;
/// The decoding rate of Opus (RFC 7845, section 5.1).
const OPUS_RATE: u32 = 48_000;

const ID: &str = "stt_cloud_4";
const KEY_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

pub(super) static PROVIDER: SttProvider = SttProvider {
    about: About {
        id: ID,
        alias: "google",
        label: "Google Cloud",
        about: "Hosted. Needs an API key for a project with Cloud Speech-to-Text enabled.",
        service: hosted("https://speech.googleapis.com/v1"),
        settings: &[setting("language", "Language and region"), MODEL, BASE_URL],
    },
    // A request accepts one minute of audio. Longer audio is split into several requests. This limit is about an hour.
    accepts: only_wav,
    max_bytes: 128 * MIB,
    takes_hints: true,
    translator: None,
    streaming: None,
    listen: |resources, call| listen(resources, call).boxed(),
};

async fn listen(resources: &Resources, call: &SttCall) -> Result<SttResult, VoiceError> {
    let Some(cut) = pieces::of_wav(&call.audio) else {
        let encoding = declared(call)?;
        let recognized = recognize(resources, call, &encoding, &call.audio, 0.0).await?;
        return Ok(answer::together([recognized]));
    };
    let Pieces { rate, seconds, all } = cut;
    let encoding = json!({ "encoding": "LINEAR16", "sampleRateHertz": rate });
    let mut asked = Vec::new();
    for piece in &all {
        let samples = &piece.samples;
        asked.push(recognize(resources, call, &encoding, samples, piece.start));
    }
    let parts: Vec<Part> = stream::iter(asked)
        .buffered(AT_A_TIME)
        .try_collect()
        .await?;
    let mut recognized = answer::together(parts);
    recognized.duration_seconds = Some(seconds);
    Ok(recognized)
}

/// Sends one request. Adds `shift` seconds to all times in the result.
async fn recognize(
    resources: &Resources,
    call: &SttCall,
    encoding: &Value,
    audio: &Bytes,
    shift: f64,
) -> Result<Part, VoiceError> {
    let body = json!({
        "config": config(call, encoding),
        "audio": { "content": STANDARD.encode(audio) },
    });
    let url = join(transcriptions::address(call)?, "speech:recognize");
    let request = resources
        .post(url)
        .header(CONTENT_TYPE, "application/json")
        .body(body.to_string());
    let request = with_key(request, KEY_HEADER, ("stt", ID), call.key.as_ref(), "")?;
    let response = resources.send(ID, request).await?;
    let answer = resources.text(ID, response).await?;
    Ok(Answer::read(ID, &answer)?.part(shift))
}

fn config(call: &SttCall, encoding: &Value) -> Value {
    let language = call.language.as_deref().map(str::trim);
    let language = language.filter(|language| !language.is_empty());
    let mut config = json!({
        "languageCode": language.map_or_else(|| DEFAULT_LANGUAGE.to_owned(), locale::locale),
        "enableWordTimeOffsets": true,
        "enableAutomaticPunctuation": true,
    });
    let phrases = hint::terms(call.prompt.as_deref());
    if let Value::Object(fields) = &mut config {
        if let Value::Object(encoding) = encoding {
            fields.extend(encoding.clone());
        }
        if let Some(model) = &call.model {
            fields.insert("model".to_owned(), model.as_str().into());
        }
        if !phrases.is_empty() {
            fields.insert("speechContexts".to_owned(), json!([{ "phrases": phrases }]));
        }
    }
    config
}

/// Returns the encoding to declare for audio that cannot be decoded here. FLAC and WAV have a header and need none.
fn declared(call: &SttCall) -> Result<Value, VoiceError> {
    let encoding = match (call.kind, call.declared.as_deref()) {
        (Some(Kind::Flac | Kind::Wav), _) | (None, Some("flac" | "wav")) => json!({}),
        (Some(Kind::OggOpus), _) | (None, Some("opus" | "ogg")) => {
            json!({ "encoding": "OGG_OPUS", "sampleRateHertz": OPUS_RATE })
        }
        (Some(Kind::Webm), _) | (None, Some("webm")) => {
            json!({ "encoding": "WEBM_OPUS", "sampleRateHertz": OPUS_RATE })
        }
        _ => {
            let reason = format!("is in an unknown format that {ID} does not accept");
            return Err(VoiceError::invalid("audio", reason));
        }
    };
    if call.audio.len() > MAX_UNCUT_BYTES {
        return Err(VoiceError::TooLarge {
            max_bytes: MAX_UNCUT_BYTES as u64,
        });
    }
    Ok(encoding)
}
