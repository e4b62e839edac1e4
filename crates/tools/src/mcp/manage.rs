//! Manages the servers: approves tools, restarts, tests, and deletes authorizations.

mod error;

use super::handle::Mcp;
use super::other_nodes::Elsewhere;
use super::status::{McpReview, McpState, McpStatus, McpToolStatus};
pub use error::McpError;
use gatehouse_domain::Actor;
use gatehouse_store::{AuditEntry, McpToolRow, StoreError};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The maximum wait for a server to connect or to fail.
const WAIT: Duration = Duration::from_secs(90);

impl Mcp {
    /// Returns the status of one server.
    pub fn find(&self, name: &str) -> Result<McpStatus, McpError> {
        let mut all = self.status().into_iter();
        all.find(|status| status.name == name)
            .ok_or(McpError::NotFound)
    }

    /// Approves tools of a connected server in their current form, and withdraws the approval of tools that the server
    /// no longer offers. `tools` contains the server's or the agents' names, and defaults to all tools. `digest` comes
    /// from the status that the caller received.
    pub async fn approve(
        &self,
        actor: &Actor,
        name: &str,
        tools: Option<&[String]>,
        digest: Option<&str>,
    ) -> Result<McpStatus, McpError> {
        let status = self.find(name)?;
        if status.state != McpState::Connected {
            return Err(McpError::NotConnected);
        }
        if digest.is_some_and(|seen| seen != status.digest) {
            return Err(McpError::Changed);
        }
        let is = |tool: &McpToolStatus, name: &String| tool.tool == *name || tool.name == *name;
        for wanted in tools.unwrap_or_default() {
            if !status.listed.iter().any(|tool| is(tool, wanted)) {
                return Err(McpError::NoTool(wanted.clone()));
            }
        }
        let chosen = status.listed.into_iter().filter(|tool| {
            let named = tools.is_none_or(|tools| tools.iter().any(|name| is(tool, name)));
            named && tool.review != McpReview::Approved
        });
        self.store_approval(actor, name, chosen.collect()).await?;
        self.refreshed(name).await
    }

    async fn store_approval(
        &self,
        actor: &Actor,
        name: &str,
        chosen: Vec<McpToolStatus>,
    ) -> Result<(), StoreError> {
        let parts = &self.dependencies.parts;
        let (actor, server) = (actor.clone(), name.to_owned());
        let (now, random) = (parts.clock.now(), Arc::clone(&parts.random));
        let write = parts.store.write(move |conn| {
            Box::pin(async move {
                for tool in &chosen {
                    match &tool.offered {
                        Some(form) => {
                            let row = McpToolRow {
                                server: server.clone(),
                                name: tool.tool.clone(),
                                form: form.text(),
                                approved_at: now,
                            };
                            conn.update_mcp_tool(&row).await?;
                        }
                        None => {
                            conn.delete_mcp_tool(&server, &tool.tool).await?;
                        }
                    }
                }
                let tools: Vec<&String> = chosen.iter().map(|tool| &tool.tool).collect();
                let entry = AuditEntry {
                    kind: "mcp.approved",
                    actor: &actor,
                    detail: json!({ "server": server, "tools": tools }),
                };
                conn.append_audit(&entry, now, &*random).await?;
                // Other nodes review their tools when settings change.
                conn.insert_change("settings", now).await
            })
        });
        write.await
    }

    /// Deletes the approvals of a deleted server.
    pub async fn forget(&self, name: &str) -> Result<(), McpError> {
        let name = name.to_owned();
        let write = self
            .dependencies
            .parts
            .store
            .write(move |conn| Box::pin(async move { conn.delete_mcp_server(&name).await }));
        let forgotten: Result<(), StoreError> = write.await;
        Ok(forgotten?)
    }

    /// Restarts a server on every node. Waits until the server is connected to this node or has failed.
    pub async fn restart(&self, name: &str) -> Result<McpStatus, McpError> {
        self.find(name)?;
        self.request_elsewhere(Elsewhere::Restart, name).await?;
        self.restart_here(name).await
    }

    /// Does the same as [`Self::restart`], but on this node only. After a change of a server's settings, the other
    /// nodes restart it too.
    pub async fn restart_here(&self, name: &str) -> Result<McpStatus, McpError> {
        let before = self.find(name)?.run;
        self.start_again(name);
        self.settled_when(name, |status| status.run > before).await
    }

    /// Restarts a server on this node, without waiting for it.
    pub(super) fn start_again(&self, name: &str) {
        self.wanted.send_modify(|wanted| {
            let mut next = (**wanted).clone();
            *next.restarts.entry(name.to_owned()).or_default() += 1;
            *wanted = Arc::new(next);
        });
    }

    /// Requests the tools of a connected server again, or restarts the server if it is not connected. Waits for the
    /// outcome. Other nodes restart the server if it is not connected there.
    pub async fn test(&self, name: &str) -> Result<McpStatus, McpError> {
        let state = self.find(name)?.state;
        self.request_elsewhere(Elsewhere::Test, name).await?;
        if state == McpState::Connected {
            self.refreshed(name).await
        } else {
            self.restart_here(name).await
        }
    }

    /// Waits until a server is connected or has failed.
    pub async fn settled(&self, name: &str) -> Result<McpStatus, McpError> {
        self.settled_when(name, |_| true).await
    }

    async fn refreshed(&self, name: &str) -> Result<McpStatus, McpError> {
        let before = self.find(name)?.reports;
        self.dependencies
            .refresh
            .send_modify(|count| *count = count.wrapping_add(1));
        self.settled_when(name, |status| status.reports > before)
            .await
    }

    /// Waits for a status that is not `Starting` and for which `is_new` returns true. After 90 seconds, returns the
    /// current status.
    async fn settled_when(
        &self,
        name: &str,
        is_new: impl Fn(&McpStatus) -> bool,
    ) -> Result<McpStatus, McpError> {
        let mut board = self.watch();
        let is_there = |status: &McpStatus| match status.state {
            McpState::NotBuilt => true,
            McpState::Starting => false,
            _ => is_new(status),
        };
        let waiting = board.wait_for(|board| board.get(name).is_none_or(is_there));
        drop(tokio::time::timeout(WAIT, waiting).await);
        self.find(name)
    }
}

#[cfg(test)]
mod tests;
