//! A self-hosted server from the Coqui TTS package. This module does not know the names of settings or
//! personas.
//!
//! Sources, read in November 2026:
//! - <https://github.com/idiap/coqui-ai-TTS/blob/main/docs/source/server.md> and its `TTS/server/server.py`
//!   (the maintained fork), and the same file in `coqui-ai/TTS`: `/api/tts` takes `text`, `speaker_id` and
//!   `language_id` in the query. It responds with `audio/wav`, with 400 without a text, and with 500 if
//!   synthesis fails. The older server accepts only GET, the newer one GET and POST, so GET is used.
//! - Neither has keys, speeds or pitches. A server has the one model it was started with. A configured model
//!   is sent as `model_name`, the name of the command-line option, for proxies in front of several servers.
//!   The server itself ignores unknown parameters.

use super::{Encoding, Speech, Tts, TtsCall, Want, wire};
use crate::VoiceError;
use crate::means::{Means, join};
use crate::provider::TtsId;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use gatehouse_audio::Format;
use reqwest::header::ACCEPT;
use url::Url;

const ID: TtsId = TtsId::Coqui;
const PATH: &str = "/api/tts";

#[derive(Debug)]
pub(super) struct Coqui;

impl Tts for Coqui {
    fn speak<'a>(
        &'a self,
        means: &'a Means,
        call: &'a TtsCall,
    ) -> BoxFuture<'a, Result<Speech, VoiceError>> {
        speak(means, call).boxed()
    }
}

async fn speak(means: &Means, call: &TtsCall) -> Result<Speech, VoiceError> {
    let encoding = match call.want {
        Want::Samples => Encoding::Wav,
        Want::Native(Format::Wav) => Encoding::Native(Format::Wav),
        Want::Native(_) => {
            return Err(VoiceError::Internal(
                "Coqui was called with a format that it does not support",
            ));
        }
    };
    let url = address(wire::base(call)?, call);
    let request = means.get(url).header(ACCEPT, "audio/wav");
    let body = wire::audio(means, ID, request).await?;
    Ok(Speech { encoding, body })
}

/// The endpoint may be the address of the server or of its `/api/tts`.
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
