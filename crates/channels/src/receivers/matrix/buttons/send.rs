//! Events that the account sends for a question.

use super::NOTICE;
use crate::error::Failure;
use crate::receivers::Source;
use crate::receivers::matrix::NOUN;
use crate::receivers::matrix::client_api::{not_matrix, request, send};
use crate::vendor::Answer;
use data_encoding::HEXLOWER;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Sends a notice, which programs do not answer. Within a short time, at most one notice with this text arrives in a
/// room.
pub(in super::super) async fn send_notice(
    source: Source<'_>,
    room: &str,
    body: &str,
) -> Result<(), Failure> {
    let id = transaction(&[room, body]);
    send_event(source, room, "m.room.message", &id, &message(NOTICE, body)).await?;
    Ok(())
}

pub(super) fn message(kind: &str, body: &str) -> Value {
    json!({ "msgtype": kind, "body": body, "m.mentions": {} })
}

pub(super) fn put(content: &mut Value, name: &str, value: Value) {
    if let Some(fields) = content.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

/// Returns an ID that is the same for each attempt at one request.
pub(super) fn transaction(parts: &[&str]) -> String {
    HEXLOWER.encode(&Sha256::digest(json!(parts).to_string()))
}

/// Sends an event and returns its ID.
pub(super) async fn send_event(
    source: Source<'_>,
    room: &str,
    kind: &str,
    id: &str,
    content: &Value,
) -> Result<String, Failure> {
    let path = ["rooms", room, "send", kind, id];
    let request = request(source, Method::PUT, &path)?.json(content);
    let answer = send(source, request).await?;
    check(&answer)?;
    match answer.response_json().text("/event_id") {
        "" => Err(not_matrix()),
        id => Ok(id.to_owned()),
    }
}

pub(super) fn check(answer: &Answer) -> Result<(), Failure> {
    let body = answer.response_json();
    let after = body.milliseconds("/retry_after_ms");
    match body.text("/errcode") {
        "M_LIMIT_EXCEEDED" => Err(answer.later(NOUN, after)),
        _ => answer.check(NOUN, after),
    }
}
