//! Tables `mcp_servers` and `mcp_tools`: the definitions of MCP tools that a person approved.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `mcp_tools`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpToolRow {
    pub server: String,
    /// The server's own name for the tool.
    pub name: String,
    /// The approved definition, as JSON text.
    pub form: String,
    pub approved_at: Timestamp,
}

columns! { McpToolRow: server, name, form, approved_at }

impl Conn {
    /// Records that tools of this server were approved; `false` if this was recorded before.
    pub async fn insert_mcp_server(
        &mut self,
        name: &str,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(
            "INSERT INTO mcp_servers (name, approved_at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        );
        Ok(self.run(query.bind(name).bind(at.as_millis())).await? > 0)
    }

    /// Returns whether tools of this server were ever approved.
    pub async fn has_mcp_server(&mut self, name: &str) -> Result<bool, StoreError> {
        let query = query("SELECT CAST(COUNT(*) AS BIGINT) FROM mcp_servers WHERE name = $1");
        Ok(self.number(query.bind(name)).await? > 0)
    }

    /// Returns the approved tools of a server, by name.
    pub async fn list_mcp_tools(&mut self, server: &str) -> Result<Vec<McpToolRow>, StoreError> {
        let query = query("SELECT * FROM mcp_tools WHERE server = $1 ORDER BY name");
        self.list(query.bind(server)).await
    }

    /// Approves a tool with this definition, which replaces an earlier one.
    pub async fn update_mcp_tool(&mut self, row: &McpToolRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO mcp_tools (server, name, form, approved_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (server, name) DO UPDATE
             SET form = excluded.form, approved_at = excluded.approved_at",
        );
        let query = query.bind(&row.server).bind(&row.name).bind(&row.form);
        self.run(query.bind(row.approved_at.as_millis())).await?;
        Ok(())
    }

    /// Withdraws the approval of one tool; `false` if it was not approved.
    pub async fn delete_mcp_tool(&mut self, server: &str, name: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM mcp_tools WHERE server = $1 AND name = $2");
        Ok(self.run(query.bind(server).bind(name)).await? > 0)
    }

    /// Withdraws all approvals of a server and deletes its authorization.
    pub async fn delete_mcp_server(&mut self, name: &str) -> Result<(), StoreError> {
        let tools = query("DELETE FROM mcp_tools WHERE server = $1");
        self.run(tools.bind(name)).await?;
        let server = query("DELETE FROM mcp_servers WHERE name = $1");
        self.run(server.bind(name)).await?;
        self.delete_mcp_authorization(name, None).await?;
        Ok(())
    }
}
