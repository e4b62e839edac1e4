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
use crate::senders::slack::verdict;
use crate::split::Limit;
use crate::vendor::{Answer, call, join_default};
use crate::vendor_apis::slack::BASE_URL;
use futures_util::future::BoxFuture;
use gatehouse_domain::visible::Visible;
use gatehouse_outbound::AddressSource;
use serde::Deserialize;
use serde_json::{Value, json};

/// The longest text of a section, with its escapes
/// (<https://docs.slack.dev/reference/block-kit/composition-objects/text-object>).
const LIMIT: Limit = Limit::Utf16(3000);
/// The text of notifications, which do not show the blocks.
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

/// Whether a block of a question shows the call.
fn is_call(block: &Value) -> bool {
    let text = block.get("text").and_then(|text| text.get("type"));
    text.and_then(Value::as_str) == Some("plain_text")
}

/// Whether Slack stored the blocks of a question as they were sent. It writes `<` and `>` around links, and escapes
/// these characters elsewhere.
fn are_stored(sent: &[Value], stored: &Value) -> bool {
    let text = |block: &Value, at: &str| {
        let text = block.pointer(at).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let is_same = |(sent, stored): (&Value, &Value)| {
        let mut written = text(stored, "/text/text");
        if !is_call(sent) {
            written.retain(|c| !matches!(c, '<' | '>'));
        }
        ["/type", "/text/type"]
            .iter()
            .all(|at| text(sent, at) == text(stored, at))
            && text(sent, "/text/text") == written
    };
    let stored = stored.as_array().map(Vec::as_slice).unwrap_or_default();
    sent.len() == stored.len() && sent.iter().zip(stored).all(is_same)
}

/// A section. Slack decodes `&amp;`, `&lt;` and `&gt;` in both kinds of text and nothing else
/// (<https://docs.slack.dev/messaging/formatting-message-text#escaping>). In `plain_text` it does not interpret markup.
/// If `emoji` is false, it does not interpret names of emoji.
fn section(text: &str, is_plain: bool) -> Value {
    let text = Markup::Slack.escape(text);
    if !is_plain {
        return json!({ "type": "section", "text": { "type": "mrkdwn", "text": text } });
    }
    let text = json!({ "type": "plain_text", "text": text, "emoji": false });
    // Otherwise, a part of a long text is shown only after a click.
    json!({ "type": "section", "text": text, "expand": true })
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
            let stored: Option<Value> = answer.parse();
            let stored = stored.as_ref().and_then(|it| it.pointer("/message/blocks"));
            Ok(SentQuestion {
                message_id: answer.response_json().text("/ts").to_owned(),
                is_exact: stored.is_some_and(|stored| are_stored(&blocks, stored)),
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
        Box::pin(async move {
            let blocks = blocks(text, buttons);
            let answer = update(source, at, SUMMARY, &blocks).await?;
            let stored: Option<Value> = answer.parse();
            // The response may omit the blocks.
            match stored.as_ref().and_then(|it| it.pointer("/message/blocks")) {
                Some(stored) if !are_stored(&blocks, stored) => {
                    Err(Failure::refused("Slack shows a different text."))
                }
                _ => Ok(()),
            }
        })
    }

    fn close<'a>(
        &'a self,
        source: Source<'a>,
        at: (&'a str, &'a str),
        text: &'a QuestionText,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let summary = Markup::Slack.escape(&text.rest);
            update(source, at, &summary, &blocks(text, &[])).await?;
            Ok(())
        })
    }

    /// An update replaces all blocks. The blocks in the press may be older than the message, so only the call is
    /// repeated.
    fn retire<'a>(
        &'a self,
        source: Source<'a>,
        press: &'a Press,
        result: &'a str,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let shown = press.shown.as_deref().unwrap_or_default();
            let mut blocks: Vec<Value> = serde_json::from_str(shown).unwrap_or_default();
            blocks.push(section(result, false));
            let at = (&*press.chat, &*press.message_id);
            update(source, at, &Markup::Slack.escape(result), &blocks).await?;
            Ok(())
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
    summary: &str,
    blocks: &[Value],
) -> Result<Answer, Failure> {
    let body = json!({ "channel": chat, "ts": ts, "text": summary, "blocks": blocks });
    call_method(source, "chat.update", &body).await
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
mod tests;
