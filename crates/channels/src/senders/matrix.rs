//! `matrix`: a text message to a room
//! (<https://spec.matrix.org/latest/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid>). The message
//! is plain text with an empty list of mentions, so it notifies no one. An answer in a group is a reply
//! (<https://spec.matrix.org/latest/client-server-api/#rich-replies>).

use super::{About, Extra, Part, Sender};
use crate::error::Failure;
use crate::fields::{FieldKind, FieldSpec, receiving_agent, receiving_switch, speaking_switch};
use crate::markup::Markup;
use crate::receivers::{Receiver, matrix};
use crate::split::Limit;
use crate::vendor::{Answer, join};
use futures_util::future::BoxFuture;
use serde_json::json;

#[derive(Debug)]
pub(crate) struct Matrix;

static ABOUT: About = About {
    kind: "matrix",
    label: "Matrix",
    description: "Posts to a Matrix room.",
    noun: "Matrix",
    fields: &[
        FieldSpec::new(
            "homeserver",
            "Homeserver",
            FieldKind::Url,
            "The URL of the homeserver, such as https://matrix.example.com.",
        )
        .required(),
        FieldSpec::new(
            "access_token",
            "Access token",
            FieldKind::Text,
            "The token of the user that posts. This user must have joined the room.",
        )
        .secret()
        .required(),
        FieldSpec::new(
            "room_id",
            "Room ID",
            FieldKind::Text,
            "Begins with an exclamation mark, such as !abc:example.com.",
        ),
        receiving_switch(),
        receiving_agent(),
        speaking_switch(),
    ],
    extra: &[Extra {
        name: "room_id",
        help: "Another room.",
    }],
    takes_json: false,
    built_in: false,
    calls_any_address: false,
};

impl Sender for Matrix {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn markup(&self) -> Markup {
        Markup::Matrix
    }

    fn receiver(&self) -> Option<&'static dyn Receiver> {
        Some(&matrix::RECEIVER)
    }

    /// Returns the limit. An event has at most 65,536 bytes of JSON. The rest is reserved for data that the server
    /// adds.
    fn limit(&self) -> Limit {
        Limit::JsonBytes(60_000)
    }

    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let base = part
                .field("homeserver")
                .ok_or_else(|| Failure::incomplete("homeserver", "the channel has none"))?;
            let room = part.need("room_id")?;
            let (send, transaction) = ("m.room.message", part.part_id());
            let path = [
                "_matrix",
                "client",
                "v3",
                "rooms",
                &room,
                "send",
                send,
                &transaction,
            ];
            let mut body = json!({
                "msgtype": "m.text",
                "body": part.text,
                "m.mentions": {},
            });
            let message = part.reply_to();
            let replied = message.as_deref().and_then(matrix::replied_event);
            if let (Some(event), Some(fields)) = (replied, body.as_object_mut()) {
                let reply = json!({ "m.in_reply_to": { "event_id": event } });
                fields.insert("m.relates_to".to_owned(), reply);
            }
            let request = part
                .client()
                .put(join(base, &path)?)
                .bearer_auth(part.need_secret("access_token")?)
                .json(&body);
            verdict(&part.call(request).await?)
        })
    }
}

pub(crate) fn verdict(answer: &Answer) -> Result<(), Failure> {
    let response_json = answer.response_json();
    let after = response_json.milliseconds("/retry_after_ms");
    let sentence = match response_json.text("/errcode") {
        "M_LIMIT_EXCEEDED" => return Err(answer.later(ABOUT.noun, after)),
        "M_FORBIDDEN" => {
            "The Matrix user may not write to this room. Check that the user has joined it."
        }
        "M_UNKNOWN_TOKEN" | "M_MISSING_TOKEN" => "Matrix does not accept the access token.",
        _ => return answer.check(ABOUT.noun, after),
    };
    Err(Failure::refused(sentence))
}
