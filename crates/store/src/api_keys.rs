//! Table `auth_api_keys`: keys for programs. Stores only the hash of each key.

use crate::credential_limits::{cidrs_from, cidrs_to_text, patterns_from};
use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{ApiKeyId, Cidr, ScopeSet, Timestamp};

/// A row of `auth_api_keys`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRow {
    /// Public ID, used for listing and revocation.
    pub id: ApiKeyId,
    /// Hex of the SHA-256 of the whole key.
    pub key_hash: String,
    /// The first characters of the key, so that users can tell keys apart.
    pub prefix: String,
    pub label: String,
    pub scopes: ScopeSet,
    /// Networks the key may be used from; `None` allows all.
    pub allowed_cidrs: Option<Vec<Cidr>>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// Updated at intervals, not on each request.
    pub last_used_at: Option<Timestamp>,
    /// The creator as named in the audit log; `None` for keys older than this column.
    pub made_by: Option<String>,
    /// Patterns of methods and paths that the key may call; `None` allows all.
    pub only: Option<Vec<String>>,
    /// Whether a remote caller created the key while authentication was disabled. Such a key is deleted when setup
    /// completes.
    pub dies_at_setup: bool,
}

impl FromRow for ApiKeyRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let scopes: String = row.try_get("scopes")?;
        let cidrs: Option<String> = row.try_get("allowed_cidrs")?;
        let moment = |value: Option<i64>| value.map(Timestamp::from_millis);
        Ok(Self {
            id: ApiKeyId::from_text(row.try_get::<String, _>("id")?),
            key_hash: row.try_get("key_hash")?,
            prefix: row.try_get("prefix")?,
            label: row.try_get("label")?,
            scopes: ScopeSet::from_text(&scopes).map_err(|_| StoreError::Damaged {
                what: "scope list of an API key",
            })?,
            allowed_cidrs: cidrs_from(cidrs.as_deref(), "address list of an API key")?,
            created_at: Timestamp::from_millis(row.try_get("created_at")?),
            expires_at: moment(row.try_get("expires_at")?),
            last_used_at: moment(row.try_get("last_used_at")?),
            made_by: row.try_get("made_by")?,
            only: patterns_from(row.try_get("only_patterns")?),
            dies_at_setup: row.try_get::<i64, _>("dies_at_setup")? != 0,
        })
    }
}

impl Conn {
    pub async fn insert_api_key(&mut self, row: &ApiKeyRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO auth_api_keys (id, key_hash, prefix, label, scopes, allowed_cidrs,
                 created_at, expires_at, last_used_at, dies_at_setup, made_by, only_patterns)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        );
        self.run(
            query
                .bind(row.id.as_str())
                .bind(&row.key_hash)
                .bind(&row.prefix)
                .bind(&row.label)
                .bind(row.scopes.to_text())
                .bind(cidrs_to_text(row.allowed_cidrs.as_deref()))
                .bind(row.created_at.as_millis())
                .bind(row.expires_at.map(Timestamp::as_millis))
                .bind(row.last_used_at.map(Timestamp::as_millis))
                .bind(i64::from(row.dies_at_setup))
                .bind(row.made_by.as_deref())
                .bind(row.only.as_ref().map(|list| list.join(" "))),
        )
        .await
        .map(drop)
    }

    /// Finds a key by its hash, whether expired or not.
    pub async fn find_api_key(&mut self, key_hash: &str) -> Result<Option<ApiKeyRow>, StoreError> {
        let query = query("SELECT * FROM auth_api_keys WHERE key_hash = $1");
        self.find(query.bind(key_hash)).await
    }

    /// Returns all keys, newest first.
    pub async fn list_api_keys(&mut self) -> Result<Vec<ApiKeyRow>, StoreError> {
        self.list(query(
            "SELECT * FROM auth_api_keys ORDER BY created_at DESC, id DESC",
        ))
        .await
    }

    pub async fn update_api_key_used(
        &mut self,
        id: &ApiKeyId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let query = query("UPDATE auth_api_keys SET last_used_at = $2 WHERE id = $1");
        self.run(query.bind(id.as_str()).bind(now.as_millis()))
            .await
            .map(drop)
    }

    /// Deletes a key; `false` if it did not exist.
    pub async fn delete_api_key(&mut self, id: &ApiKeyId) -> Result<bool, StoreError> {
        let query = query("DELETE FROM auth_api_keys WHERE id = $1");
        Ok(self.run(query.bind(id.as_str())).await? > 0)
    }

    /// Deletes all keys, or only those with `dies_at_setup`. Returns the number of deleted keys.
    pub async fn delete_api_keys(&mut self, only_dying: bool) -> Result<u64, StoreError> {
        let query = query("DELETE FROM auth_api_keys WHERE dies_at_setup >= $1");
        self.run(query.bind(i64::from(only_dying))).await
    }
}
