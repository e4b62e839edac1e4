//! `OpenAI`'s speech, and compatible servers. This module does not depend on settings or personas.
//!
//! Sources, read in November 2026:
//! - <https://platform.openai.com/docs/api-reference/audio/createSpeech> and `CreateSpeechRequest` in the vendor's
//!   OpenAPI document: `model`, `input` (at most 4,096 characters), `voice`, `response_format` (`mp3`, `opus`, `aac`,
//!   `flac`, `wav`, `pcm`), `speed` (0.25 to 4, for all models), `instructions` ("does not work with `tts-1` or
//!   `tts-1-hd`").
//! - <https://platform.openai.com/docs/guides/text-to-speech>: `pcm` is raw 24 kHz, signed 16-bit, little-endian;
//!   `opus` is in Ogg; the response streams during synthesis.
//! - The vendor has no list of its built-in voices. Compatible servers list theirs at `GET audio/voices`: either
//!   `{"voices": [{"id", "name"}]}` (`list_voices` in Kokoro-FastAPI's `openai_compatible.py`, also the format that
//!   Open `WebUI`'s `get_available_voices` reads) or only names.
//!
//! The default model supports instructions, so a persona's prompt has an effect. The default voice is the first in the
//! specification's list. All models have this voice.

use super::{Encoding, Parameter, RequestedOutput, Speech, TtsCall, TtsProvider, wire};
use crate::VoiceError;
use crate::endpoint::Endpoint;
use crate::provider::{About, BASE_URL, MODEL, OPENAI, VOICE, setting};
use crate::resources::{Resources, join, with_key};
use crate::speech::OfferedVoice;
use futures_util::FutureExt;
use gatehouse_audio::Format;
use reqwest::header::AUTHORIZATION;
use serde::Serialize;

const DEFAULT_VOICE: &str = "alloy";
/// The built-in voices of the vendor.
pub const VOICES: [&str; 13] = [
    "alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage",
    "shimmer", "verse",
];
const DEFAULT_MODEL: &str = "gpt-4o-mini-tts";
/// The vendor's own server.
const HOST: &str = "api.openai.com";
/// The rate of `pcm`.
const SAMPLE_RATE: u32 = 24_000;

const ID: &str = "tts_cloud_2";

pub(super) static PROVIDER: TtsProvider = TtsProvider {
    about: About {
        id: ID,
        alias: "openai",
        label: "OpenAI",
        about: "Hosted, or any compatible server. Uses its own API key or that of the model provider OpenAI. \
                Follows a persona’s style.",
        service: OPENAI,
        settings: &[
            VOICE,
            MODEL,
            setting("speed", "Speed").hint("1 is normal."),
            BASE_URL,
        ],
    },
    native: &[
        Format::Mp3,
        Format::Opus,
        Format::Ogg,
        Format::Aac,
        Format::Pcm,
        Format::Wav,
        Format::Flac,
    ],
    max_characters: 4096,
    max_bytes: usize::MAX,
    streams: true,
    speed: Some(0.25..=4.0),
    // A request has no field for stability or pitch, and the models detect the language from the text.
    parameters: &[Parameter::Voice, Parameter::Model, Parameter::Instructions],
    voices: Some(|resources, endpoint| voices(resources, endpoint).boxed()),
    speak: |resources, call| speak(resources, call).boxed(),
    ignores,
};

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a str,
    voice: &'a str,
    response_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

async fn speak(resources: &Resources, call: &TtsCall) -> Result<Speech, VoiceError> {
    let model = call.model.as_deref().unwrap_or(DEFAULT_MODEL);
    let (response_format, encoding) = output(call.want);
    let body = Request {
        model,
        input: &call.text,
        voice: call.voice.as_deref().unwrap_or(DEFAULT_VOICE),
        response_format,
        speed: call.speed,
        instructions: call
            .instructions
            .as_deref()
            .filter(|_| follows_instructions(model)),
    };
    let url = join(wire::base(call)?, "audio/speech");
    let request = resources.post(url).json(&body);
    let request = with_key(
        request,
        AUTHORIZATION,
        ("tts", ID),
        call.key.as_ref(),
        "Bearer ",
    )?;
    let body = wire::audio(resources, ID, request).await?;
    Ok(Speech { encoding, body })
}

/// Returns the voices of a compatible server. If the server has no list, returns the vendor's
/// names.
async fn voices(
    resources: &Resources,
    endpoint: &Endpoint,
) -> Result<Vec<OfferedVoice>, VoiceError> {
    let url = wire::of_endpoint(endpoint, "audio/voices")?;
    if url.host_str() != Some(HOST) {
        let request = resources.get(url);
        let request = with_key(
            request,
            AUTHORIZATION,
            ("tts", ID),
            endpoint.key.as_ref(),
            "Bearer ",
        )?;
        match wire::voices(resources, ID, request).await {
            Err(VoiceError::Provider {
                status: None | Some(404 | 405),
                retryable: false,
                ..
            }) => {}
            listed => return listed,
        }
    }
    Ok(VOICES.map(OfferedVoice::named).to_vec())
}

/// Returns the request fields that the selected model does not support.
fn ignores(call: &TtsCall) -> Vec<&'static str> {
    let model = call.model.as_deref().unwrap_or(DEFAULT_MODEL);
    let is_lost = call.instructions.is_some() && !follows_instructions(model);
    if is_lost {
        vec!["instructions"]
    } else {
        Vec::new()
    }
}

/// The vendor names two models that do not support instructions. The model names of other servers are
/// unknown, and those servers ignore unknown fields.
fn follows_instructions(model: &str) -> bool {
    !matches!(model, "tts-1" | "tts-1-hd") && !model.starts_with("tts-1-")
}

const fn output(want: RequestedOutput) -> (&'static str, Encoding) {
    let format = match want {
        RequestedOutput::Samples => return ("pcm", Encoding::Samples { rate: SAMPLE_RATE }),
        RequestedOutput::Native(format) => format,
    };
    let name = match format {
        Format::Mp3 => "mp3",
        Format::Opus | Format::Ogg => "opus",
        Format::Aac => "aac",
        Format::Pcm => "pcm",
        Format::Wav => "wav",
        Format::Flac => "flac",
    };
    (name, Encoding::Native(format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_models_get_no_instructions() {
        for model in ["tts-1", "tts-1-hd", "tts-1-1106", "tts-1-hd-1106"] {
            assert!(!follows_instructions(model), "{model}");
        }
        for model in [
            DEFAULT_MODEL,
            "gpt-4o-mini-tts-2025-12-15",
            "kokoro",
            "tts-15",
        ] {
            assert!(follows_instructions(model), "{model}");
        }
    }
}
