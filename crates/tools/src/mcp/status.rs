//! The status of the servers, for the doctor.

use serde::Serialize;
use std::collections::BTreeMap;
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
    /// What is wrong, for people. Contains no secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The state of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum McpState {
    /// It is starting or connecting.
    Starting,
    /// It needs environment variables from the sealed vault.
    WaitingForVault,
    /// Its tools are available.
    Connected,
    /// It failed and will be retried.
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

    pub(super) fn set(&self, status: McpStatus) {
        self.0.send_modify(|board| {
            board.insert(status.name.clone(), status);
        });
    }

    #[cfg(feature = "mcp")]
    pub(super) fn remove(&self, name: &str) {
        self.0
            .send_if_modified(|board| board.remove(name).is_some());
    }
}
