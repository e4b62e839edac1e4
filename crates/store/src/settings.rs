//! Table `settings`: settings changed at run time.

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

struct SettingRow(String, Value);

impl FromRow for SettingRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let text: String = row.try_get("value")?;
        let value =
            serde_json::from_str(&text).map_err(|_| StoreError::Damaged { what: "setting" })?;
        Ok(Self(row.try_get("key")?, value))
    }
}

struct PreviousRow(String, Option<Value>);

impl FromRow for PreviousRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let text: Option<String> = row.try_get("value")?;
        let value = text.map(|text| serde_json::from_str(&text)).transpose();
        let value = value.map_err(|_| StoreError::Damaged { what: "setting" })?;
        Ok(Self(row.try_get("key")?, value))
    }
}

impl Conn {
    /// Returns all settings changed at run time.
    pub async fn list_settings(&mut self) -> Result<BTreeMap<String, Value>, StoreError> {
        let rows: Vec<SettingRow> = self.list(query("SELECT key, value FROM settings")).await?;
        Ok(rows
            .into_iter()
            .map(|SettingRow(key, value)| (key, value))
            .collect())
    }

    pub async fn find_setting(&mut self, key: &str) -> Result<Option<Value>, StoreError> {
        let query = query("SELECT key, value FROM settings WHERE key = $1").bind(key);
        Ok(self.find::<SettingRow>(query).await?.map(|row| row.1))
    }

    /// Inserts or replaces a setting.
    pub async fn update_setting(
        &mut self,
        key: &str,
        value: &Value,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO settings (key, value, updated_at) VALUES ($1, $2, $3)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
        );
        self.run(
            query
                .bind(key)
                .bind(value.to_string())
                .bind(now.as_millis()),
        )
        .await
        .map(drop)
    }

    /// Deletes a setting. The value of the settings file or the default then applies.
    pub async fn delete_setting(&mut self, key: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM settings WHERE key = $1").bind(key);
        Ok(self.run(query).await? > 0)
    }

    /// Saves the current value of a setting before it is changed by a caller who may not be the owner. Keeps a
    /// value that is already saved.
    pub async fn keep_setting_before_setup(&mut self, key: &str) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO settings_before_setup (key, value)
             VALUES ($1, (SELECT value FROM settings WHERE key = $1))
             ON CONFLICT (key) DO NOTHING",
        );
        self.run(query.bind(key)).await.map(drop)
    }

    /// Deletes the saved value of a setting, so that setup does not restore it.
    pub async fn forget_setting_before_setup(&mut self, key: &str) -> Result<(), StoreError> {
        let query = query("DELETE FROM settings_before_setup WHERE key = $1");
        self.run(query.bind(key)).await.map(drop)
    }

    /// Restores all saved settings. Returns their keys.
    pub async fn restore_settings_before_setup(
        &mut self,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let kept = query("DELETE FROM settings_before_setup RETURNING key, value");
        let kept: Vec<PreviousRow> = self.list(kept).await?;
        let mut keys = Vec::with_capacity(kept.len());
        for PreviousRow(key, value) in kept {
            match value {
                Some(value) => self.update_setting(&key, &value, now).await?,
                None => {
                    self.delete_setting(&key).await?;
                }
            }
            keys.push(key);
        }
        keys.sort();
        Ok(keys)
    }
}
