//! Message components (<https://docs.discord.com/developers/components/reference#button>). A press arrives as the event
//! `INTERACTION_CREATE` (<https://docs.discord.com/developers/interactions/receiving-and-responding>).

mod press;

use super::{NOUN, call, call_with};
use crate::error::Failure;
use crate::markup::Markup;
use crate::receivers::Source;
use crate::receivers::buttons::{
    Button, Buttons, Note, Press, Question, QuestionText, SentQuestion, unescaped,
};
use crate::split::Limit;
use crate::vendor::Answer;
use futures_util::future::BoxFuture;
use gatehouse_domain::visible::{self, Visible};
pub(super) use press::press_of;
use reqwest::Method;
use serde_json::{Value, json};

/// The longest content. Counts UTF-16 code units, of which there are at least as many as characters.
const LIMIT: Limit = Limit::Utf16(2000);
const FENCE: &str = "```";
/// The type of interactions with components.
const COMPONENT: u32 = 3;
/// The context of interactions in the direct messages of the bot.
const BOT_DM: u32 = 1;
/// The flag of a message whose links have no previews.
const SUPPRESS_EMBEDS: u32 = 1 << 2;
/// The flag of a message that only its addressee sees.
const EPHEMERAL: u32 = 1 << 6;

#[derive(Debug)]
pub(crate) struct DiscordButtons;

/// Returns the call as a code block, in which Discord interprets nothing.
fn content(text: &QuestionText) -> String {
    let call = format!("{FENCE}\n{}\n{FENCE}", text.call);
    text.with(&call, &Markup::Discord.escape(&text.rest))
}

fn components(rows: &[Vec<Button>]) -> Value {
    // Gray buttons suggest no answer.
    let button = |button: &Button| json!({ "type": 2, "style": 2, "label": button.label, "custom_id": button.data });
    let row = |row: &Vec<Button>| json!({ "type": 1, "components": row.iter().map(button).collect::<Value>() });
    rows.iter().map(row).collect()
}

impl Buttons for DiscordButtons {
    fn fits(&self, text: &QuestionText) -> bool {
        LIMIT.admits(&content(text))
    }

    /// Escapes three backquotes, which would end the code block, and blank lines at the edges,
    /// which Discord does not show.
    fn escape<'a>(&self, text: &'a str) -> Visible<'a> {
        let ends_block = text.contains(FENCE);
        let is_cut = text.starts_with('\n') || text.ends_with('\n');
        if !ends_block && !is_cut {
            return unescaped(text);
        }
        visible::escaping(text, |c| ends_block && c == '`' || is_cut && c == '\n')
    }

    fn person_of<'a>(
        &'a self,
        source: Source<'a>,
        chat: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(async move {
            let answer = call(source, Method::GET, &["channels", chat]).await?;
            check(&answer)?;
            let found = answer.response_json();
            let person = found.text("/recipients/0/id");
            // The type of direct messages, which have one recipient.
            let is_direct =
                found.number("/type") == Some(1) && found.text("/recipients/1/id").is_empty();
            Ok((is_direct && !person.is_empty()).then(|| person.to_owned()))
        })
    }

    fn ask<'a>(
        &'a self,
        source: Source<'a>,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<SentQuestion, Failure>> {
        Box::pin(async move {
            let content = content(question.text);
            let data = question.buttons.iter().flatten().next();
            let nonce = data.map(|button| button.data.chars().take(25).collect::<String>());
            let body = json!({
                "content": content,
                "components": components(question.buttons),
                "allowed_mentions": { "parse": [] },
                "flags": SUPPRESS_EMBEDS,
                // Another attempt sends the same nonce, so Discord posts the message once.
                "nonce": nonce,
                "enforce_nonce": true,
            });
            let path = ["channels", question.chat, "messages"];
            let answer = call_with(source, Method::POST, &path, &body).await?;
            check(&answer)?;
            let sent = answer.response_json();
            Ok(SentQuestion {
                message_id: sent.text("/id").to_owned(),
                is_exact: sent.text("/content") == content,
            })
        })
    }

    fn offer<'a>(
        &'a self,
        source: Source<'a>,
        at: (&'a str, &'a str),
        _text: &'a QuestionText,
        buttons: &'a [Vec<Button>],
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(edit(
            source,
            at,
            json!({ "components": components(buttons) }),
        ))
    }

    fn close<'a>(
        &'a self,
        source: Source<'a>,
        at: (&'a str, &'a str),
        text: &'a QuestionText,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        let body = json!({
            "content": content(text),
            "components": [],
            "allowed_mentions": { "parse": [] },
            "flags": SUPPRESS_EMBEDS,
        });
        Box::pin(edit(source, at, body))
    }

    fn retire<'a>(
        &'a self,
        source: Source<'a>,
        press: &'a Press,
        _result: &'a str,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        let at = (&*press.chat, &*press.message_id);
        Box::pin(edit(source, at, json!({ "components": [] })))
    }

    /// Answers the interaction. Discord shows an error to the person unless this happens within
    /// three seconds.
    fn acknowledge<'a>(
        &'a self,
        source: Source<'a>,
        press: &'a Press,
        note: Note<'a>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let (id, token) = press.id.split_once(':').unwrap_or_default();
            let body = if note.is_shown {
                // The response type for a message that changes later.
                json!({ "type": 6 })
            } else {
                json!({ "type": 4, "data": {
                    "content": note.text,
                    "flags": EPHEMERAL,
                    "allowed_mentions": { "parse": [] },
                } })
            };
            let path = ["interactions", id, token, "callback"];
            check(&call_with(source, Method::POST, &path, &body).await?)
        })
    }
}

async fn edit(
    source: Source<'_>,
    (chat, message): (&str, &str),
    body: Value,
) -> Result<(), Failure> {
    let path = ["channels", chat, "messages", message];
    check(&call_with(source, Method::PATCH, &path, &body).await?)
}

fn check(answer: &Answer) -> Result<(), Failure> {
    answer.check(NOUN, answer.response_json().seconds("/retry_after"))
}

#[cfg(test)]
mod tests;
