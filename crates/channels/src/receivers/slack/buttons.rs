//! Buttons of Block Kit (<https://docs.slack.dev/reference/block-kit/blocks/actions-block>). A press arrives as the
//! payload `block_actions` (<https://docs.slack.dev/reference/interaction-payloads/block_actions-payload>).

use super::NOUN;
use super::events::Envelope;
use crate::error::Failure;
use crate::markup::Markup;
use crate::receivers::Source;
use crate::receivers::buttons::{
    Button, Buttons, Note, Press, Question, QuestionText, SentQuestion, unescaped,
};
use crate::senders::slack::{BASE_URL, verdict};
use crate::split::Limit;
use crate::vendor::{Answer, call, join_default};
use futures_util::future::BoxFuture;
use gatehouse_domain::visible::Visible;
use gatehouse_outbound::AddressSource;
use serde::Deserialize;
use serde_json::{Value, json};

/// The longest text of a section, with its escapes
/// (<https://docs.slack.dev/reference/block-kit/composition-objects/text-object>).
const LIMIT: Limit = Limit::Utf16(3000);
/// What notifications show instead of the blocks.
const SUMMARY: &str = "A tool call waits for approval.";

#[derive(Debug)]
pub(crate) struct SlackButtons;

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

/// The press of an envelope, if it is one of a button in a message.
pub(super) fn press_of(envelope: &Envelope) -> Option<Press> {
    if envelope.kind != "interactive" {
        return None;
    }
    let pressed: Pressed = envelope.payload()?;
    if pressed.kind != "block_actions" || pressed.container.kind != "message" {
        return None;
    }
    let chat = pressed.channel?.id;
    let mut blocks = pressed.message?.blocks;
    blocks.retain(|block| block.get("type").and_then(Value::as_str) != Some("actions"));
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

/// A section. Slack decodes `&amp;`, `&lt;` and `&gt;` in both kinds of text and nothing else
/// (<https://docs.slack.dev/messaging/formatting-message-text#escaping>). In `plain_text` it interprets no markup, and
/// without `emoji` no names of emoji.
fn section(text: &str, is_plain: bool) -> Value {
    let text = Markup::Slack.escape(text);
    let text = if is_plain {
        json!({ "type": "plain_text", "text": text, "emoji": false })
    } else {
        json!({ "type": "mrkdwn", "text": text })
    };
    json!({ "type": "section", "text": text })
}

fn blocks(text: &QuestionText, rows: &[Vec<Button>]) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !text.call.is_empty() {
        blocks.push(section(&text.call, true));
    }
    blocks.push(section(&text.rest, false));
    let button = |button: &Button| {
        json!({
            "type": "button",
            "text": { "type": "plain_text", "text": button.label },
            "action_id": button.data,
            "value": button.data,
        })
    };
    let elements: Vec<Value> = rows.iter().flatten().map(button).collect();
    if !elements.is_empty() {
        blocks.push(json!({ "type": "actions", "elements": elements }));
    }
    blocks
}

impl Buttons for SlackButtons {
    fn fits(&self, text: &QuestionText) -> bool {
        let fits = |part: &str| LIMIT.admits(&Markup::Slack.escape(part));
        fits(&text.call) && fits(&text.rest)
    }

