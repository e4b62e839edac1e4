//! Voice over HTTP: audio of sessions, speech that is handed on as it comes, and the paths that clients of
//! `OpenAI`'s audio API know. The methods `tts.*` and `stt.*` are behind `/api/rpc`.

mod form;
pub(in crate::routes) mod openai;
mod range;
pub(in crate::routes) mod session_audio;
pub(in crate::routes) mod speech;

use gatehouse_domain::Problem;
use gatehouse_rpc::method::told;
use gatehouse_voice::VoiceError;

/// The largest JSON body: a text, and what is said of how to speak it.
const MAX_JSON_BYTES: usize = 1 << 20;

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
