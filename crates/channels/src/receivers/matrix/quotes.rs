//! Reads messages that are quoted
//! (<https://spec.matrix.org/latest/client-server-api/#get_matrixclientv3roomsroomideventeventid>).

use super::super::{Source, display_name};
use super::events::quoted;
use super::{NOUN, request, send, source_user};
use crate::error::Failure;
use crate::quotes::{Quote, QuotedAuthor};
use reqwest::Method;
use serde_json::value::RawValue;

/// Reads the text of an event of a room that `person` quotes.
pub(super) async fn fetch(
    source: Source<'_>,
    (room, person): (&str, &str),
    event: &str,
) -> Result<Option<Quote>, Failure> {
    let me = source_user(source).await?;
    let path = ["rooms", room, "event", event];
    let answer = send(source, request(source, Method::GET, &path)?).await?;
    if matches!(answer.status.as_u16(), 403 | 404) {
        return Ok(None);
    }
    let after = answer.response_json().milliseconds("/retry_after_ms");
    answer.check(NOUN, after)?;
    let event: Option<Box<RawValue>> = answer.parse();
    let Some((sender, text)) = event.and_then(|event| quoted(&event)) else {
        return Ok(None);
    };
    let by = match sender.as_str() {
        sender if sender == me => QuotedAuthor::Bot,
        sender if sender == person => QuotedAuthor::Person,
        _ => QuotedAuthor::Other,
    };
    Ok(Quote::of(by, display_name(&sender, &sender), &text))
}
