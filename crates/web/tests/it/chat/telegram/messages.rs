//! The messages of the bot as Telegram shows them, with their buttons.

use super::{Bot, Fault, has_only, refuse, result};
use axum::response::Response;
use serde_json::{Value, json};

/// A message of the bot.
#[derive(Clone, Debug)]
pub struct Shown {
    pub chat: i64,
    pub text: String,
    /// The rows of buttons; empty without a keyboard.
    pub keyboard: Vec<Vec<Value>>,
}

impl Shown {
    pub fn labels(&self) -> Vec<&str> {
        let buttons = self.keyboard.iter().flatten();
        buttons.map(|it| it["text"].as_str().unwrap()).collect()
    }

    /// Returns the data that a press of the button reports.
    pub fn data(&self, label: &str) -> String {
        let mut buttons = self.keyboard.iter().flatten();
        let button = buttons.find(|it| it["text"] == label).expect(label);
        button["callback_data"].as_str().unwrap().to_owned()
    }
}

/// Telegram removes these characters and the space around a text.
fn cleaned(text: &str) -> String {
    let kept = text.chars().filter(|c| {
        !matches!(
            c,
            '\r' | '\u{30a}' | '\u{333}' | '\u{33f}' | '\u{2028}'..='\u{202e}'
        )
    });
    let kept: String = kept.collect();
    kept.trim().to_owned()
}

fn text_of(body: &Value) -> Result<String, &'static str> {
    let text = cleaned(body["text"].as_str().unwrap());
    match text.encode_utf16().count() {
        0 => Err("Bad Request: message text is empty"),
        1..=4096 => Ok(text),
        _ => Err("Bad Request: message is too long"),
    }
}

fn keyboard_of(body: &Value) -> Result<Vec<Vec<Value>>, &'static str> {
    let markup = &body["reply_markup"];
    if markup.is_null() {
        return Ok(Vec::new());
    }
    assert!(has_only(markup, &["inline_keyboard"]), "{markup}");
    let rows = markup["inline_keyboard"].as_array().unwrap();
    let rows: Vec<Vec<Value>> = rows
        .iter()
        .map(|row| row.as_array().unwrap().clone())
        .collect();
    for button in rows.iter().flatten() {
        assert!(has_only(button, &["text", "callback_data"]), "{button}");
        if button["text"].as_str().unwrap().is_empty() {
            return Err("Bad Request: BUTTON_TEXT_INVALID");
        }
        let data = button["callback_data"].as_str().unwrap();
        if !(1..=64).contains(&data.len()) {
            return Err("Bad Request: BUTTON_DATA_INVALID");
        }
    }
    Ok(rows)
}

fn preview_is_off(body: &Value) {
    assert_eq!(body["link_preview_options"], json!({ "is_disabled": true }));
}

impl Bot {
    pub(super) fn send(&mut self, body: Value) -> Response {
        let known = [
            "chat_id",
            "text",
            "message_thread_id",
            "reply_markup",
            "reply_parameters",
            "link_preview_options",
        ];
        if !has_only(&body, &known) || !body["chat_id"].is_i64() {
            return refuse(400, "Bad Request: wrong parameters");
        }
        preview_is_off(&body);
        let reply = &body["reply_parameters"];
        let is_reply = reply["message_id"].is_i64() && reply["allow_sending_without_reply"] == true;
        assert!(reply.is_null() || is_reply, "{body}");
        let shown = match (text_of(&body), keyboard_of(&body)) {
            (Ok(text), Ok(keyboard)) => Shown {
                chat: body["chat_id"].as_i64().unwrap(),
                text,
                keyboard,
            },
            (Err(why), _) | (_, Err(why)) => return refuse(400, why),
        };
        if let Some(Fault::Refused(status, why)) = self.fault
            && !shown.keyboard.is_empty()
        {
            self.refused += 1;
            return refuse(status, why);
        }
        let mut shown = shown;
        if self.fault == Some(Fault::Garbled) && !shown.keyboard.is_empty() {
            shown.text.retain(|c| !c.is_ascii_digit());
        }
        self.sent.push(body);
        let id = self.sent.len();
        let sent = json!({ "message_id": id, "date": 1, "text": shown.text, "chat": { "id": shown.chat } });
        self.shown.push(shown);
        result(&sent)
    }

    pub(super) fn edit(&mut self, method: &str, body: &Value) -> Response {
        let known: &[&str] = match method {
            "editMessageText" => &["chat_id", "message_id", "text", "link_preview_options"],
            _ => &["chat_id", "message_id", "reply_markup"],
        };
        assert!(has_only(body, known), "{body}");
        if body["text"].is_string() {
            preview_is_off(body);
        }
        let keyboard = match keyboard_of(body) {
            Ok(keyboard) => keyboard,
            Err(why) => return refuse(400, why),
        };
        let id = body["message_id"].as_u64().unwrap();
        let at = usize::try_from(id).unwrap().wrapping_sub(1);
        let found = self.shown.get_mut(at);
        let Some(shown) = found.filter(|it| json!(it.chat) == body["chat_id"]) else {
            return refuse(400, "Bad Request: message to edit not found");
        };
        let text = if method == "editMessageText" {
            match text_of(body) {
                Ok(text) => text,
                Err(why) => return refuse(400, why),
            }
        } else {
            shown.text.clone()
        };
        if shown.keyboard == keyboard && text == shown.text {
            return refuse(
                400,
                "Bad Request: message is not modified: specified new message content and reply markup are exactly the same",
            );
        }
        shown.text = text;
        shown.keyboard = keyboard;
        result(&json!({ "message_id": id }))
    }

    pub(super) fn acknowledge(&mut self, body: &Value) -> Response {
        assert!(has_only(body, &["callback_query_id", "text"]), "{body}");
        let text = body["text"].as_str().unwrap();
        assert!(text.encode_utf16().count() <= 200, "{text}");
        let id = body["callback_query_id"].as_str().unwrap();
        let pressed = self.presses.iter_mut().find(|(known, _)| known == id);
        match pressed {
            Some((_, note @ None)) => {
                *note = Some(text.to_owned());
                result(&json!(true))
            }
            _ => refuse(
                400,
                "Bad Request: query is too old and response timeout expired or query ID is invalid",
            ),
        }
    }
}
