//! Speech as server-sent events: `SpeechAudioDeltaEvent` and `SpeechAudioDoneEvent` in `OpenAI`'s OpenAPI document.

use super::super::speech;
use super::events;
use crate::respond::not_authenticated;
use crate::while_live::Credential;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use gatehouse_domain::Problem;
use gatehouse_services::to_problem;
use gatehouse_voice::Streamed;
use serde_json::{Value, json};
use std::future::ready;
use std::iter;

/// The maximum size of the audio in one event, in bytes: 64 KiB of base64.
const MAX_DELTA_BYTES: usize = 48 << 10;

/// Builds the response when the first bytes are available. A later failure or the end of the credential is an event
/// with the member `error`, and `speech.audio.done` is missing.
pub(super) fn respond(speech: Streamed, credential: Credential) -> Result<Response, Problem> {
    let facts = speech::facts(&speech)?;
    let provider = speech.provider;
    let body = speech.body.map_err(move |error| {
        tracing::warn!(provider = provider.as_str(), %error, "speech was interrupted");
        to_problem(error)
    });
    let body = credential.limit(body, not_authenticated);
    let pieces = body.flat_map(|piece| stream::iter(split(piece)));
    let to_end = pieces.map(Some).chain(stream::once(ready(None)));
    let data = to_end.scan(false, move |has_failed, piece| {
        ready(Some(match piece {
            Some(Ok(audio)) => Some(delta(&audio)),
            Some(Err(problem)) => {
                *has_failed = true;
                Some(events::failure(&problem))
            }
            None => (!*has_failed).then(done),
        }))
    });
    let mut response = events::respond(data.filter_map(ready));
    response.headers_mut().extend(facts);
    Ok(response)
}

fn delta(audio: &Bytes) -> Value {
    json!({ "type": "speech.audio.delta", "audio": STANDARD.encode(audio) })
}

/// Returns the final event. The counts are 0, because providers report no tokens for audio. Clients
/// expect the members.
fn done() -> Value {
    json!({
        "type": "speech.audio.done",
        "usage": { "input_tokens": 0, "output_tokens": 0, "total_tokens": 0 },
    })
}

/// Splits a piece that is too large for one event.
fn split(piece: Result<Bytes, Problem>) -> impl Iterator<Item = Result<Bytes, Problem>> + Send {
    let mut left = Some(piece);
    iter::from_fn(move || {
        let mut bytes = match left.take()? {
            Ok(bytes) => bytes,
            error => return Some(error),
        };
        let piece = bytes.split_to(bytes.len().min(MAX_DELTA_BYTES));
        left = (!bytes.is_empty()).then_some(Ok(bytes));
        Some(Ok(piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_split_beyond_the_limit() {
        for (length, lengths) in [
            (1, vec![1]),
            (MAX_DELTA_BYTES, vec![MAX_DELTA_BYTES]),
            (MAX_DELTA_BYTES + 1, vec![MAX_DELTA_BYTES, 1]),
            (2 * MAX_DELTA_BYTES, vec![MAX_DELTA_BYTES; 2]),
        ] {
            let pieces = split(Ok(vec![0; length].into()));
            let sizes: Vec<usize> = pieces.map(|piece| piece.unwrap().len()).collect();
            assert_eq!(sizes, lengths, "{length}");
        }
        assert_eq!(split(Err(Problem::internal())).count(), 1);
    }
}
