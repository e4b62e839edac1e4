//! The reactions that serve as buttons.

use super::{DATA, PAGES, RELATED, check, put, read, transaction};
use crate::error::Failure;
use crate::receivers::Source;
use crate::receivers::buttons::Button;
use crate::receivers::matrix::client_api::{not_matrix, request, request_below, send, source_user};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
struct Related {
    chunk: Vec<Value>,
    /// Absent on the last page.
    next_batch: Option<String>,
}

/// A reaction of the bot.
pub(super) struct Own {
    event_id: String,
    pub(super) key: String,
    pub(super) data: String,
}

/// Returns the reactions of the bot to an event, except removed ones.
pub(super) async fn own_reactions(
    source: Source<'_>,
    room: &str,
    target: &str,
    me: &str,
) -> Result<Vec<Own>, Failure> {
    let path = [
        "rooms",
        room,
        "relations",
        target,
        "m.annotation",
        "m.reaction",
    ];
    let mut own = Vec::new();
    let mut from: Option<String> = None;
    for _ in 0..PAGES {
        let request = request_below(source, "v1", Method::GET, &path)?.query(&RELATED);
        let request = match &from {
            Some(from) => request.query(&[("from", from)]),
            None => request,
        };
        let answer = read(source, request).await?;
        if matches!(answer.status.as_u16(), 403 | 404) {
            break;
        }
        check(&answer)?;
        let related: Related = answer.parse().ok_or_else(not_matrix)?;
        own.extend(related.chunk.iter().filter_map(|event| own_of(event, me)));
        match related.next_batch {
            Some(next) if from.as_ref() != Some(&next) => from = Some(next),
            _ => break,
        }
    }
    Ok(own)
}

fn own_of(event: &Value, me: &str) -> Option<Own> {
    let data = event.get("content")?.get(DATA)?.as_str()?;
    (text(event, "/sender") == me).then(|| Own {
        event_id: text(event, "/event_id").to_owned(),
        key: text(event, "/content/m.relates_to/key").to_owned(),
        data: data.to_owned(),
    })
}

pub(super) fn text<'a>(value: &'a Value, at: &str) -> &'a str {
    value
        .pointer(at)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Reacts with each label. The server refuses a reaction that already exists.
pub(super) async fn react(
    source: Source<'_>,
    (room, message_id): (&str, &str),
    buttons: &[Vec<Button>],
) -> Result<(), Failure> {
    for button in buttons.iter().flatten() {
        let mut content = json!({ "m.relates_to": {
            "rel_type": "m.annotation", "event_id": message_id, "key": button.label,
        } });
        put(&mut content, DATA, Value::from(&*button.data));
        let id = transaction(&[room, message_id, &button.data]);
        let path = ["rooms", room, "send", "m.reaction", &id];
        let answer = send(source, request(source, Method::PUT, &path)?.json(&content)).await?;
        if answer.response_json().text("/errcode") != "M_DUPLICATE_ANNOTATION" {
            check(&answer)?;
        }
    }
    Ok(())
}

pub(super) async fn remove_reactions(
    source: Source<'_>,
    room: &str,
    message_id: &str,
) -> Result<(), Failure> {
    let me = source_user(source).await?;
    for own in own_reactions(source, room, message_id, &me).await? {
        let id = transaction(&[room, &own.event_id]);
        let path = ["rooms", room, "redact", &own.event_id, &id];
        let answer = send(
            source,
            request(source, Method::PUT, &path)?.json(&json!({})),
        )
        .await?;
        check(&answer)?;
    }
    Ok(())
}
