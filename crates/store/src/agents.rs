//! Table `agents`: the presets that sessions and webhooks use.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `agents`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRow {
    pub id: String,
    pub name: String,
    /// All other settings, as JSON text.
    pub config: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

columns! { AgentRow: id, name, config, created_at, updated_at }

impl Conn {
    /// Returns all agents, ordered by ID.
    pub async fn list_agents(&mut self) -> Result<Vec<AgentRow>, StoreError> {
        let mut all: Vec<AgentRow> = self.list(query("SELECT * FROM agents")).await?;
        // Sorted here because the collations of the engines differ.
        all.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(all)
    }

    pub async fn find_agent(&mut self, id: &str) -> Result<Option<AgentRow>, StoreError> {
        self.find(query("SELECT * FROM agents WHERE id = $1").bind(id))
            .await
    }

    /// Stores a new agent. Fails with `Duplicate` if the ID is taken.
    pub async fn insert_agent(&mut self, row: &AgentRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO agents (id, name, config, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5)",
        );
        self.run(
            query
                .bind(&row.id)
                .bind(&row.name)
                .bind(&row.config)
                .bind(row.created_at.as_millis())
                .bind(row.updated_at.as_millis()),
        )
        .await
        .map(drop)
    }

    /// Returns `false` if the agent does not exist.
    pub async fn update_agent(&mut self, row: &AgentRow) -> Result<bool, StoreError> {
        let query =
            query("UPDATE agents SET name = $2, config = $3, updated_at = $4 WHERE id = $1");
        let query = query.bind(&row.id).bind(&row.name).bind(&row.config);
        Ok(self.run(query.bind(row.updated_at.as_millis())).await? > 0)
    }

    /// Returns `false` if the agent did not exist.
    pub async fn delete_agent(&mut self, id: &str) -> Result<bool, StoreError> {
        self.delete_allowed_calls_of(id).await?;
        let query = query("DELETE FROM agents WHERE id = $1").bind(id);
        Ok(self.run(query).await? > 0)
    }
}
