//! Table `auth_devices`: paired devices. Stores only the hashes of their tokens.

use crate::credential_limits::{cidrs_from, cidrs_to_text, patterns_from};
use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{Cidr, DeviceId, ScopeSet, Timestamp};

/// A row of `auth_devices`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRow {
    /// Public ID, used for listing and revocation.
    pub id: DeviceId,
    /// Hex of the SHA-256 of the whole token.
    pub token_hash: String,
    pub label: String,
    pub scopes: ScopeSet,
    /// When the device was paired.
    pub created_at: Timestamp,
    /// Time of the last connection; updated at intervals.
    pub last_seen_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    /// Networks the device may connect from; `None` allows all.
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The credential that paired the device, as named in the audit log; `None` for devices older than this
    /// column.
    pub made_by: Option<String>,
    /// Patterns of methods that the device may call; `None` allows all.
    pub only: Option<Vec<String>>,
    /// Whether a remote caller paired the device while authentication was disabled. Such a device is deleted when
    /// setup completes.
    pub dies_at_setup: bool,
}

impl FromRow for DeviceRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let scopes: String = row.try_get("scopes")?;
        let seen: Option<i64> = row.try_get("last_seen_at")?;
        let end: Option<i64> = row.try_get("expires_at")?;
        let cidrs: Option<String> = row.try_get("allowed_cidrs")?;
        Ok(Self {
            id: DeviceId::from_text(row.try_get::<String, _>("id")?),
            token_hash: row.try_get("token_hash")?,
            label: row.try_get("label")?,
            scopes: ScopeSet::from_text(&scopes).map_err(|_| StoreError::Damaged {
                what: "scope list of a device",
            })?,
            created_at: Timestamp::from_millis(row.try_get("created_at")?),
            last_seen_at: seen.map(Timestamp::from_millis),
            expires_at: end.map(Timestamp::from_millis),
            allowed_cidrs: cidrs_from(cidrs.as_deref(), "address list of a device")?,
            made_by: row.try_get("made_by")?,
            only: patterns_from(row.try_get("only_patterns")?),
            dies_at_setup: row.try_get::<i64, _>("dies_at_setup")? != 0,
        })
    }
}

impl Conn {
    pub async fn insert_device(&mut self, row: &DeviceRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO auth_devices (id, token_hash, label, scopes, created_at, last_seen_at,
                 dies_at_setup, expires_at, allowed_cidrs, made_by, only_patterns)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        );
        self.run(
            query
                .bind(row.id.as_str())
                .bind(&row.token_hash)
                .bind(&row.label)
                .bind(row.scopes.to_text())
                .bind(row.created_at.as_millis())
                .bind(row.last_seen_at.map(Timestamp::as_millis))
                .bind(i64::from(row.dies_at_setup))
                .bind(row.expires_at.map(Timestamp::as_millis))
                .bind(cidrs_to_text(row.allowed_cidrs.as_deref()))
                .bind(row.made_by.as_deref())
                .bind(row.only.as_ref().map(|list| list.join(" "))),
        )
        .await
        .map(drop)
    }

    /// Finds a device by the hash of its token.
    pub async fn find_device(&mut self, token_hash: &str) -> Result<Option<DeviceRow>, StoreError> {
        let query = query("SELECT * FROM auth_devices WHERE token_hash = $1");
        self.find(query.bind(token_hash)).await
    }

    /// Returns all devices, newest first.
    pub async fn list_devices(&mut self) -> Result<Vec<DeviceRow>, StoreError> {
        self.list(query(
            "SELECT * FROM auth_devices ORDER BY created_at DESC, id DESC",
        ))
        .await
    }

    pub async fn update_device_seen(
        &mut self,
        id: &DeviceId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let query = query("UPDATE auth_devices SET last_seen_at = $2 WHERE id = $1");
        self.run(query.bind(id.as_str()).bind(now.as_millis()))
            .await
            .map(drop)
    }

    /// Deletes a device; `false` if it did not exist.
    pub async fn delete_device(&mut self, id: &DeviceId) -> Result<bool, StoreError> {
        let query = query("DELETE FROM auth_devices WHERE id = $1");
        Ok(self.run(query.bind(id.as_str())).await? > 0)
    }

    /// Deletes all devices, or only those with `dies_at_setup`. Returns the number of deleted devices.
    pub async fn delete_devices(&mut self, only_dying: bool) -> Result<u64, StoreError> {
        let query = query("DELETE FROM auth_devices WHERE dies_at_setup >= $1");
        self.run(query.bind(i64::from(only_dying))).await
    }
}
