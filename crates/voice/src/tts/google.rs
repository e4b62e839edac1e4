//! Google Cloud Text-to-Speech. This module does not depend on settings or personas.
//!
//! Sources, read in November 2026:
//! - <https://cloud.google.com/text-to-speech/docs/reference/rest/v1/text/synthesize> and
//!   `google/cloud/texttospeech/v1/cloud_tts.proto` in `googleapis/googleapis`: `POST /v1/text:synthesize`;
//!   `input.text` (at most 5,000 bytes), `voice.languageCode` (required), `voice.name`, `audioConfig` with
//!   `audioEncoding` (`LINEAR16`, which has a WAV header, `MP3`, `OGG_OPUS`), `speakingRate`, `pitch` (-20 to
//!   20 semitones), `sampleRateHertz`. The response is `{"audioContent": base64}`.
//! - <https://docs.cloud.google.com/text-to-speech/docs/reference/rest/v1/AudioConfig>: `speakingRate` is
//!   0.25 to 2; it was 4 in older versions of the page.
//! - <https://cloud.google.com/text-to-speech/docs/reference/rest/v1/voices/list>: `GET /v1/voices` returns
//!   `{"voices": [{"name", "languageCodes", …}]}`, all of them without `languageCode`.
//! - <https://cloud.google.com/docs/authentication/api-keys-use>: the key is sent in `X-Goog-Api-Key`.
//! - Chirp voices reject a request that names a rate or a pitch, even the neutral one (reported in
//!   home-assistant/core, issues 130843 and 144824), so neutral values are not sent.

use super::audio_content::AudioContent;
use super::{Encoding, Parameter, RequestedOutput, Speech, TtsCall, TtsProvider, wire};
use crate::VoiceError;
use crate::endpoint::Endpoint;
use crate::provider::{About, BASE_URL, VOICE, hosted, setting};
use crate::resources::{Resources, join, with_key};
use crate::speech::OfferedVoice;
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use gatehouse_audio::Format;
use reqwest::header::HeaderName;
use serde::Serialize;

/// The vendor requires a language, and every voice family supports this one.
const DEFAULT_LANGUAGE: &str = "en-US";
/// The sample rate to request. A fixed rate makes all pieces of a long text alike.
const SAMPLE_RATE: u32 = 24_000;

const ID: &str = "tts_cloud_3";
const KEY_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

pub(super) static PROVIDER: TtsProvider = TtsProvider {
    about: About {
        id: ID,
        alias: "google",
        label: "Google Cloud",
        about: "Hosted. Needs an API key for a project with Cloud Text-to-Speech enabled.",
        service: hosted("https://texttospeech.googleapis.com/v1"),
        settings: &[
            VOICE,
            setting("language_code", "Language and region"),
            setting("speaking_rate", "Speed").hint("1 is normal."),
            BASE_URL,
        ],
    },
    native: &[Format::Mp3, Format::Opus, Format::Ogg, Format::Wav],
    max_characters: usize::MAX,
    max_bytes: 5000,
    streams: false,
    speed: Some(0.25..=2.0),
    // The name of a voice includes the model. A request has no field for stability or instructions.
    parameters: &[Parameter::Voice, Parameter::Pitch],
    voices: Some(|resources, endpoint| voices(resources, endpoint).boxed()),
    speak: |resources, call| speak(resources, call).boxed(),
    ignores: |_| Vec::new(),
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    input: Input<'a>,
    voice: Voice<'a>,
    audio_config: AudioConfig,
}

#[derive(Serialize)]
struct Input<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Voice<'a> {
    language_code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AudioConfig {
    audio_encoding: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    speaking_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pitch: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sample_rate_hertz: Option<u32>,
}

async fn speak(resources: &Resources, call: &TtsCall) -> Result<Speech, VoiceError> {
    let (audio_encoding, encoding) = output(call.want)?;
    let body = Request {
        input: Input { text: &call.text },
        voice: Voice {
            language_code: language(call),
            name: call.voice.as_deref(),
        },
        audio_config: AudioConfig {
            audio_encoding,
            speaking_rate: call.speed.filter(|speed| !is(*speed, 1.0)),
            pitch: call.pitch.filter(|pitch| !is(*pitch, 0.0)),
            sample_rate_hertz: (call.want == RequestedOutput::Samples).then_some(SAMPLE_RATE),
        },
    };
    let url = join(wire::base(call)?, "text:synthesize");
    let request = resources.post(url).json(&body);
    let request = with_key(request, KEY_HEADER, ("tts", ID), call.key.as_ref(), "")?;
    let response = resources.send(ID, request).await?;
    let pieces = resources.pieces(ID, response);
    let body = wire::begun(ID, decoded(pieces)).await?;
    Ok(Speech { encoding, body })
}

