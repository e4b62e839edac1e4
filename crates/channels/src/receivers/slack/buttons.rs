//! Buttons of Block Kit (<https://docs.slack.dev/reference/block-kit/blocks/actions-block>). A press arrives as the
//! payload `block_actions` (<https://docs.slack.dev/reference/interaction-payloads/block_actions-payload>).

mod blocks;
mod press;

use super::NOUN;
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
use blocks::{are_stored, blocks, section};
use futures_util::future::BoxFuture;
use gatehouse_domain::visible::Visible;
use gatehouse_outbound::AddressSource;
pub(super) use press::press_of;
use serde_json::{Value, json};

/// The longest text of a section, with its escapes
/// (<https://docs.slack.dev/reference/block-kit/composition-objects/text-object>).
const LIMIT: Limit = Limit::Utf16(3000);
/// The text of notifications, which do not show the blocks.
const SUMMARY: &str = "A tool call waits for approval.";

#[derive(Debug)]
pub(crate) struct SlackButtons;

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
            // The name of a channel, or the ID of a channel that other people read.
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

    /// Replaces all blocks of the question. The blocks in the press may be older than the message, so only the call is
    /// taken from them.
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
