//! Voice over HTTP: audio of sessions, streamed speech, and paths compatible with `OpenAI`'s audio API. The
//! methods `tts.*` and `stt.*` are available through `/api/rpc`.

mod form;
mod media_type;
pub(in crate::routes) mod openai;
mod range;
pub(in crate::routes) mod session_audio;
pub(in crate::routes) mod speech;

use gatehouse_domain::Problem;
use gatehouse_services::to_problem;
use gatehouse_voice::VoiceError;

/// Converts a failure for the caller. Renames fields whose names here differ from the names in the methods.
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
