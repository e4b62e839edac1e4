//! Prompt caching: marks the parts of a request that the next request of a conversation repeats.
//!
//! Source: <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>. The vendor reads a request in the
//! order tools, system, messages, and caches everything up to a mark for five minutes. A request may have four marks.
//! This module sets three. A part that is too short for the cache is not cached, without an error.

use serde_json::{Map, Value, json};

/// Marks the end of the tools, of the system prompt and of the messages.
pub(super) fn mark(body: &mut Map<String, Value>) {
    if let Some(tool) = last(body.get_mut("tools")) {
        mark_one(tool);
    }
    if let Some(system) = body.get_mut("system") {
        let text = system.take();
        *system = json!([{ "type": "text", "text": text }]);
        if let Some(block) = last(Some(system)) {
            mark_one(block);
        }
    }
    let message = last(body.get_mut("messages"));
    let content = message.and_then(|message| message.get_mut("content"));
    if let Some(block) = last(content) {
        mark_one(block);
    }
}

fn last(list: Option<&mut Value>) -> Option<&mut Value> {
    list?.as_array_mut()?.last_mut()
}

fn mark_one(block: &mut Value) {
    // The vendor refuses a mark on a block of thinking.
    let is_thinking = ["thinking", "redacted_thinking"].map(Value::from);
    if block
        .get("type")
        .is_some_and(|kind| is_thinking.contains(kind))
    {
        return;
    }
    if let Some(block) = block.as_object_mut() {
        block.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(body: Value) -> Value {
        let Value::Object(mut body) = body else {
            panic!("an object")
        };
        mark(&mut body);
        Value::Object(body)
    }

    #[test]
    fn the_ends_of_tools_system_and_messages_are_marked() {
        let said = |text: &str| json!({ "type": "text", "text": text });
        let body = marked(json!({
            "system": "s",
            "tools": [{ "name": "a" }, { "name": "b" }],
            "messages": [
                { "role": "user", "content": [said("1")] },
                { "role": "assistant", "content": [said("2")] },
                { "role": "user", "content": [said("3"), said("4")] },
            ],
        }));
        let mark = json!({ "type": "ephemeral" });
        assert_eq!(
            body["system"],
            json!([{ "type": "text", "text": "s", "cache_control": mark }])
        );
        assert_eq!(body["tools"][0], json!({ "name": "a" }));
        assert_eq!(body["tools"][1]["cache_control"], mark);
        assert_eq!(body["messages"][2]["content"][0], said("3"));
        assert_eq!(body["messages"][2]["content"][1]["cache_control"], mark);
        assert_eq!(body.to_string().matches("cache_control").count(), 3);
    }

    #[test]
    fn what_is_absent_or_thinking_is_not_marked() {
        let thinking = json!({ "messages": [
            { "role": "assistant", "content": [{ "type": "thinking", "thinking": "t" }] }
        ] });
        for body in [json!({}), json!({ "tools": [], "messages": [] }), thinking] {
            assert_eq!(marked(body.clone()), body);
        }
    }
}
