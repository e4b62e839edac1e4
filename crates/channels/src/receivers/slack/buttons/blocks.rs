//! Blocks of a question.

use crate::markup::Markup;
use crate::receivers::buttons::{Button, QuestionText};
use serde_json::{Value, json};

/// Returns whether a block of a question shows the call.
pub(super) fn is_call(block: &Value) -> bool {
    let text = block.get("text").and_then(|text| text.get("type"));
    text.and_then(Value::as_str) == Some("plain_text")
}

/// Returns whether Slack stored the blocks of a question as they were sent. Slack adds `<` and `>` around links, and
/// escapes these characters elsewhere.
pub(super) fn are_stored(sent: &[Value], stored: &Value) -> bool {
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

/// Returns a section. In both kinds of text, Slack decodes `&amp;`, `&lt;` and `&gt;` and nothing else
/// (<https://docs.slack.dev/messaging/formatting-message-text#escaping>). In `plain_text`, Slack does not interpret
/// markup. If `emoji` is false, it does not interpret names of emoji.
pub(super) fn section(text: &str, is_plain: bool) -> Value {
    let text = Markup::Slack.escape(text);
    if !is_plain {
        return json!({ "type": "section", "text": { "type": "mrkdwn", "text": text } });
    }
    let text = json!({ "type": "plain_text", "text": text, "emoji": false });
    // Without `expand`, a part of a long text is shown only after a click.
    json!({ "type": "section", "text": text, "expand": true })
}

pub(super) fn blocks(text: &QuestionText, rows: &[Vec<Button>]) -> Vec<Value> {
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
