//! A self-hosted server: that of the Coqui TTS package, or a Wyoming program at `tcp://host:port`. [`crate::wyoming`]
//! calls Wyoming programs, and explains why such a program is not a provider of its own.
//!
//! Sources, read in November 2026:
//! - <https://github.com/idiap/coqui-ai-TTS/blob/main/docs/source/server.md> and its `TTS/server/server.py` (the
//!   maintained fork), and the same file in `coqui-ai/TTS`: `/api/tts` takes `text`, `speaker_id` and `language_id` in
//!   the query. It responds with `audio/wav`, with 400 without a text, and with 500 if synthesis fails. The older
//!   server accepts only GET, the newer one GET and POST, so GET is used.
//! - Neither server has keys, speeds or pitches. A server has one model, set when it starts. A configured model is sent
//!   as `model_name`, the name of the command-line option, for proxies in front of several servers. The server itself
//!   ignores unknown parameters.

use super::{Encoding, Parameter, RequestedOutput, Speech, TtsCall, TtsProvider, wire};
use crate::VoiceError;
use crate::provider::{About, ENDPOINT, MODEL, Service};
use crate::resources::{Resources, join};
use crate::wyoming;
use futures_util::FutureExt;
use gatehouse_audio::Format;
use reqwest::header::ACCEPT;
use url::Url;

const PATH: &str = "/api/tts";

const ID: &str = "tts_local_2";

pub(super) static PROVIDER: TtsProvider = TtsProvider {
    about: About {
        id: ID,
        alias: "coqui",
        label: "Local server (Coqui, Wyoming)",
        about: "Your own Coqui server, or a Wyoming program such as wyoming-piper. Needs its address.",
        service: Service::SelfHosted,
        settings: &[ENDPOINT, MODEL.hint("For a Wyoming program: the voice.")],
    },
    native: &[Format::Wav],
    max_characters: 1000,
    max_bytes: 4000,
    streams: false,
    speed: None,
    parameters: &[Parameter::Voice, Parameter::Model],
    voices: Some(|resources, endpoint| wyoming::voices(resources, ID, endpoint).boxed()),
    speak: |resources, call| speak(resources, call).boxed(),
    ignores: |_| Vec::new(),
};

async fn speak(resources: &Resources, call: &TtsCall) -> Result<Speech, VoiceError> {
    let server = wire::base(call)?;
    if wyoming::is_at(server) {
        let Speech { encoding, body } = wyoming::speak(resources, ID, server, call).await?;
        let body = wire::begun(ID, body).await?;
        return Ok(Speech { encoding, body });
    }
    let encoding = match call.want {
        RequestedOutput::Samples => Encoding::Wav,
        RequestedOutput::Native(Format::Wav) => Encoding::Native(Format::Wav),
        RequestedOutput::Native(_) => {
            return Err(VoiceError::Internal(
                "Coqui was called with a format that it does not support",
            ));
        }
    };
    let url = address(server, call);
    let request = resources.get(url).header(ACCEPT, "audio/wav");
    let body = wire::audio(resources, ID, request).await?;
    Ok(Speech { encoding, body })
}

/// Returns the address of `/api/tts`. The endpoint may be the address of the server or already that
/// of `/api/tts`.
fn address(endpoint: &Url, call: &TtsCall) -> Url {
    let path = endpoint.path().trim_end_matches('/');
    let server = path.strip_suffix(PATH).unwrap_or(path);
    let mut url = endpoint.clone();
    url.set_path(server);
    let mut url = join(&url, PATH.trim_start_matches('/'));
    {
        let mut query = url.query_pairs_mut();
        query.append_pair("text", &call.text);
        let further = [("speaker_id", &call.voice), ("model_name", &call.model)];
        for (name, value) in further {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
    }
    url
}
