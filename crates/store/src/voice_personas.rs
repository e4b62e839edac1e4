//! Table `voice_personas`: voice presets, of which at most one is active.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `voice_personas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoicePersonaRow {
    pub id: String,
    /// Display name.
    pub label: String,
    /// All other settings, as JSON text.
    pub config: String,
    /// Whether the persona is used when a caller names none.
    pub active: bool,
    pub created_at: Timestamp,
    /// When the owner last changed the persona. Activation does not count.
    pub updated_at: Timestamp,
}

columns! { VoicePersonaRow: id, label, config, active, created_at, updated_at }

impl Conn {
    /// Returns all personas, ordered by label, then by ID.
    pub async fn list_voice_personas(&mut self) -> Result<Vec<VoicePersonaRow>, StoreError> {
        let mut all: Vec<VoicePersonaRow> =
            self.list(query("SELECT * FROM voice_personas")).await?;
        // Sorted here because the collations of the engines differ.
        all.sort_by(|one, other| (&one.label, &one.id).cmp(&(&other.label, &other.id)));
        Ok(all)
    }

    pub async fn find_voice_persona(
        &mut self,
        id: &str,
    ) -> Result<Option<VoicePersonaRow>, StoreError> {
        self.find(query("SELECT * FROM voice_personas WHERE id = $1").bind(id))
            .await
    }

    pub async fn find_active_voice_persona(
        &mut self,
    ) -> Result<Option<VoicePersonaRow>, StoreError> {
        self.find(query("SELECT * FROM voice_personas WHERE active = 1"))
            .await
    }

    /// Stores a new, inactive persona. Fails with `Duplicate` if the ID is taken.
    pub async fn insert_voice_persona(&mut self, row: &VoicePersonaRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO voice_personas (id, label, config, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5)",
        );
        self.run(
            query
                .bind(&row.id)
                .bind(&row.label)
                .bind(&row.config)
                .bind(row.created_at.as_millis())
                .bind(row.updated_at.as_millis()),
        )
        .await
        .map(drop)
    }

    /// Updates all columns except the ID and the active flag; `false` if the persona does not exist.
    pub async fn update_voice_persona(
        &mut self,
        row: &VoicePersonaRow,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE voice_personas SET label = $2, config = $3, updated_at = $4 WHERE id = $1",
        );
        let query = query
            .bind(&row.id)
            .bind(&row.label)
            .bind(&row.config)
            .bind(row.updated_at.as_millis());
        Ok(self.run(query).await? > 0)
    }

    /// Makes this persona the active one, or makes none active. Returns `false` if the persona does not exist. No
    /// persona is then active, so the caller must roll back its transaction.
    pub async fn update_active_voice_persona(
        &mut self,
        id: Option<&str>,
    ) -> Result<bool, StoreError> {
        // Two statements, because the unique index forbids two active rows even within one statement.
        self.run(query(
            "UPDATE voice_personas SET active = 0 WHERE active = 1",
        ))
        .await?;
        let Some(id) = id else { return Ok(true) };
        let query = query("UPDATE voice_personas SET active = 1 WHERE id = $1");
        Ok(self.run(query.bind(id)).await? > 0)
    }

    /// Deletes a persona; `false` if it did not exist.
    pub async fn delete_voice_persona(&mut self, id: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM voice_personas WHERE id = $1");
        Ok(self.run(query.bind(id)).await? > 0)
    }
}
