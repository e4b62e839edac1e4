//! Google's Speech-to-Text, version 1, by its REST interface with an API key.
//!
//! <https://cloud.google.com/speech-to-text/docs/reference/rest/v1/speech/recognize> and `RecognitionConfig`
//! there, read also as `google/cloud/speech/v1/cloud_speech.proto` of Google's own `googleapis`, and
//! <https://cloud.google.com/speech-to-text/quotas>:
//! - `POST {base}/speech:recognize` with `{config, audio{content}}`, the audio in base64, at most 10 MB and
//!   about one minute. Longer audio "must use the `uri` field to reference an audio file in Google Cloud
//!   Storage", also with `longrunningrecognize`, which therefore is of no use here. So longer audio is cut
//!   where it is quiet (`pieces.rs`), and the pieces' transcripts are put together.
//! - `LINEAR16` is 16-bit mono, 16,000 Hz is "optimal". All audio comes here as WAV of that kind: of two
//!   channels only the first would be heard, `MP3` is in `v1p1beta1` only, and a container of Opus cannot be
//!   cut. Only audio that nobody here can read goes out as the caller declares it, where there is an
//!   encoding for it.
//! - `languageCode` is required, BCP 47 with a region. `speechContexts[].phrases` are hints, of at most
//!   100 characters each. `model` is chosen by Google when it is absent.
//! - Times are durations such as `"1.300s"`. A confidence of 0 means that there is none. Silence has no
//!   `results` at all.
//! - Answers name the language that was asked for; none is detected.

mod answer;
mod locale;
mod pieces;

use super::{Heard, Stt, SttCall, hint, transcriptions};
use crate::VoiceError;
use crate::means::{Means, join};
use crate::provider::SttId;
use answer::{Answer, Part};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use gatehouse_audio::Kind;
use pieces::Pieces;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

/// The provider's id, for errors.
const PROVIDER: &str = SttId::Google.as_str();
/// What is spoken when nobody says: the language of Google's own examples.
const DEFAULT_LANGUAGE: &str = "en-US";
/// How many pieces of one recording are out at a time.
const AT_A_TIME: usize = 3;
/// The most of a body that is not cut: 10 MB in base64, with room for the rest of the request.
const MAX_UNCUT_BYTES: usize = 7_400_000;
/// What Opus is always decoded at (RFC 7845, section 5.1).
const OPUS_RATE: u32 = 48_000;

/// Google.
#[derive(Debug)]
pub(super) struct Google;

impl Stt for Google {
    fn listen<'a>(
        &'a self,
        means: &'a Means,
        call: &'a SttCall,
    ) -> BoxFuture<'a, Result<Heard, VoiceError>> {
        listen(means, call).boxed()
    }
}

async fn listen(means: &Means, call: &SttCall) -> Result<Heard, VoiceError> {
    let Some(cut) = pieces::of_wav(&call.audio) else {
        let encoding = declared(call)?;
        let heard = recognize(means, call, &encoding, &call.audio, 0.0).await?;
        return Ok(answer::together([heard]));
    };
    let Pieces { rate, seconds, all } = cut;
    let encoding = json!({ "encoding": "LINEAR16", "sampleRateHertz": rate });
    let mut asked = Vec::new();
    for piece in &all {
        let samples = &piece.samples;
        asked.push(recognize(means, call, &encoding, samples, piece.start));
    }
    let parts: Vec<Part> = stream::iter(asked)
        .buffered(AT_A_TIME)
        .try_collect()
        .await?;
    let mut heard = answer::together(parts);
    heard.duration_seconds = Some(seconds);
    Ok(heard)
}

/// One request. The times of what was heard are `shift` seconds later than its own.
async fn recognize(
    means: &Means,
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
    let mut request = means
        .post(url)
        .header(CONTENT_TYPE, "application/json")
        .body(body.to_string());
    if let Some(key) = transcriptions::key(PROVIDER, call, "")? {
        request = request.header("x-goog-api-key", key);
    }
    let response = means.send(PROVIDER, request).await?;
    let answer = means.text(PROVIDER, response).await?;
    Ok(Answer::read(PROVIDER, &answer)?.part(shift))
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

/// How audio that cannot be read here is declared. FLAC and WAV tell themselves.
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
            let reason = format!("{PROVIDER} takes no audio of this kind that cannot be read here");
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
