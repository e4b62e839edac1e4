//! `ElevenLabs`: streamed speech with voices selected by ID. This module does not depend on settings or personas.
//!
//! Sources, read in November 2026:
//! - <https://elevenlabs.io/docs/api-reference/text-to-speech/stream>: the path, `xi-api-key`,
//!   `output_format` in the query; `text`, `model_id` and `voice_settings` in the body. The example uses the
//!   voice and the model that are the defaults here: both are available to every account.
//! - The same page's list of output formats, which is also in the vendor's client (`elevenlabs-python`,
//!   `text_to_speech_stream_request_output_format.py`): `mp3_44100_128` and `pcm_24000` are available on
//!   every plan; MP3 at 192 kbit/s and PCM at 44.1 kHz are not. The page does not name the container of
//!   `opus_48000_*`. Users who forward it as voice notes find Ogg. The bytes are therefore checked before
//!   they are labeled as Ogg.
//! - <https://elevenlabs.io/docs/api-reference/voices/settings/get>: `stability` and `similarity_boost` from
//!   0 to 1; <https://elevenlabs.io/docs/eleven-agents/customization/voice/speed-control>: `speed` from 0.7
//!   to 1.2.
//! - <https://elevenlabs.io/docs/api-reference/voices/get-all>: `GET /v1/voices` returns the account's voices,
//!   `{"voices": [{"voice_id", "name", …}]}`.
//! - <https://elevenlabs.io/docs/overview/models>: characters per request, 5,000 (v3), 10,000 (multilingual
//!   v2), 30,000 and more (flash). The limit here is the lowest of them.

use super::{Encoding, Parameter, RequestedOutput, Speech, TtsCall, TtsProvider, wire};
use crate::VoiceError;
use crate::endpoint::Endpoint;
use crate::provider::{About, BASE_URL, MODEL, hosted, setting};
use crate::resources::{Resources, join, with_key};
use crate::speech::OfferedVoice;
use futures_util::FutureExt;
use gatehouse_audio::Format;
use reqwest::header::{ACCEPT, HeaderName};
use serde_json::{Map, Value, json};

const DEFAULT_VOICE: &str = "JBFqnCBsd6RMkjVDRZzb";
const DEFAULT_MODEL: &str = "eleven_multilingual_v2";
/// The rate of `pcm_24000`.
const SAMPLE_RATE: u32 = 24_000;
/// The vendor's IDs have 20 characters; compatible servers may use longer ones.
const MAX_VOICE_ID_BYTES: usize = 128;

const ID: &str = "tts_cloud_1";
const KEY_HEADER: HeaderName = HeaderName::from_static("xi-api-key");

pub(super) static PROVIDER: TtsProvider = TtsProvider {
    about: About {
        id: ID,
        alias: "elevenlabs",
        label: "ElevenLabs",
        about: "Hosted. Needs an ElevenLabs API key. Voices are selected by ID.",
        service: hosted("https://api.elevenlabs.io/v1"),
        settings: &[
            setting("voice_id", "Voice ID"),
            MODEL,
            setting("stability", "Stability").hint("How steady the voice is, from 0 to 1."),
            setting("similarity_boost", "Similarity")
                .hint("How close to the original voice, from 0 to 1."),
            BASE_URL,
        ],
    },
    native: &[Format::Mp3, Format::Opus, Format::Ogg, Format::Pcm],
    max_characters: 5000,
    max_bytes: usize::MAX,
    streams: true,
    speed: Some(0.7..=1.2),
    // A request has no field for pitch or instructions, and the models detect the language from the text.
    parameters: &[Parameter::Voice, Parameter::Model, Parameter::Stability],
    voices: Some(|resources, endpoint| voices(resources, endpoint).boxed()),
    speak: |resources, call| speak(resources, call).boxed(),
    ignores: |_| Vec::new(),
};

async fn speak(resources: &Resources, call: &TtsCall) -> Result<Speech, VoiceError> {
    let (output_format, encoding) = output(call.want)?;
    let voice = call.voice.as_deref().unwrap_or(DEFAULT_VOICE);
    if !is_voice_id(voice) {
        return Err(wrong_voice(call.is_voice_requested));
    }
    let path = format!("text-to-speech/{voice}/stream");
    let mut url = join(wire::base(call)?, &path);
    url.query_pairs_mut()
        .append_pair("output_format", output_format);
    let request = resources.post(url).header(ACCEPT, accept(encoding));
    let request = with_key(request, KEY_HEADER, ("tts", ID), call.key.as_ref(), "")?;
    let body = wire::audio(resources, ID, request.json(&body(call))).await?;
    Ok(Speech { encoding, body })
}

