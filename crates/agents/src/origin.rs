//! Authors of parts of a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The author of a message. A session that contains untrusted text is tainted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MessageOrigin {
    /// A caller with write permission, by text or voice.
    Owner,
    /// Gatehouse, its settings, or a tool that returns only what these contain.
    Configured,
    /// A language model.
    Model,
    /// Anyone else: the sender of a webhook, a web page, search results, an MCP server.
    Stranger,
}

impl MessageOrigin {
    /// Returns the stored and serialized name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Configured => "configured",
            Self::Model => "model",
            Self::Stranger => "stranger",
        }
    }

    /// Parses the stored name. An unknown name maps to the least trusted origin.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "owner" => Self::Owner,
            "configured" => Self::Configured,
            "model" => Self::Model,
            _ => Self::Stranger,
        }
    }
}
