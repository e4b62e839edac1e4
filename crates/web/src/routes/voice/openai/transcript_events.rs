//! A transcript as server-sent events: `TranscriptTextDeltaEvent` and `TranscriptTextDoneEvent` in `OpenAI`'s OpenAPI
//! document.

use super::events;
use axum::response::Response;
use futures_util::StreamExt;
use gatehouse_voice::{TranscriptPiece, TranscriptStream, VoiceError};
use serde_json::{Value, json};

/// Builds the response when the first piece is available. A later failure is an event with the member `error`, and
/// `transcript.text.done` is missing.
pub(super) fn respond(pieces: TranscriptStream) -> Response {
    events::respond(pieces.map(event))
}

fn event(piece: Result<TranscriptPiece, VoiceError>) -> Value {
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
        Err(error) => events::failure(error),
    }
}