async fn voices(
    resources: &Resources,
    endpoint: &Endpoint,
) -> Result<Vec<OfferedVoice>, VoiceError> {
    let request = resources.get(wire::of_endpoint(endpoint, "voices")?);
    let request = with_key(request, KEY_HEADER, ("tts", ID), endpoint.key.as_ref(), "")?;
    wire::voices(resources, ID, request).await
}

fn body(call: &TtsCall) -> Value {
    let model = call.model.as_deref().unwrap_or(DEFAULT_MODEL);
    let mut body = json!({ "text": call.text, "model_id": model });
    let mut settings = Map::new();
    if let Some(stability) = call.stability {
        settings.insert(
            "stability".to_owned(),
            stability_for(model, stability).into(),
        );
    }
    if let Some(boost) = call.similarity_boost {
        settings.insert("similarity_boost".to_owned(), boost.into());
    }
    if let Some(speed) = call.speed {
        settings.insert("speed".to_owned(), speed.into());
    }
    // Absent settings keep the values stored with the voice.
    if !settings.is_empty()
        && let Some(body) = body.as_object_mut()
    {
        body.insert("voice_settings".to_owned(), settings.into());
    }
    body
}

/// Returns the v3 models accept only 0, 0.5 and 1 ("creative", "natural", "robust") and reject other values.
fn stability_for(model: &str, stability: f64) -> f64 {
    if model.starts_with("eleven_v3") {
        (stability * 2.0).round() / 2.0
    } else {
        stability
    }
}

fn output(want: RequestedOutput) -> Result<(&'static str, Encoding), VoiceError> {
    match want {
        RequestedOutput::Native(Format::Mp3) => {
            Ok(("mp3_44100_128", Encoding::Native(Format::Mp3)))
        }
        RequestedOutput::Native(format @ (Format::Opus | Format::Ogg)) => {
            Ok(("opus_48000_64", Encoding::Native(format)))
        }
        RequestedOutput::Native(Format::Pcm) => Ok(("pcm_24000", Encoding::Native(Format::Pcm))),
        RequestedOutput::Samples => Ok(("pcm_24000", Encoding::Samples { rate: SAMPLE_RATE })),
        RequestedOutput::Native(Format::Aac | Format::Wav | Format::Flac) => Err(
            VoiceError::Internal("ElevenLabs was called with a format that it does not support"),
        ),
    }
}

/// Raw samples have no specific media type.
const fn accept(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Native(Format::Mp3) => "audio/mpeg",
        _ => "*/*",
    }
}

/// Returns the error for a wrong voice ID. An ID from the request is the caller's mistake. An ID from the settings or a
/// persona is not, and another provider may speak instead.
fn wrong_voice(is_requested: bool) -> VoiceError {
    let reason = "an ElevenLabs voice ID consists of letters, digits, hyphens and underscores";
    if is_requested {
        return VoiceError::invalid("voiceId", reason);
    }
    let key = format!("voice.tts.{ID}.voice_id");
    let hint = format!("Change `{key}` or the persona's voice: {reason}.");
    VoiceError::not_configured(key, hint)
}

/// Returns whether the ID is safe in a URL path.
fn is_voice_id(voice: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=MAX_VOICE_ID_BYTES).contains(&voice.len()) && voice.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voice_id_cannot_leave_its_place_in_the_path() {
        assert!(is_voice_id(DEFAULT_VOICE));
        assert!(is_voice_id(&"a".repeat(MAX_VOICE_ID_BYTES)));
        assert!(!is_voice_id(&"a".repeat(MAX_VOICE_ID_BYTES + 1)));
        for bad in [
            "", ".", "..", "a/b", "a?b", "a#b", "a%2fb", "a b", "ä", "a\n",
        ] {
            assert!(!is_voice_id(bad), "{bad:?}");
        }
    }

    #[test]
    fn only_the_v3_models_have_steps_of_stability() {
        for (given, sent) in [
            (0.0, 0.0),
            (0.24, 0.0),
            (0.26, 0.5),
            (0.74, 0.5),
            (0.8, 1.0),
        ] {
            assert!((stability_for("eleven_v3", given) - sent).abs() < f64::EPSILON);
            assert!((stability_for(DEFAULT_MODEL, given) - given).abs() < f64::EPSILON);
        }
    }
}
