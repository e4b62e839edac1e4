//! Pressed buttons.

use super::blocks::is_call;
use crate::receivers::buttons::Press;
use crate::receivers::slack::events::Envelope;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Pressed {
    #[serde(rename = "type")]
    kind: String,
    user: Id,
    channel: Option<Id>,
    container: Container,
    message: Option<Message>,
    #[serde(default)]
    actions: Vec<Action>,
}

#[derive(Deserialize)]
struct Id {
    id: String,
}

#[derive(Deserialize)]
struct Container {
    #[serde(rename = "type")]
    kind: String,
    message_ts: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    blocks: Vec<Value>,
}

#[derive(Deserialize)]
struct Action {
    value: Option<String>,
}

/// Returns the press of an envelope, if a button in a message was pressed.
pub(in super::super) fn press_of(envelope: &Envelope) -> Option<Press> {
    if envelope.kind != "interactive" {
        return None;
    }
    let pressed: Pressed = envelope.payload()?;
    if pressed.kind != "block_actions" || pressed.container.kind != "message" {
        return None;
    }
    let chat = pressed.channel?.id;
    let mut blocks = pressed.message?.blocks;
    blocks.retain(is_call);
    Some(Press {
        id: envelope.envelope_id.clone()?,
        person: pressed.user.id,
        // The IDs of direct messages begin with D.
        is_private: chat.starts_with('D'),
        chat,
        message_id: pressed.container.message_ts?,
        data: pressed.actions.into_iter().next()?.value?,
        shown: Some(Value::Array(blocks).to_string()),
    })
}
