//! The parts of a conversation in the format of `OpenAI`'s APIs. Pure.

use gatehouse_domain::Problem;
use gatehouse_models::{ChatMessage, ReasoningEffort, ToolCall, ToolChoice, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// The text of a message, whole or in parts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// A part of a message. Only text is supported.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Part {
    /// `text`, `input_text`, `output_text` or `refusal`.
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    refusal: Option<String>,
}

impl Content {
    /// Returns the text. `field` names the member in errors.
    pub(super) fn text(self, field: &str) -> Result<String, Problem> {
        let parts = match self {
            Self::Text(text) => return Ok(text),
            Self::Parts(parts) => parts,
        };
        let only_text = || Problem::invalid_params(field, "only text is supported");
        let text_of = |part: Part| match part.kind.as_str() {
            "text" | "input_text" | "output_text" => part.text.ok_or_else(only_text),
            "refusal" => part.refusal.ok_or_else(only_text),
            _ => Err(only_text()),
        };
        let texts: Vec<String> = parts.into_iter().map(text_of).collect::<Result<_, _>>()?;
        Ok(texts.join("\n"))
    }
}

/// A conversation that is being built.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    system: Vec<String>,
    messages: Vec<ChatMessage>,
    /// The names of the tools by call ID.
    calls: HashMap<String, String>,
}

impl Conversation {
    pub(super) fn push_system(&mut self, text: String) {
        self.system.push(text);
    }

    pub(super) fn push_user(&mut self, text: String) {
        self.messages.push(ChatMessage::user(text));
    }

    /// Adds an answer of the model. Calls directly after an answer belong to the answer.
    pub(super) fn push_assistant(&mut self, said: String, made: Vec<ToolCall>) {
        for call in &made {
            self.calls.insert(call.id.clone(), call.name.clone());
        }
        match self.messages.last_mut() {
            Some(ChatMessage::Assistant { tool_calls, .. }) if said.is_empty() => {
                tool_calls.extend(made);
            }
            _ => self.messages.push(ChatMessage::Assistant {
                text: said,
                tool_calls: made,
                state: None,
            }),
        }
    }

    /// Adds the result of a call. `field` names the member in errors.
    pub(super) fn push_result(
        &mut self,
        call_id: String,
        text: String,
        field: &str,
    ) -> Result<(), Problem> {
        let name = self.calls.get(&call_id).cloned();
        let reason = "a tool's message must name a call of an earlier message";
        let name = name.ok_or_else(|| Problem::invalid_params(field, reason))?;
        self.messages.push(ChatMessage::Tool {
            call_id,
            name,
            text,
        });
        Ok(())
    }

    /// Returns the system prompt and the messages.
    pub(super) fn finish(self) -> (Option<String>, Vec<ChatMessage>) {
        let system = self.system.join("\n\n");
        (Some(system).filter(|text| !text.is_empty()), self.messages)
    }
}

/// Parses `reasoning_effort`. `none` means the provider's default.
pub(super) fn effort(given: Option<&str>, field: &str) -> Result<Option<ReasoningEffort>, Problem> {
    match given {
        None | Some("none") => Ok(None),
        Some("minimal") => Ok(Some(ReasoningEffort::Minimal)),
        Some("low") => Ok(Some(ReasoningEffort::Low)),
        Some("medium") => Ok(Some(ReasoningEffort::Medium)),
        Some("high" | "xhigh") => Ok(Some(ReasoningEffort::High)),
        Some(_) => {
            let reason = "expected one of none, minimal, low, medium, high";
            Err(Problem::invalid_params(field, reason))
        }
    }
}

/// Parses `tool_choice`: a word, or the name of a tool. With `none`, no tools are offered.
pub(super) fn choose(
    word: Option<&str>,
    name: Option<String>,
    tools: &mut Vec<ToolSpec>,
) -> Result<Option<ToolChoice>, Problem> {
    const FIELD: &str = "tool_choice";
    if let Some(name) = name {
        if tools.iter().any(|tool| tool.name == name) {
            return Ok(Some(ToolChoice::Tool(name)));
        }
        return Err(Problem::invalid_params(FIELD, "is not one of `tools`"));
    }
    match word {
        None | Some("auto") => Ok(None),
        Some("none") => {
            tools.clear();
            Ok(None)
        }
        Some("required") => Ok(Some(ToolChoice::Required)),
        Some(_) => {
            let reason = "expected auto, none, required or a function";
            Err(Problem::invalid_params(FIELD, reason))
        }
    }
}

/// Checks the format of the answer; `None` for text.
pub(super) fn format(given: Option<Value>, field: &str) -> Result<Option<Value>, Problem> {
    let Some(given) = given else {
        return Ok(None);
    };
    match given.get("type").and_then(Value::as_str) {
        Some("text") => Ok(None),
        Some("json_object" | "json_schema") => Ok(Some(given)),
        _ => {
            let reason = "expected the type text, json_object or json_schema";
            Err(Problem::invalid_params(field, reason))
        }
    }
}

/// Checks a number.
pub(super) fn within(
    given: Option<f64>,
    range: std::ops::RangeInclusive<f64>,
    field: &str,
) -> Result<Option<f64>, Problem> {
    match given {
        Some(number) if !range.contains(&number) => {
            let reason = format!(
                "expected a number from {} to {}",
                range.start(),
                range.end()
            );
            Err(Problem::invalid_params(field, reason))
        }
        given => Ok(given),
    }
}

/// Refuses names of tools that providers would refuse.
pub(super) fn tool_name(name: &str) -> Result<(), Problem> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=64).contains(&name.len()) && name.chars().all(allowed) {
        return Ok(());
    }
    let reason = "names of tools are 1 to 64 letters, digits, `_` and `-`";
    Err(Problem::invalid_params("tools", reason))
}

#[cfg(test)]
mod tests;
