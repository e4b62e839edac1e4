//! Table `voice_personas`: voices with a character of their own, of which at most one is active.

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// One persona.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoicePersonaRow {
    /// Its id.
    pub id: String,
    /// What people call it.
    pub label: String,
    /// Everything else, as JSON text.
    pub config: String,
    /// Whether it speaks when nobody names another.
    pub active: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its owner last changed it; becoming active is no change.
    pub updated_at: Timestamp,
}

impl FromRow for VoicePersonaRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.try_get("id")?,
            label: row.try_get("label")?,
            config: row.try_get("config")?,
            active: row.try_get::<i64, _>("active")? != 0,
            created_at: Timestamp::from_millis(row.try_get("created_at")?),
            updated_at: Timestamp::from_millis(row.try_get("updated_at")?),
        })
    }
}

impl Conn {
    /// Every persona, by label, then by id.
    pub async fn list_voice_personas(&mut self) -> Result<Vec<VoicePersonaRow>, StoreError> {
        let mut all: Vec<VoicePersonaRow> =
            self.list(query("SELECT * FROM voice_personas")).await?;
        // Here, because the engines' collations differ.
        all.sort_by(|one, other| (&one.label, &one.id).cmp(&(&other.label, &other.id)));
        Ok(all)
    }

    /// One of them.
    pub async fn find_voice_persona(
        &mut self,
        id: &str,
    ) -> Result<Option<VoicePersonaRow>, StoreError> {
        self.find(query("SELECT * FROM voice_personas WHERE id = $1").bind(id))
            .await
    }

    /// The active one.
    pub async fn find_active_voice_persona(
        &mut self,
    ) -> Result<Option<VoicePersonaRow>, StoreError> {
        self.find(query("SELECT * FROM voice_personas WHERE active = 1"))
            .await
    }

    /// Stores a new persona, which is not active; `Duplicate` when the id is taken.
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

    /// Changes all but the id and whether it is active; `false` when there is no such persona.
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

    /// Makes this one the active persona, or none; `false` when there is no such persona, and then
    /// none is active: the caller gives up its transaction.
    pub async fn update_active_voice_persona(
        &mut self,
        id: Option<&str>,
    ) -> Result<bool, StoreError> {
        // Two statements, because the index lets no two be active even within one.
        self.run(query(
            "UPDATE voice_personas SET active = 0 WHERE active = 1",
        ))
        .await?;
        let Some(id) = id else { return Ok(true) };
        let query = query("UPDATE voice_personas SET active = 1 WHERE id = $1");
        Ok(self.run(query.bind(id)).await? > 0)
    }

    /// Removes one; `false` when there was none.
    pub async fn delete_voice_persona(&mut self, id: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM voice_personas WHERE id = $1");
        Ok(self.run(query.bind(id)).await? > 0)
    }
}
