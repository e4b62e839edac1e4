//! Table `mcp_authorizations`: OAuth clients and tokens for MCP servers.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `mcp_authorizations`.
#[derive(Clone, PartialEq, Eq)]
pub struct McpAuthorizationRow {
    /// The name of the MCP server in the settings.
    pub server: String,
    /// 0 for a row that is not stored.
    pub version: i64,
    /// The MCP server's canonical URI.
    pub resource: String,
    pub issuer: Option<String>,
    /// The client that a person entered.
    pub client_id: Option<String>,
    /// Whether the row has tokens.
    pub authorized: bool,
    pub expires_at: Option<Timestamp>,
    /// Why the last token request failed, as a sentence for users.
    pub error: Option<String>,
    /// The client, the tokens and the pending authorization, in plaintext or as ciphertext; see `encrypted`.
    pub value: String,
    /// Whether `value` is ciphertext.
    pub encrypted: bool,
    pub claimed_until: Option<Timestamp>,
    pub updated_at: Timestamp,
}

columns! { McpAuthorizationRow: server, version, resource, issuer, client_id, authorized, expires_at, error, value,
encrypted, claimed_until, updated_at }

impl Conn {
    pub async fn list_mcp_authorizations(
        &mut self,
    ) -> Result<Vec<McpAuthorizationRow>, StoreError> {
        self.list(query("SELECT * FROM mcp_authorizations ORDER BY server"))
            .await
    }

    pub async fn find_mcp_authorization(
        &mut self,
        server: &str,
    ) -> Result<Option<McpAuthorizationRow>, StoreError> {
        let query = query("SELECT * FROM mcp_authorizations WHERE server = $1");
        self.find(query.bind(server)).await
    }

    /// Saves the row as the next version. Returns `false` if the stored version is not the version of the row. A
    /// claim is kept unless `ends_claim` is set. The first version is the current time, so a row never has the
    /// version of a deleted row.
    pub async fn update_mcp_authorization(
        &mut self,
        row: &McpAuthorizationRow,
        ends_claim: bool,
    ) -> Result<bool, StoreError> {
        let text = if row.version == 0 {
            "INSERT INTO mcp_authorizations (resource, issuer, client_id, authorized, expires_at, error, value,
                 encrypted, updated_at, server, version)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING"
        } else {
            "UPDATE mcp_authorizations SET resource = $1, issuer = $2, client_id = $3, authorized = $4,
                 expires_at = $5, error = $6, value = $7, encrypted = $8, updated_at = $9, version = version + 1,
                 claimed_until = CASE WHEN $12 = 1 THEN NULL ELSE claimed_until END
             WHERE server = $10 AND version = $11"
        };
        let version = if row.version == 0 {
            row.updated_at.as_millis()
        } else {
            row.version
        };
        let mut query = query(text)
            .bind(&row.resource)
            .bind(row.issuer.as_deref())
            .bind(row.client_id.as_deref())
            .bind(i64::from(row.authorized))
            .bind(row.expires_at.map(Timestamp::as_millis))
            .bind(row.error.as_deref())
            .bind(&row.value)
            .bind(i64::from(row.encrypted))
            .bind(row.updated_at.as_millis())
            .bind(&row.server)
            .bind(version);
        if row.version != 0 {
            query = query.bind(i64::from(ends_claim));
        }
        Ok(self.run(query).await? > 0)
    }

    /// Records why tokens could not be refreshed; `None` if they work again. Does not change the tokens and the
    /// version. Returns `false` if the stored version is a different one.
    pub async fn update_mcp_authorization_error(
        &mut self,
        (server, version): (&str, i64),
        error: Option<&str>,
        ends_claim: bool,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE mcp_authorizations SET error = $1, updated_at = $2,
                 claimed_until = CASE WHEN $5 = 1 THEN NULL ELSE claimed_until END
             WHERE server = $3 AND version = $4",
        );
        let query = query.bind(error).bind(now.as_millis()).bind(server);
        let query = query.bind(version).bind(i64::from(ends_claim));
        Ok(self.run(query).await? > 0)
    }

    /// Claims the refresh of the tokens of this version. Returns `false` while another claim is valid, and if the
    /// stored version is a different one.
    pub async fn claim_mcp_authorization(
        &mut self,
        (server, version): (&str, i64),
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE mcp_authorizations SET claimed_until = $1
             WHERE server = $2 AND version = $3 AND (claimed_until IS NULL OR claimed_until <= $4)",
        );
        let query = query.bind(until.as_millis()).bind(server).bind(version);
        Ok(self.run(query.bind(now.as_millis())).await? > 0)
    }

    /// Extends a claim whose holder has new tokens that are not saved yet. Returns `false` if the stored version is
    /// a different one.
    pub async fn update_mcp_authorization_claim(
        &mut self,
        (server, version): (&str, i64),
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE mcp_authorizations SET claimed_until = $1 WHERE server = $2 AND version = $3",
        );
        let query = query.bind(until.as_millis()).bind(server);
        Ok(self.run(query.bind(version)).await? > 0)
    }

    /// Deletes the authorization of a server. If a version is given, deletes it only if it has this version.
    pub async fn delete_mcp_authorization(
        &mut self,
        server: &str,
        version: Option<i64>,
    ) -> Result<bool, StoreError> {
        let query =
            query("DELETE FROM mcp_authorizations WHERE server = $1 AND ($2 = 0 OR version = $2)");
        let query = query.bind(server).bind(version.unwrap_or(0));
        Ok(self.run(query).await? > 0)
    }
}
