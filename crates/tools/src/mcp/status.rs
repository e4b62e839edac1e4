//! The status of the servers, for the doctor.

use super::offers::McpOffers;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::watch;

/// The status of one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct McpStatus {
    /// The name in the settings.
    pub name: String,
    /// `stdio` for a program, `http` for a URL.
    pub transport: &'static str,
    pub state: McpState,
    /// How many tools are usable.
    pub tools: usize,
    /// Every tool that the server offers or that was approved, by name; empty while it is not connected.
    pub listed: Vec<McpToolStatus>,
    /// A digest of the server's current tools, for an approval of exactly these tools.
    pub digest: String,
    /// The resources and prompts; none while the server is not connected.
    #[serde(skip)]
    pub offers: Arc<McpOffers>,
    /// The number of status reports of this server.
    #[serde(skip)]
    pub reports: u64,
    /// The number of this start among the starts of all servers. A larger number is a later start.
    #[serde(skip)]
    pub run: u64,
    /// Whether the server refused a request because it needs an authorization.
    #[serde(skip)]
    pub is_unauthorized: bool,
    /// The error, for people. Contains no secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The description and schema of a tool in the form that a person approves, and the server's hints about effects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolForm {
    pub description: String,
    /// The JSON schema of the input.
    pub parameters: Value,
    /// `readOnlyHint`: the tool changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// `openWorldHint`: the tool reaches systems that were not chosen beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl ToolForm {
    /// Returns the stored form. Equal forms have equal texts.
    pub fn text(&self) -> String {
        // Serialization cannot fail: the keys of a `Value` are strings.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The comparison of a tool with its approved form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum McpReview {
    /// The tool is offered in this form.
    Approved,
    /// The server offers the tool in a different form. It is not offered to agents.
    Changed,
    /// The tool was never approved and is not offered to agents.
    New,
    /// The tool was approved, but the server no longer has it.
    Gone,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct McpToolStatus {
    /// The name that agents use.
    pub name: String,
    /// The server's own name.
    pub tool: String,
    pub review: McpReview,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<ToolForm>,
    /// The form that the server currently offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered: Option<ToolForm>,
}

/// The state of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum McpState {
    /// The server is starting or connecting.
    Starting,
    /// The server needs environment variables from the sealed vault.
    WaitingForVault,
    /// The server's tools are available.
    Connected,
    /// The server failed and will be retried.
    Failed,
    /// This build has no MCP support.
    NotBuilt,
}

/// The states of all servers.
#[derive(Debug, Default)]
pub(super) struct Board(watch::Sender<BTreeMap<String, McpStatus>>);

impl Board {
    pub(super) fn all(&self) -> Vec<McpStatus> {
        self.0.borrow().values().cloned().collect()
    }

    pub(super) fn watch(&self) -> watch::Receiver<BTreeMap<String, McpStatus>> {
        self.0.subscribe()
    }

    /// Replaces the status of a server and counts the report.
    pub(super) fn set(&self, status: McpStatus) {
        self.0.send_modify(|board| {
            let before = board.get(&status.name).map_or(0, |before| before.reports);
            let reports = before.saturating_add(1);
            board.insert(status.name.clone(), McpStatus { reports, ..status });
        });
    }

    #[cfg(feature = "mcp")]
    pub(super) fn remove(&self, name: &str) {
        self.0
            .send_if_modified(|board| board.remove(name).is_some());
    }
}
