//! Inline keyboards (<https://core.telegram.org/bots/api#inlinekeyboardmarkup>). A press arrives as a `callback_query`.

use super::api::not_the_api;
use super::updates::CallbackQuery;
use super::{NOUN, call};
use crate::error::Failure;
use crate::receivers::Source;
use crate::receivers::buttons::{
    Button, Buttons, Note, Press, Question, QuestionText, SentQuestion,
};
use crate::senders::telegram::{LIMIT, verdict, without_preview};
use crate::vendor::Answer;
use crate::vendor_apis::telegram::number_or_text;
use futures_util::future::BoxFuture;
use gatehouse_domain::visible::{self, Visible};
use serde_json::{Value, json};

/// The longest text of `answerCallbackQuery`, in characters.
const MAX_NOTE_CHARS: usize = 200;

#[derive(Debug)]
pub(crate) struct TelegramButtons;

/// Returns the press of a button in a message of the bot.
pub(super) fn press_of(query: CallbackQuery) -> Option<Press> {
    let message = query.message?;
    let person = query.from.id.to_string();
    let chat = message.chat.id.to_string();
    Some(Press {
        id: query.id,
        is_private: message.chat.kind == "private" && chat == person,
        person,
        chat,
        message_id: message.message_id.to_string(),
        data: query.data?,
        shown: None,
    })
}

/// Returns whether Telegram removes the character from messages (`clean_input_string` in
/// <https://github.com/tdlib/td/blob/master/td/telegram/misc.cpp>). Characters that are escaped anyway are not
/// included.
const fn is_removed(c: char) -> bool {
    matches!(c, '\u{30a}' | '\u{333}' | '\u{33f}')
}

fn keyboard(rows: &[Vec<Button>]) -> Value {
    let button = |button: &Button| json!({ "text": button.label, "callback_data": button.data });
    let row = |row: &Vec<Button>| row.iter().map(button).collect::<Value>();
    json!({ "inline_keyboard": rows.iter().map(row).collect::<Value>() })
}

impl Buttons for TelegramButtons {
    fn fits(&self, text: &QuestionText) -> bool {
        LIMIT.admits(&text.whole())
    }

    fn escape<'a>(&self, text: &'a str) -> Visible<'a> {
        visible::escaping(text, is_removed)
    }

    fn chat_of(&self, person: &str) -> Option<String> {
        // A private chat has the same ID as its person.
        person_of(person)
    }

    fn person_of<'a>(
        &'a self,
        _source: Source<'a>,
        chat: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(async move { Ok(person_of(chat)) })
    }

    fn ask<'a>(
        &'a self,
        source: Source<'a>,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<SentQuestion, Failure>> {
        Box::pin(async move {
            let mut body = json!({
                "chat_id": number_or_text(question.chat.to_owned()),
                "text": question.text.whole(),
                "link_preview_options": without_preview(),
                "reply_markup": keyboard(question.buttons),
            });
            if let (Some(thread), Some(fields)) = (question.thread, body.as_object_mut()) {
                let thread = number_or_text(thread.to_owned());
                fields.insert("message_thread_id".to_owned(), thread);
            }
            let answer = call(source, "sendMessage", &body).await?;
            verdict(&answer)?;
            let sent = answer.response_json();
            let id = sent.number("/result/message_id").ok_or_else(not_the_api)?;
            Ok(SentQuestion {
                message_id: id.to_string(),
                is_exact: sent.text("/result/text") == question.text.whole(),
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
        Box::pin(async move {
            let more = json!({ "reply_markup": keyboard(buttons) });
            edit(source, "editMessageReplyMarkup", at, more).await
        })
    }

    /// Closes a question. Without `reply_markup`, both methods remove the buttons.
    fn close<'a>(
        &'a self,
        source: Source<'a>,
        at: (&'a str, &'a str),
        text: &'a QuestionText,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let more = json!({ "text": text.whole(), "link_preview_options": without_preview() });
            edit(source, "editMessageText", at, more).await
        })
    }

    fn retire<'a>(
        &'a self,
        source: Source<'a>,
        press: &'a Press,
        _result: &'a str,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        let at = (&*press.chat, &*press.message_id);
        Box::pin(edit(source, "editMessageReplyMarkup", at, json!({})))
    }

    fn acknowledge<'a>(
        &'a self,
        source: Source<'a>,
        press: &'a Press,
        note: Note<'a>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let text: String = note.text.chars().take(MAX_NOTE_CHARS).collect();
            let body = json!({ "callback_query_id": press.id, "text": text });
            let answer = call(source, "answerCallbackQuery", &body).await?;
            unless_refused(&answer, "query is too old")
        })
    }
}

/// Edits a message. `more` contains the fields except those that identify the message.
async fn edit(
    source: Source<'_>,
    method: &str,
    (chat, message_id): (&str, &str),
    mut more: Value,
) -> Result<(), Failure> {
    if let Some(fields) = more.as_object_mut() {
        for (name, id) in [("chat_id", chat), ("message_id", message_id)] {
            fields.insert(name.to_owned(), number_or_text(id.to_owned()));
        }
    }
    let answer = call(source, method, &more).await?;
    unless_refused(&answer, "message is not modified")
}

/// Returns the person of a private chat, which has the same ID. Groups and channels have negative
/// IDs.
fn person_of(chat: &str) -> Option<String> {
    let id = chat.parse::<i64>().ok().filter(|id| *id > 0)?;
    Some(id.to_string())
}

/// Maps a response to a result. A refusal with this description counts as success.
fn unless_refused(answer: &Answer, expected: &str) -> Result<(), Failure> {
    let body = answer.response_json();
    if answer.status.as_u16() == 400 && body.text("/description").contains(expected) {
        return Ok(());
    }
    answer.check(NOUN, body.seconds("/parameters/retry_after"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(chat: i64, kind: &str) -> Option<Press> {
        let query = json!({
            "id": "q1", "from": { "id": 42, "is_bot": false, "first_name": "Ada" },
            "message": { "message_id": 5, "date": 1, "chat": { "id": chat, "type": kind } },
            "chat_instance": "1", "data": "x",
        });
        press_of(serde_json::from_value(query).unwrap())
    }

    #[test]
    fn only_the_persons_own_chat_is_private() {
        assert!(press(42, "private").unwrap().is_private);
        assert!(!press(43, "private").unwrap().is_private);
        assert!(!press(-100, "supergroup").unwrap().is_private);
        let inline =
            json!({ "id": "q", "from": { "id": 42 }, "inline_message_id": "i", "data": "x" });
        assert!(press_of(serde_json::from_value(inline).unwrap()).is_none());
    }

    #[test]
    fn what_telegram_removes_is_escaped() {
        let buttons = TelegramButtons;
        let escaped = buttons.escape("A\u{30a}\u{333}\u{33f}");
        assert_eq!(
            (&*escaped.text, escaped.hidden),
            ("A\\u{30A}\\u{333}\\u{33F}", 3)
        );
        assert_eq!(buttons.escape("Åa\n b").text, "Åa\n b");
    }

    #[test]
    fn only_a_private_chat_names_its_person() {
        assert_eq!(person_of("42").as_deref(), Some("42"));
        for chat in ["-42", "0", "@name", "", "99999999999999999999"] {
            assert_eq!(person_of(chat), None, "{chat}");
        }
    }
}
