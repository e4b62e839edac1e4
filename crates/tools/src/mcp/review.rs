//! Compares a server's tools with the approved ones. A tool is offered only in its approved form. If a server has no
//! approvals when it first connects, its tools are approved in their current form.

use super::dependencies::Dependencies;
use super::status::{McpReview, McpToolStatus, ToolForm};
use super::tool::McpTool;
use data_encoding::HEXLOWER;
use gatehouse_domain::Actor;
use gatehouse_store::{AuditEntry, Conn, McpToolRow, StoreError};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A server's tools, compared with the approved ones.
#[derive(Debug)]
pub(super) struct Reviewed {
    /// Every tool that is offered or approved, by name.
    pub(super) tools: Vec<McpToolStatus>,
    /// Identifies the server's current tools.
    pub(super) digest: String,
}

impl Reviewed {
    /// Returns whether the tool may be offered.
    pub(super) fn admits(&self, tool: &McpTool) -> bool {
        let approved = |status: &McpToolStatus| status.review == McpReview::Approved;
        let mut tools = self.tools.iter();
        tools.any(|status| status.tool == tool.remote_name && approved(status))
    }

    /// Returns the names of the tools that differ from their approved form.
    pub(super) fn pending(&self) -> Vec<&str> {
        let pending = |status: &&McpToolStatus| status.review != McpReview::Approved;
        let pending = self.tools.iter().filter(pending);
        pending.map(|status| status.tool.as_str()).collect()
    }
}

/// Reviews the tools of a server. At the first connection, approves all of them.
pub(super) async fn review(
    dependencies: &Dependencies,
    server: &str,
    listed: &[McpTool],
) -> Result<Reviewed, StoreError> {
    let offered: BTreeMap<String, (String, ToolForm)> = listed
        .iter()
        .map(|tool| (tool.remote_name.clone(), (tool.name.clone(), tool.form())))
        .collect();
    let forms = offered.iter();
    let forms: Vec<(String, String)> = forms
        .map(|(name, (_, form))| (name.clone(), form.text()))
        .collect();
    let digest = digest_of(&forms);
    let (name, now) = (server.to_owned(), dependencies.parts.clock.now());
    let random = Arc::clone(&dependencies.parts.random);
    let known = {
        let name = name.clone();
        let read = dependencies
            .parts
            .store
            .read(move |conn| Box::pin(async move { conn.has_mcp_server(&name).await }));
        read.await?
    };
    if !known {
        let name = name.clone();
        let first = dependencies.parts.store.write(move |conn| {
            Box::pin(async move {
                if !conn.insert_mcp_server(&name, now).await? {
                    return Ok::<_, StoreError>(());
                }
                for (tool, form) in &forms {
                    let row = McpToolRow {
                        server: name.clone(),
                        name: tool.clone(),
                        form: form.clone(),
                        approved_at: now,
                    };
                    conn.update_mcp_tool(&row).await?;
                }
                let tools: Vec<&String> = forms.iter().map(|(tool, _)| tool).collect();
                let entry = AuditEntry {
                    kind: "mcp.approved",
                    actor: &Actor::system(),
                    detail: json!({ "server": name, "tools": tools, "first": true }),
                };
                conn.append_audit(&entry, now, &*random).await?;
                Ok(())
            })
        });
        first.await?;
    }
    let read = dependencies
        .parts
        .store
        .read(move |conn| Box::pin(async move { conn.list_mcp_tools(&name).await }));
    let approved: Vec<McpToolRow> = read.await?;
    Ok(Reviewed {
        tools: compared(server, offered, approved),
        digest,
    })
}

/// Compares the offered tools with the approved ones.
fn compared(
    server: &str,
    offered: BTreeMap<String, (String, ToolForm)>,
    approved: Vec<McpToolRow>,
) -> Vec<McpToolStatus> {
    let mut all: BTreeMap<String, McpToolStatus> = offered
        .into_iter()
        .map(|(tool, (name, form))| {
            let status = McpToolStatus {
                name,
                tool: tool.clone(),
                review: McpReview::New,
                approved: None,
                offered: Some(form),
            };
            (tool, status)
        })
        .collect();
    for row in approved {
        let status = all
            .entry(row.name)
            .or_insert_with_key(|tool| McpToolStatus {
                name: super::names::full_name(server, tool),
                tool: tool.clone(),
                review: McpReview::Gone,
                approved: None,
                offered: None,
            });
        // A form that a newer version stored counts as different.
        let form: Option<ToolForm> = serde_json::from_str(&row.form).ok();
        if status.offered.is_some() {
            status.review = if status.offered == form {
                McpReview::Approved
            } else {
                McpReview::Changed
            };
        }
        status.approved = form;
    }
    all.into_values().collect()
}

fn digest_of(forms: &[(String, String)]) -> String {
    let all = json!(forms).to_string();
    let digest = Sha256::digest(all);
    HEXLOWER.encode(digest.get(..16).unwrap_or_default())
}

/// Adds an audit row, once, that tools of a server differ from their approved form.
pub(super) async fn note_change(
    dependencies: &Dependencies,
    server: &str,
    reviewed: &Reviewed,
) -> Result<(), StoreError> {
    let detail: Value = json!({ "server": server, "tools": reviewed.pending() });
    let (now, random) = (
        dependencies.parts.clock.now(),
        Arc::clone(&dependencies.parts.random),
    );
    let write = dependencies.parts.store.write(move |conn: &mut Conn| {
        Box::pin(async move {
            let entry = AuditEntry {
                kind: "mcp.changed",
                actor: &Actor::system(),
                detail,
            };
            conn.append_audit(&entry, now, &*random).await.map(drop)
        })
    });
    write.await
}
