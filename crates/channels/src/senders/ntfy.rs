//! `ntfy`: publishes a message to a topic (<https://docs.ntfy.sh/publish/>).

use super::{About, Extra, Part, Sender};
use crate::error::Failure;
use crate::fields::{FieldKind, FieldSpec};
use crate::outgoing::MessageLink;
use crate::split::Limit;
use crate::vendor::join;
use futures_util::future::BoxFuture;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};
use std::fmt::Write as _;

const BASE_URL: &str = "https://ntfy.sh";
/// The maximum number of action buttons. The server refuses a message with more
/// (<https://docs.ntfy.sh/publish/#action-buttons>).
const MAX_ACTIONS: usize = 3;

#[derive(Debug)]
pub(crate) struct Ntfy;

static ABOUT: About = About {
    kind: "ntfy",
    label: "ntfy",
    description: "Push notifications to phones and desktops, through ntfy.sh or your own server.",
    noun: "ntfy",
    fields: &[
        FieldSpec::new(
            "url",
            "Server",
            FieldKind::Url,
            "Your own server; https://ntfy.sh if empty.",
        ),
        FieldSpec::new(
            "topic",
            "Topic",
            FieldKind::Text,
            "The topic’s name. If you leave this empty, only webhooks that set a topic can send messages. On a public \
             server, anyone who knows the topic can read the messages.",
        )
        .per_message(),
        FieldSpec::new(
            "token",
            "Access token",
            FieldKind::Text,
            "Begins with tk_. Only needed if the server requires a token.",
        )
        .secret(),
    ],
    extra: &[
        Extra {
            name: "topic",
            help: "The topic, instead of the channel’s.",
        },
        Extra {
            name: "title",
            help: "The title; `subject` is an alias.",
        },
        Extra {
            name: "priority",
            help: "1 to 5, or min, low, default, high, max.",
        },
        Extra {
            name: "tags",
            help: "Tags, separated by commas.",
        },
    ],
    takes_json: false,
    built_in: false,
    calls_any_address: false,
};

impl Sender for Ntfy {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    /// Returns the limit of 4,096 bytes. The server turns a longer message into an attachment.
    fn limit(&self) -> Limit {
        Limit::Bytes(4096)
    }

    fn send<'a>(&'a self, part: Part<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let topic = part.need("topic")?;
            let url = join(part.field("url").unwrap_or(BASE_URL), &[&topic])?;
            let message = part.message;
            let title = message.extra("title").or_else(|| message.extra("subject"));
            let headers = [
                ("title", title),
                ("priority", message.extra("priority")),
                ("tags", message.extra("tags")),
            ];
            let mut request = part
                .client()
                .post(url)
                .header("content-type", "text/plain; charset=utf-8")
                .body(part.text.to_owned());
            for (name, value) in headers {
                // The server decodes these headers as UTF-8.
                let value = value.map(|text| HeaderValue::from_bytes(text.as_bytes()));
                if let Some(Ok(value)) = value {
                    request = request.header(name, value);
                }
            }
            if let Some(actions) = actions(part.links) {
                request = request.header("actions", actions);
            }
            if let Some(token) = part.secret("token") {
                request = request.bearer_auth(token);
            }
            part.call(request).await?.check(ABOUT.noun, None)
        })
    }
}

/// Returns the value of the header `Actions`: a JSON array of buttons that open links. Links beyond the limit are
/// omitted, because the text contains the same information.
fn actions(links: &[MessageLink<'_>]) -> Option<HeaderValue> {
    if links.is_empty() {
        return None;
    }
    let action =
        |link: &MessageLink<'_>| json!({ "action": "view", "label": link.label, "url": link.url });
    let actions: Value = links.iter().take(MAX_ACTIONS).map(action).collect();
    HeaderValue::from_str(&in_ascii(&actions.to_string())).ok()
}

/// Returns the same JSON with characters outside ASCII as escapes, because proxies may refuse other
/// headers.
fn in_ascii(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            ascii.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(ascii, "\\u{unit:04x}");
        }
    }
    ascii
}
