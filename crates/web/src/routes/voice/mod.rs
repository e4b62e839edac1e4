//! Voice over HTTP: audio of sessions, streamed speech, and paths compatible with `OpenAI`'s audio API. The
//! methods `tts.*` and `stt.*` are available through `/api/rpc`.

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
use gatehouse_services::to_problem;
use gatehouse_voice::VoiceError;
use serde::de::DeserializeOwned;

/// The maximum size of a JSON body, in bytes: a million escaped characters and the speech parameters.
const MAX_JSON_BYTES: usize = 8 << 20;

/// Reads a JSON body with text to speak.
async fn read_json<T: DeserializeOwned>(app: &App, request: Request) -> Result<T, Problem> {
    let (parts, body) = request.into_parts();
    let bytes = body::read(body, MAX_JSON_BYTES, body::share(app, &parts)?).await?;
    body::check_content_type(&parts.headers, &bytes)?;
    input::from_slice(if bytes.is_empty() { b"{}" } else { &bytes })
}

/// Converts a failure for the caller and renames fields that have other names here than in the methods.
fn renamed(error: VoiceError, names: &[(&str, &str)]) -> Problem {
    to_problem(match error {
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
