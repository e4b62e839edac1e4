//! Reads messages that are quoted
//! (<https://spec.matrix.org/latest/client-server-api/#get_matrixclientv3roomsroomideventeventid>).

use super::super::{Source, display_name};
use super::NOUN;
use super::client_api::{request, send, source_user};
use super::events::quoted;
use crate::error::Failure;
use crate::quotes::{Quote, QuotedAuthor};
use reqwest::Method;
use serde_json::value::RawValue;

/// Returns the sender and the text of a message.
async fn read(
    source: Source<'_>,
    room: &str,
    event: &str,
) -> Result<Option<(String, String)>, Failure> {
    let path = ["rooms", room, "event", event];
    let answer = send(source, request(source, Method::GET, &path)?).await?;
    if matches!(answer.status.as_u16(), 403 | 404) {
        return Ok(None);
    }
    let after = answer.response_json().milliseconds("/retry_after_ms");
    answer.check(NOUN, after)?;
    let event: Option<Box<RawValue>> = answer.parse();
    Ok(event.and_then(|event| quoted(&event)))
}

/// Returns whether the bot wrote a message.
pub(super) async fn is_own(
    source: Source<'_>,
    room: &str,
    event: &str,
    me: &str,
) -> Result<bool, Failure> {
    let found = read(source, room, event).await?;
    Ok(found.is_some_and(|(sender, _)| sender == me))
}

/// Reads the text of an event of a room that `person` quotes.
pub(super) async fn fetch(
    source: Source<'_>,
    (room, person): (&str, &str),
    event: &str,
) -> Result<Option<Quote>, Failure> {
    let me = source_user(source).await?;
    let Some((sender, text)) = read(source, room, event).await? else {
        return Ok(None);
    };
    let by = match sender.as_str() {
        sender if sender == me => QuotedAuthor::Bot,
        sender if sender == person => QuotedAuthor::Person,
        _ => QuotedAuthor::Other,
    };
    Ok(Quote::of(by, display_name(&sender, &sender), &text))
}
