//! Resources and prompts of a server (MCP 2025-06-18).
//!
//! All texts are the server's, on one line, without characters that control terminals or change the text direction.

use serde::Serialize;

/// The resources and prompts of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpOffers {
    /// By URI.
    pub resources: Vec<McpResource>,
    /// By name.
    pub prompts: Vec<McpPrompt>,
}

/// A resource, or a template for the URIs of resources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct McpResource {
    /// For a template, the URI template (RFC 6570).
    pub uri: String,
    #[serde(rename = "template", skip_serializing_if = "std::ops::Not::not")]
    pub is_template: bool,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Size in bytes, as the server states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A prompt of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpPrompt {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub arguments: Vec<McpArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpArgument {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub required: bool,
}
