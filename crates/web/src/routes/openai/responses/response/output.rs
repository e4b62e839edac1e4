//! Items of the output of a response.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// An item of the answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in super::super) enum OutputItem {
    Message {
        id: String,
        status: &'static str,
        role: &'static str,
        content: Vec<TextPart>,
    },
    /// A call that the caller must make.
    FunctionCall {
        id: String,
        call_id: String,
        name: String,
        /// JSON text as the model wrote it.
        arguments: String,
        status: &'static str,
    },
}

impl OutputItem {
    pub(in super::super) fn id(&self) -> &str {
        match self {
            Self::Message { id, .. } | Self::FunctionCall { id, .. } => id,
        }
    }
}

/// The text of a message.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(in super::super) struct TextPart {
    /// `output_text`
    #[serde(rename = "type")]
    kind: &'static str,
    pub(super) text: String,
    /// Always empty.
    annotations: Vec<Value>,
    /// Always empty.
    logprobs: Vec<Value>,
}

impl TextPart {
    pub(in super::super) fn of(text: &str) -> Self {
        Self {
            kind: "output_text",
            text: text.to_owned(),
            annotations: Vec::new(),
            logprobs: Vec::new(),
        }
    }
}
