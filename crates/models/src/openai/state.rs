//! The reasoning that a provider sends beside an answer and must receive again with it. It is kept unchanged, because
//! some of it is signed or encrypted.
//!
//! - `reasoning_content`: `DeepSeek` <https://api-docs.deepseek.com/guides/thinking_mode> ("Tool Calls": it must be
//!   passed back, even when empty), llama.cpp, vLLM.
//! - `reasoning` and `reasoning_details`: `OpenRouter` <https://openrouter.ai/docs/use-cases/reasoning-tokens>
//!   ("Preserving reasoning blocks").
//! - `tool_calls[].extra_content.google.thought_signature`: Gemini
//!   <https://ai.google.dev/gemini-api/docs/thought-signatures> ("`OpenAI` compatibility").

use serde_json::{Map, Value, json};

/// Collects the state of one answer.
#[derive(Debug, Default)]
pub(super) struct StateCollector {
    /// `None` until the field arrives. An empty field must be sent back, a missing field must not.
    content: Option<String>,
    details: Vec<Value>,
    /// `extra_content` of the whole message.
    extra: Option<Value>,
    /// `extra_content` by the position of the call.
    calls: Vec<(usize, Value)>,
}

impl StateCollector {
    pub(super) fn content(&mut self, text: &str) {
        self.content.get_or_insert_default().push_str(text);
    }

    /// Takes the details of one delta. Pieces with the same index belong to one text and are joined, as in the
    /// provider's own SDK.
    pub(super) fn details(&mut self, details: Vec<Value>) {
        for detail in details {
            let fits = |last: &Value| {
                let same = |name: &str| last.get(name) == detail.get(name);
                same("type") && same("index") && same("id") && detail.get("index").is_some()
            };
            match self.details.last_mut().filter(|last| fits(last)) {
                Some(Value::Object(last)) => join(last, detail),
                _ => self.details.push(detail),
            }
        }
    }

    pub(super) fn extra(&mut self, extra: Value) {
        self.extra = Some(extra);
    }

    pub(super) fn call(&mut self, position: usize, extra: Value) {
        self.calls.retain(|(known, _)| *known != position);
        self.calls.push((position, extra));
    }

    /// Returns the state, or `None` if the provider sent none.
    pub(super) fn finish(&mut self) -> Option<Value> {
        let mut state = Map::new();
        if let Some(content) = self.content.take() {
            state.insert("reasoning_content".to_owned(), content.into());
        }
        if !self.details.is_empty() {
            let details = std::mem::take(&mut self.details);
            state.insert("reasoning_details".to_owned(), details.into());
        }
        if let Some(extra) = self.extra.take() {
            state.insert("extra_content".to_owned(), extra);
        }
        if !self.calls.is_empty() {
            let calls = self.calls.drain(..);
            let calls = calls.map(|(position, extra)| json!({ "at": position, "extra": extra }));
            state.insert("calls".to_owned(), calls.collect());
        }
        (!state.is_empty()).then_some(Value::Object(state))
    }
}

/// Appends the texts of `more` to the texts of `last`. Other fields are replaced.
fn join(last: &mut Map<String, Value>, more: Value) {
    let Value::Object(more) = more else {
        return;
    };
    for (name, value) in more {
        let is_text = matches!(name.as_str(), "text" | "summary" | "data");
        match (last.get_mut(&name), value) {
            (Some(Value::String(before)), Value::String(after)) if is_text => {
                before.push_str(&after);
            }
            // A later piece without a signature does not delete the earlier signature.
            (Some(_), Value::Null) => {}
            (_, value) => {
                last.insert(name, value);
            }
        }
    }
}

/// Inserts the state into its message.
pub(super) fn restore(state: &Value, message: &mut Value) {
    let Some(message) = message.as_object_mut() else {
        return;
    };
    for name in ["reasoning_content", "reasoning_details", "extra_content"] {
        if let Some(value) = state.get(name) {
            message.insert(name.to_owned(), value.clone());
        }
    }
    let Some(Value::Array(calls)) = message.get_mut("tool_calls") else {
        return;
    };
    let saved = state.get("calls").and_then(Value::as_array);
    for entry in saved.into_iter().flatten() {
        let at = entry.get("at").and_then(Value::as_u64);
        let at = at.and_then(|at| usize::try_from(at).ok());
        let call = at
            .and_then(|at| calls.get_mut(at))
            .and_then(Value::as_object_mut);
        if let (Some(call), Some(extra)) = (call, entry.get("extra")) {
            call.insert("extra_content".to_owned(), extra.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_one_detail_are_joined_and_signatures_stay() {
        let mut state = StateCollector::default();
        for detail in [
            json!({"type": "reasoning.text", "index": 0, "text": "Let ", "signature": null}),
            json!({"type": "reasoning.text", "index": 0, "text": "me see."}),
            json!({"type": "reasoning.text", "index": 0, "signature": "s1"}),
            json!({"type": "reasoning.encrypted", "index": 1, "data": "abc", "id": "r1"}),
        ] {
            state.details(vec![detail]);
        }
        let finished = state.finish().unwrap();
        assert_eq!(
            finished["reasoning_details"],
            json!([
                {"type": "reasoning.text", "index": 0, "text": "Let me see.", "signature": "s1"},
                {"type": "reasoning.encrypted", "index": 1, "data": "abc", "id": "r1"},
            ])
        );
        assert_eq!(StateCollector::default().finish(), None);
    }

    #[test]
    fn what_was_collected_is_put_back_where_it_was() {
        let mut state = StateCollector::default();
        state.content("");
        let signature = json!({"google": {"thought_signature": "sig"}});
        state.call(1, signature.clone());
        let state = state.finish().unwrap();
        let mut message = json!({"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]});
        restore(&state, &mut message);
        assert_eq!(message["reasoning_content"], "");
        assert_eq!(message["tool_calls"][1]["extra_content"], signature);
        assert!(message["tool_calls"][0].get("extra_content").is_none());
    }
}