    fn escape<'a>(&self, text: &'a str) -> Visible<'a> {
        unescaped(text)
    }

    fn person_of<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(async move {
            // The name of a channel, or the ID of one that others read.
            if !chat.starts_with('D') {
                return Ok(None);
            }
            let form = [("channel", chat)];
            let request = request(source, "conversations.info")?.form(&form);
            let found = send(source, request).await?.response_json();
            let person = found.text("/channel/user");
            let is_direct = found.is_true("/ok") && found.is_true("/channel/is_im");
            Ok((is_direct && !person.is_empty()).then(|| person.to_owned()))
        })
    }

    fn ask<'a>(
        &'a self,
        source: Source<'a>,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<SentQuestion, Failure>> {
        Box::pin(async move {
            let blocks = blocks(question.text, question.buttons);
            let mut body = json!({
                "channel": question.chat,
                "text": SUMMARY,
                "blocks": blocks,
                "unfurl_links": false,
                "unfurl_media": false,
            });
            if let (Some(thread), Some(fields)) = (question.thread, body.as_object_mut()) {
                fields.insert("thread_ts".to_owned(), thread.into());
            }
            let answer = call_method(source, "chat.postMessage", &body).await?;
            let sent = answer.response_json();
            let stored = sent.text("/message/blocks/0/text/text");
            let is_plain = sent.text("/message/blocks/0/text/type") == "plain_text";
            Ok(SentQuestion {
                message_id: sent.text("/ts").to_owned(),
                is_exact: is_plain && stored == Markup::Slack.escape(&question.text.call),
            })
        })
    }

    fn offer<'a>(
        &'a self,
        source: Source<'a>,
        at: (&'a str, &'a str),
        text: &'a QuestionText,
        buttons: &'a [Vec<Button>],
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(update(source, at, blocks(text, buttons).into()))
    }

    fn close<'a>(
        &'a self,
        source: Source<'a>,
        at: (&'a str, &'a str),
        text: &'a QuestionText,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(update(source, at, blocks(text, &[]).into()))
    }

    /// An update replaces all blocks, so it repeats those that the press came with.
    fn retire<'a>(
        &'a self,
        source: Source<'a>,
        press: &'a Press,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let shown = press.shown.as_deref().unwrap_or_default();
            match serde_json::from_str::<Value>(shown) {
                Ok(blocks) if blocks.as_array().is_some_and(|it| !it.is_empty()) => {
                    update(source, (&press.chat, &press.message_id), blocks).await
                }
                _ => Ok(()),
            }
        })
    }

    fn acknowledge<'a>(
        &'a self,
        source: Source<'a>,
        press: &'a Press,
        note: Note<'a>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            if note.is_shown {
                return Ok(());
            }
            let body = json!({
                "channel": press.chat,
                "user": press.person,
                "text": Markup::Slack.escape(note.text),
            });
            call_method(source, "chat.postEphemeral", &body).await?;
            Ok(())
        })
    }
}

async fn update(
    source: Source<'_>,
    (chat, ts): (&str, &str),
    blocks: Value,
) -> Result<(), Failure> {
    let body = json!({ "channel": chat, "ts": ts, "text": SUMMARY, "blocks": blocks });
    call_method(source, "chat.update", &body).await?;
    Ok(())
}

fn request(source: Source<'_>, method: &str) -> Result<reqwest::RequestBuilder, Failure> {
    let base = source.field("base_url").unwrap_or(BASE_URL);
    let url = join_default(base, &["api"], &[method])?;
    let client = source.inner.outbound.client(AddressSource::Owner);
    Ok(client
        .post(url)
        .bearer_auth(source.need_secret("bot_token")?))
}

async fn send(source: Source<'_>, request: reqwest::RequestBuilder) -> Result<Answer, Failure> {
    let inner = source.inner;
    call(&inner.outbound, &*inner.clock, NOUN, request).await
}

async fn call_method(source: Source<'_>, method: &str, body: &Value) -> Result<Answer, Failure> {
    let answer = send(source, request(source, method)?.json(body)).await?;
    verdict(&answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(more: &Value) -> Option<Press> {
        let mut payload = json!({
            "type": "block_actions", "user": { "id": "U1" }, "channel": { "id": "D1" },
            "container": { "type": "message", "message_ts": "1.2", "channel_id": "D1" },
            "message": { "blocks": [{ "type": "section" }, { "type": "actions" }] },
            "actions": [{ "type": "button", "action_id": "a", "value": "x" }],
        });
        for (name, value) in more.as_object().unwrap() {
            payload[name] = value.clone();
        }
        let envelope =
            json!({ "type": "interactive", "envelope_id": "e1", "payload": payload }).to_string();
        press_of(&serde_json::from_str(&envelope).unwrap())
    }

    #[test]
    fn only_a_button_of_a_message_is_pressed_and_only_a_direct_message_is_private() {
        let pressed = press(&json!({})).unwrap();
        assert!(pressed.is_private);
        assert_eq!(
            pressed.shown.as_deref(),
            Some("[{\"type\":\"section\"}]"),
            "the buttons are left out"
        );
        for channel in ["C1", "G1"] {
            let press = press(&json!({ "channel": { "id": channel } })).unwrap();
            assert!(!press.is_private, "{channel}");
        }
        for more in [
            json!({ "type": "view_submission" }),
            json!({ "container": { "type": "view" } }),
            json!({ "channel": null }),
            json!({ "actions": [] }),
        ] {
            assert_eq!(press(&more), None, "{more}");
        }
    }

    #[test]
    fn the_limit_counts_the_escapes() {
        let fits = |call: String| {
            let rest = "rest".to_owned();
            SlackButtons.fits(&QuestionText { call, rest })
        };
        assert!(fits("a".repeat(3000)));
        assert!(!fits("a".repeat(3001)));
        assert!(fits("&".repeat(600)));
        assert!(!fits("&".repeat(600) + "a"));
    }
}
