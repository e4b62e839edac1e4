//! Table `auth_devices`: paired devices. Their tokens are here only as hashes.

use crate::credential_limits::{cidrs_from, cidrs_to_text, patterns_from};
use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{Cidr, DeviceId, ScopeSet, Timestamp};

/// One paired device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRow {
    /// Its id, for lists and revocation.
    pub id: DeviceId,
    /// Hex of the SHA-256 of the whole token.
    pub token_hash: String,
    /// What its owner calls it.
    pub label: String,
    /// What it may do.
    pub scopes: ScopeSet,
    /// When it was paired.
    pub created_at: Timestamp,
    /// When it was last connected; written now and then.
    pub last_seen_at: Option<Timestamp>,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// Where it may be used from; `None` is anywhere.
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// Who paired it, as the audit log names them; `None` for devices older than this field.
    pub made_by: Option<String>,
    /// Patterns of methods that it may call; `None` is all.
    pub only: Option<Vec<String>>,
    /// Paired by a remote caller while auth was disabled: it dies when setup completes.
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
    /// Stores a device.
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

    /// The device with this token's hash.
    pub async fn find_device(&mut self, token_hash: &str) -> Result<Option<DeviceRow>, StoreError> {
        let query = query("SELECT * FROM auth_devices WHERE token_hash = $1");
        self.find(query.bind(token_hash)).await
    }

    /// Every device, the newest first.
    pub async fn list_devices(&mut self) -> Result<Vec<DeviceRow>, StoreError> {
        self.list(query(
            "SELECT * FROM auth_devices ORDER BY created_at DESC, id DESC",
        ))
        .await
    }

    /// Notes that a device was connected.
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

    /// Revokes one; `false` when there was none.
    pub async fn delete_device(&mut self, id: &DeviceId) -> Result<bool, StoreError> {
        let query = query("DELETE FROM auth_devices WHERE id = $1");
        Ok(self.run(query.bind(id.as_str())).await? > 0)
    }

    /// Revokes every device, or only those that die when setup completes.
    pub async fn delete_devices(&mut self, only_dying: bool) -> Result<u64, StoreError> {
        let query = query("DELETE FROM auth_devices WHERE dies_at_setup >= $1");
        self.run(query.bind(i64::from(only_dying))).await
    }
}