/// Returns the voices of all languages, because the language of a voice is in its name.
async fn voices(
    resources: &Resources,
    endpoint: &Endpoint,
) -> Result<Vec<OfferedVoice>, VoiceError> {
    let request = resources.get(wire::of_endpoint(endpoint, "voices")?);
    let request = with_key(request, KEY_HEADER, ("tts", ID), endpoint.key.as_ref(), "")?;
    wire::voices(resources, ID, request).await
}

/// Decodes the audio as the response arrives. Buffering it as text would take a third more memory.
fn decoded(pieces: wire::Body) -> wire::Body {
    let state = Some((pieces, AudioContent::default()));
    let decoded = stream::unfold(state, |state| async move {
        let (mut pieces, mut content) = state?;
        match pieces.next().await {
            Some(Ok(piece)) => match content.push(&piece) {
                Ok(audio) => Some((Ok(Bytes::from(audio)), Some((pieces, content)))),
                Err(broken) => Some((Err(broken.of(ID)), None)),
            },
            Some(Err(error)) => Some((Err(error), None)),
            None => match content.end() {
                Ok(()) => None,
                Err(broken) => Some((Err(broken.of(ID)), None)),
            },
        }
    });
    decoded.boxed()
}

fn is(value: f64, other: f64) -> bool {
    (value - other).abs() < f64::EPSILON
}

/// Returns the language to send. The vendor rejects a voice with a language other than its own. The configured language
/// therefore applies to the configured voice. For the voice of a request or persona, the language is in its name.
fn language(call: &TtsCall) -> &str {
    let set = call.settings.language.as_deref();
    let own = call.voice.as_deref().and_then(language_of);
    if call.voice == call.settings.voice {
        set.or(own)
    } else {
        own.or(set)
    }
    .unwrap_or(DEFAULT_LANGUAGE)
}

/// Returns the language in a voice's name: `en-US` of `en-US-Neural2-A`, `cmn-CN` of
/// `cmn-CN-Wavenet-A`.
fn language_of(voice: &str) -> Option<&str> {
    let mut parts = voice.split('-');
    let (language, region) = (parts.next()?, parts.next()?);
    let is_language =
        matches!(language.len(), 2 | 3) && language.bytes().all(|b| b.is_ascii_alphabetic());
    let is_region = match region.len() {
        2 => region.bytes().all(|b| b.is_ascii_alphabetic()),
        3 => region.bytes().all(|b| b.is_ascii_digit()),
        _ => false,
    };
    let has_more = parts.next().is_some();
    (is_language && is_region && has_more)
        .then(|| voice.get(..language.len() + 1 + region.len()))
        .flatten()
}

fn output(want: RequestedOutput) -> Result<(&'static str, Encoding), VoiceError> {
    match want {
        RequestedOutput::Native(Format::Mp3) => Ok(("MP3", Encoding::Native(Format::Mp3))),
        RequestedOutput::Native(format @ (Format::Opus | Format::Ogg)) => {
            Ok(("OGG_OPUS", Encoding::Native(format)))
        }
        RequestedOutput::Native(Format::Wav) => Ok(("LINEAR16", Encoding::Native(Format::Wav))),
        RequestedOutput::Samples => Ok(("LINEAR16", Encoding::Wav)),
        RequestedOutput::Native(Format::Aac | Format::Pcm | Format::Flac) => Err(
            VoiceError::Internal("Google was called with a format that it does not support"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voice_s_name_tells_its_language() {
        for (name, language) in [
            ("en-US-Neural2-A", Some("en-US")),
            ("cmn-CN-Wavenet-A", Some("cmn-CN")),
            ("es-419-Standard-A", Some("es-419")),
            ("de-DE-Chirp3-HD-Kore", Some("de-DE")),
            ("Kore", None),
            ("en-US", None),
            ("my-own-voice", None),
            ("", None),
            ("ä-US-x", None),
        ] {
            assert_eq!(language_of(name), language, "{name}");
        }
    }
}
