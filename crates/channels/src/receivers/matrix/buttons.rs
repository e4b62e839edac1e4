//! Reactions in place of buttons (<https://spec.matrix.org/latest/client-server-api/#event-annotations-and-reactions>).
//! The bot reacts to its question with each label, so a person only needs to tap. The decision of a press is stored in
//! the bot's own reaction. A copy of a question has no reactions of the bot, so it cannot be answered.

mod reactions;
mod send;

use super::NOUN;
use super::client_api::{not_matrix, request, source_user};
use super::events::Reaction;
use crate::error::Failure;
use crate::receivers::Source;
use crate::receivers::buttons::{
    Button, Buttons, Note, Press, Question, QuestionText, SentQuestion, unescaped,
};
use crate::split::Limit;
use crate::vendor::{Answer, Limits, call_within};
use futures_util::future::BoxFuture;
use gatehouse_domain::visible::Visible;
use reactions::{own_reactions, react, remove_reactions, text};
use reqwest::{Method, RequestBuilder};
pub(super) use send::send_notice;
use send::{check, message, put, send_event, transaction};
use serde_json::{Value, json};
use std::time::Duration;

/// The limit of a question. An edit contains the text twice, and an event has at most 65,536 bytes.
const LIMIT: Limit = Limit::JsonBytes(28_000);
/// The query for related events, oldest first. The bot's own reactions are the oldest.
const RELATED: [(&str, &str); 2] = [("dir", "f"), ("limit", "20")];
/// The maximum number of pages of reactions that are read.
const PAGES: usize = 5;
/// The limits of answers. An event has at most 65,536 bytes, and a server may escape each of its
/// characters.
const ANSWERS: Limits = Limits {
    timeout: Duration::from_secs(10),
    bytes: 2 * 1024 * 1024,
};
/// The field of the bot's reaction with the data that a press reports.
const DATA: &str = "gatehouse.button";
/// The type of messages that programs must not answer.
const NOTICE: &str = "m.notice";
/// The field that marks a question.
const MARK: &str = "gatehouse.question";

#[derive(Debug)]
pub(crate) struct MatrixButtons;

/// Returns the press for a reaction to a question of the bot in a room that only the person and the bot read. Returns
/// `None` if the reaction has no meaning.
pub(super) async fn press_of(
    source: Source<'_>,
    room: &str,
    reaction: Reaction,
    me: &str,
) -> Result<Option<Press>, Failure> {
    let own = own_reactions(source, room, &reaction.target, me).await?;
    let data = match own.iter().find(|own| own.key == reaction.key) {
        Some(own) => own.data.clone(),
        // The reaction is not one of the question's choices.
        None if !own.is_empty() => return Ok(None),
        None if is_question(source, room, &reaction.target, me).await? => String::new(),
        None => return Ok(None),
    };
    Ok(Some(Press {
        id: reaction.event_id,
        person: reaction.sender,
        chat: room.to_owned(),
        is_private: true,
        message_id: reaction.target,
        data,
        shown: None,
    }))
}

/// Sends a request whose answer contains events.
async fn read(source: Source<'_>, request: RequestBuilder) -> Result<Answer, Failure> {
    let inner = source.inner;
    call_within(&inner.outbound, &*inner.clock, NOUN, request, ANSWERS).await
}

async fn event(source: Source<'_>, room: &str, id: &str) -> Result<Option<Value>, Failure> {
    let request = request(source, Method::GET, &["rooms", room, "event", id])?;
    let answer = read(source, request).await?;
    if matches!(answer.status.as_u16(), 403 | 404) {
        return Ok(None);
    }
    check(&answer)?;
    answer.parse().map(Some).ok_or_else(not_matrix)
}

async fn is_question(source: Source<'_>, room: &str, id: &str, me: &str) -> Result<bool, Failure> {
    let event = event(source, room, id).await?;
    Ok(event.is_some_and(|event| {
        let marked = event.get("content").and_then(|it| it.get(MARK));
        text(&event, "/sender") == me && marked.is_some()
    }))
}

impl Buttons for MatrixButtons {
    fn fits(&self, text: &QuestionText) -> bool {
        LIMIT.admits(&text.whole())
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
            let me = source_user(source).await?;
            super::members::other_member(source, chat, &me).await
        })
    }

    fn ask<'a>(
        &'a self,
        source: Source<'a>,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<SentQuestion, Failure>> {
        Box::pin(async move {
            let body = question.text.whole();
            let mut content = message("m.text", &body);
            put(&mut content, MARK, json!({}));
            // Every attempt uses the same transaction ID, so the server stores one message.
            let data = question.buttons.iter().flatten().map(|it| &*it.data);
            let id = transaction(&[question.chat, &data.collect::<String>()]);
            let message_id =
                send_event(source, question.chat, "m.room.message", &id, &content).await?;
            let stored = event(source, question.chat, &message_id).await?;
            let is_exact = stored.is_some_and(|stored| {
                text(&stored, "/content/body") == body
                    && text(&stored, "/content/msgtype") == "m.text"
                    && stored.pointer("/content/formatted_body").is_none()
            });
            react(source, (question.chat, &message_id), question.buttons).await?;
            Ok(SentQuestion {
                message_id,
                is_exact,
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
        Box::pin(react(source, at, buttons))
    }

    fn close<'a>(
        &'a self,
        source: Source<'a>,
        (room, message_id): (&'a str, &'a str),
        text: &'a QuestionText,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let body = text.whole();
            // Programs that do not support edits show this text.
            let mut content = message("m.text", &format!("* {body}"));
            let mut new = message("m.text", &body);
            put(&mut new, MARK, json!({}));
            put(&mut content, "m.new_content", new);
            let relation = json!({ "rel_type": "m.replace", "event_id": message_id });
            put(&mut content, "m.relates_to", relation);
            let id = transaction(&[room, message_id, &body]);
            send_event(source, room, "m.room.message", &id, &content).await?;
            remove_reactions(source, room, message_id).await
        })
    }

    fn retire<'a>(
        &'a self,
        source: Source<'a>,
        press: &'a Press,
        _result: &'a str,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(remove_reactions(source, &press.chat, &press.message_id))
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
            let mut content = message(NOTICE, note.text);
            let relation = json!({ "m.in_reply_to": { "event_id": press.message_id } });
            put(&mut content, "m.relates_to", relation);
            let id = transaction(&[&press.chat, &press.id, note.text]);
            send_event(source, &press.chat, "m.room.message", &id, &content).await?;
            Ok(())
        })
    }
}
