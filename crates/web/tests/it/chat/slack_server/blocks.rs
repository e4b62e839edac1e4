//! The messages of the bot as Slack shows them, with their blocks
//! (<https://docs.slack.dev/reference/block-kit/blocks>).

use super::{Shown, Slack, Workspace, answer, refuse};
use crate::chat::button_vendors::{ButtonVendor, Seen};
use crate::chat::has_only;
use axum::response::Response;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn decoded(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&amp;", "&")
}

/// Slack stores the three characters as entities.
fn encoded(text: &str) -> String {
    let text = decoded(text).replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

fn is_text(text: &Value, kinds: &[&str], most: usize) -> bool {
    let known: &[&str] = match text["type"].as_str() {
        Some("plain_text") => &["type", "text", "emoji"],
        _ => &["type", "text", "verbatim"],
    };
    let length = text["text"].as_str().unwrap_or_default().chars().count();
    kinds.contains(&text["type"].as_str().unwrap())
        && has_only(text, known)
        && (1..=most).contains(&length)
}

fn is_button(element: &Value, seen: &mut BTreeSet<String>) -> bool {
    let action = element["action_id"].as_str().unwrap();
    element["type"] == "button"
        && has_only(element, &["type", "text", "action_id", "value", "style"])
        && is_text(&element["text"], &["plain_text"], 75)
        && (1..=255).contains(&action.len())
        && element["value"].as_str().unwrap().len() <= 2000
        && seen.insert(action.to_owned())
}

fn is_block(block: &Value) -> bool {
    match block["type"].as_str() {
        Some("section") => {
            // A call must not be collapsed.
            let is_call = block["text"]["type"] == "plain_text";
            has_only(block, &["type", "text", "expand"])
                && (!is_call || block["expand"] == true)
                && is_text(&block["text"], &["plain_text", "mrkdwn"], 3000)
        }
        Some("actions") => {
            let elements = block["elements"].as_array().unwrap();
            let mut seen = BTreeSet::new();
            has_only(block, &["type", "elements"])
                && (1..=25).contains(&elements.len())
                && elements.iter().all(|it| is_button(it, &mut seen))
        }
        _ => false,
    }
}

impl Workspace {
    /// Returns the blocks as they are stored.
    fn stored(&self, message: &Value) -> Option<Vec<Value>> {
        let mut blocks = match &message["blocks"] {
            Value::Null => Vec::new(),
            blocks => blocks.as_array().unwrap().clone(),
        };
        if blocks.len() > 50 || !blocks.iter().all(is_block) {
            return None;
        }
        for block in &mut blocks {
            if let Some(text) = block["text"]["text"].as_str() {
                let mut text = encoded(text);
                if self.is_garbled {
                    text.retain(|c| !c.is_ascii_digit());
                }
                block["text"]["text"] = text.into();
            }
        }
        Some(blocks)
    }

    pub(super) fn post(&mut self, message: Value) -> Response {
        let Some(blocks) = self.stored(&message) else {
            return refuse("invalid_blocks");
        };
        let ts = format!("1800000000.{:06}", self.sent.len() + 1);
        let channel = message["channel"].as_str().unwrap().to_owned();
        let stored = json!({ "text": message["text"], "blocks": blocks, "ts": ts });
        let body = json!({ "ok": true, "channel": channel, "ts": ts, "message": stored });
        self.shown.push(Shown {
            channel,
            ts,
            blocks,
        });
        self.sent.push(message);
        answer(body)
    }

    pub(super) fn update(&mut self, message: &Value) -> Response {
        assert!(has_only(message, &["channel", "ts", "text", "blocks"]));
        let Some(blocks) = self.stored(message) else {
            return refuse("invalid_blocks");
        };
        let mut shown = self.shown.iter_mut();
        let found = shown.find(|it| json!(it.ts) == message["ts"]);
        match found.filter(|it| json!(it.channel) == message["channel"]) {
            Some(shown) => {
                shown.blocks.clone_from(&blocks);
                let stored = json!({ "text": message["text"], "blocks": blocks });
                answer(json!({ "ok": true, "ts": message["ts"], "message": stored }))
            }
            None => refuse("message_not_found"),
        }
    }

    pub(super) fn note(&mut self, message: &Value) -> Response {
        assert!(has_only(message, &["channel", "user", "text"]));
        let text = message["text"].as_str().unwrap();
        self.notes.push(decoded(text));
        answer(json!({ "ok": true, "message_ts": "1.1" }))
    }
}

impl ButtonVendor for Slack {
    const KIND: &'static str = "slack";
    const PERSON: &'static str = "U1";
    const OTHER: &'static str = "U2";

    async fn begin() -> Self {
        Self::start().await
    }

    fn account(&self) -> Value {
        self.fields()
    }

    fn chat(person: &str) -> (&'static str, String) {
        ("channel", format!("D{person}"))
    }

    fn greet(&self, person: &str) {
        self.write(person, "hello?");
    }

    fn say(&self, person: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.write(person, &text.replace('>', "&gt;"));
    }

    fn count(&self) -> usize {
        self.sent().len()
    }

    async fn text(&self, number: usize) -> String {
        self.seen(number, |_| true).await.text
    }

    async fn seen(&self, number: usize, is_it: impl Fn(&Seen) -> bool) -> Seen {
        self.until(|workspace| {
            let sent = workspace.sent.get(number - 1)?;
            let blocks = &workspace.shown[number - 1].blocks;
            let texts = blocks.iter().filter_map(|it| it["text"]["text"].as_str());
            let text = texts.map(decoded).collect::<Vec<_>>().join("\n\n");
            let elements = blocks.iter().filter_map(|it| it["elements"].as_array());
            let button = |it: &Value| {
                let label = it["text"]["text"].as_str().unwrap().to_owned();
                (label, it["value"].as_str().unwrap().to_owned())
            };
            let seen = Seen {
                text: match blocks.as_slice() {
                    [] => sent["text"].as_str().unwrap().to_owned(),
                    _ => text,
                },
                buttons: elements.flatten().map(button).collect(),
            };
            is_it(&seen).then_some(seen)
        })
        .await
    }

    fn press_data(&self, person: &str, (chat, number): (&str, usize), data: &str) {
        let (message, channel) = {
            let workspace = self.shared.workspace.lock().unwrap();
            let shown = &workspace.shown[number - 1];
            let message = json!({ "ts": shown.ts, "user": super::BOT, "blocks": shown.blocks });
            (message, format!("D{chat}"))
        };
        self.push(
            "interactive",
            json!({
                "type": "block_actions", "user": { "id": person, "username": "p" },
                "channel": { "id": channel, "name": "directmessage" },
                "container": { "type": "message", "message_ts": message["ts"], "channel_id": channel, "is_ephemeral": false },
                "message": message,
                "actions": [{ "type": "button", "action_id": data, "block_id": "b", "value": data, "action_ts": "1.1" }],
            }),
        );
    }

    async fn press_answer(&self, count: usize) -> Vec<String> {
        self.until(|workspace| (workspace.notes.len() >= count).then(|| workspace.notes.clone()))
            .await
    }

    fn garble(&self) {
        self.shared.workspace.lock().unwrap().is_garbled = true;
    }
}
