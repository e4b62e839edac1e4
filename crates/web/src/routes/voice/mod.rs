//! Voice over HTTP: audio of sessions, speech that is handed on as it comes, and the paths that clients of
//! `OpenAI`'s audio API know. The methods `tts.*` and `stt.*` are behind `/api/rpc`.

mod form;
mod media_type;
pub(in crate::routes) mod openai;
mod range;
pub(in crate::routes) mod session_audio;
pub(in crate::routes) mod speech;

use crate::app::App;
use crate::body;
use axum::extract::Request;
use gatehouse_domain::{Problem, input};
use gatehouse_rpc::method::told;
use gatehouse_voice::VoiceError;
use serde::de::DeserializeOwned;

/// The largest JSON body: a million characters, each escaped, and what is said of how to speak them.
const MAX_JSON_BYTES: usize = 8 << 20;

/// Reads what is to be spoken.
async fn read_json<T: DeserializeOwned>(app: &App, request: Request) -> Result<T, Problem> {
    let (parts, body) = request.into_parts();
    let bytes = body::read(body, MAX_JSON_BYTES, body::share(app, &parts)?).await?;
    body::check_content_type(&parts.headers, &bytes)?;
    input::from_slice(if bytes.is_empty() { b"{}" } else { &bytes })
}

/// What a caller may know of a failure, whose fields have other names here than in the methods.
fn renamed(error: VoiceError, names: &[(&str, &str)]) -> Problem {
    told(match error {
        VoiceError::Invalid { field, reason } => {
            let other = names.iter().find(|(from, _)| *from == field);
            VoiceError::Invalid {
                field: other.map_or(field, |(_, to)| (*to).to_owned()),
                reason,
            }
        }
        error => error,
    })
}
