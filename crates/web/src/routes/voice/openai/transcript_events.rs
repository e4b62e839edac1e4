//! A transcript as server-sent events: `TranscriptTextDeltaEvent` and `TranscriptTextDoneEvent` in `OpenAI`'s OpenAPI
//! document.

use super::events;
use crate::respond::not_authenticated;
use crate::while_live::Credential;
use axum::response::Response;
use futures_util::{StreamExt, TryStreamExt};
use gatehouse_domain::Problem;
use gatehouse_services::to_problem;
use gatehouse_voice::{TranscriptPiece, TranscriptStream};
use serde_json::{Value, json};

/// Builds the response when the first piece is available. If a later piece fails or the credential ends, the last event
/// has the member `error`, and `transcript.text.done` is not sent.
pub(super) fn respond(pieces: TranscriptStream, credential: Credential) -> Response {
    let pieces = credential.limit(pieces.map_err(to_problem), not_authenticated);
    events::respond(pieces.map(event))
}

fn event(piece: Result<TranscriptPiece, Problem>) -> Value {
    match piece {
        Ok(TranscriptPiece::Text(delta)) => {
            json!({ "type": "transcript.text.delta", "delta": delta })
        }
        Ok(TranscriptPiece::Done { text, usage: None }) => {
            json!({ "type": "transcript.text.done", "text": text })
        }
        Ok(TranscriptPiece::Done {
            text,
            usage: Some(usage),
        }) => {
            let mut usage = json!(usage);
            if let Some(members) = usage.as_object_mut() {
                members.insert("type".to_owned(), "tokens".into());
            }
            json!({ "type": "transcript.text.done", "text": text, "usage": usage })
        }
        Err(problem) => events::failure(&problem),
    }
}
