//! Table `auth_sessions`: logins. Stores only the hash of the cookie's secret.

use crate::sql::{FromRow, Query, Row, Value, columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{AuthSessionId, PasskeyId, Timestamp};

/// A row of `auth_sessions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthSessionRow {
    /// Public ID, used for listing and revocation.
    pub id: AuthSessionId,
    /// Hex of the SHA-256 of the cookie's value.
    pub token_hash: String,
    /// `password` or `passkey`.
    pub login_method: String,
    pub user_agent: Option<String>,
    /// Address of the client at login.
    pub client_ip: Option<String>,
    pub created_at: Timestamp,
    /// Updated at intervals, not on each request.
    pub last_seen_at: Timestamp,
    /// Absolute end of the login; use does not extend it.
    pub expires_at: Timestamp,
    /// When the user last confirmed their presence.
    pub confirmed_at: Timestamp,
    /// The `made_by` of the passkey that the user logged in with.
    pub made_by: Option<String>,
    /// The passkey that the user logged in with. `None` for a password, and for a login by an earlier version.
    pub passkey_id: Option<PasskeyId>,
}

columns! {
    AuthSessionRow:
    id, token_hash, login_method, user_agent, client_ip, created_at, last_seen_at, expires_at,
    confirmed_at, made_by, passkey_id
}

struct KnownHash(String);

impl FromRow for KnownHash {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self(row.try_get("token_hash")?))
    }
}

impl Conn {
    /// Stores a login. Uses the passkey's current `made_by`, which may have changed or been cleared since the caller
    /// read it.
    pub async fn insert_auth_session(&mut self, row: &AuthSessionRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO auth_sessions (id, token_hash, login_method, user_agent, client_ip,
                 created_at, last_seen_at, expires_at, confirmed_at, made_by, passkey_id)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9,
                 CASE WHEN EXISTS (SELECT 1 FROM auth_passkeys WHERE id = $11)
                     THEN (SELECT made_by FROM auth_passkeys WHERE id = $11) ELSE $10 END, $11)",
        );
        self.run(
            query
                .bind(row.id.as_str())
                .bind(&row.token_hash)
                .bind(&row.login_method)
                .bind(row.user_agent.as_deref())
                .bind(row.client_ip.as_deref())
                .bind(row.created_at.as_millis())
                .bind(row.last_seen_at.as_millis())
                .bind(row.expires_at.as_millis())
                .bind(row.confirmed_at.as_millis())
                .bind(row.made_by.as_deref())
                .bind(row.passkey_id.as_ref().map(PasskeyId::as_str)),
        )
        .await
        .map(drop)
    }

    /// Finds a login by its token hash. Also returns a login that has ended.
    pub async fn find_auth_session(
        &mut self,
        token_hash: &str,
    ) -> Result<Option<AuthSessionRow>, StoreError> {
        let query = query("SELECT * FROM auth_sessions WHERE token_hash = $1");
        self.find(query.bind(token_hash)).await
    }

    /// Returns the hashes from the given list that are stored, even if their logins have ended.
    pub async fn list_known_token_hashes(
        &mut self,
        token_hashes: &[String],
    ) -> Result<Vec<String>, StoreError> {
        if token_hashes.is_empty() {
            return Ok(Vec::new());
        }
        let places: Vec<String> = (1..=token_hashes.len()).map(|n| format!("${n}")).collect();
        let sql = format!(
            "SELECT token_hash FROM auth_sessions WHERE token_hash IN ({})",
            places.join(", ")
        );
        let query = query(sql);
        let query = token_hashes.iter().fold(query, Query::bind);
        let rows: Vec<KnownHash> = self.list(query).await?;
        Ok(rows.into_iter().map(|KnownHash(hash)| hash).collect())
    }

    /// Returns active logins, most recently used first.
    pub async fn list_auth_sessions(
        &mut self,
        now: Timestamp,
        limit: i64,
    ) -> Result<Vec<AuthSessionRow>, StoreError> {
        let query = query(
            "SELECT * FROM auth_sessions WHERE expires_at > $1
             ORDER BY last_seen_at DESC, id DESC LIMIT $2",
        );
        self.list(query.bind(now.as_millis()).bind(limit)).await
    }

    pub async fn update_auth_session_seen(
        &mut self,
        id: &AuthSessionId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let query = query("UPDATE auth_sessions SET last_seen_at = $2 WHERE id = $1");
        self.run(query.bind(id.as_str()).bind(now.as_millis()))
            .await
            .map(drop)
    }

    /// Records that the user confirmed their presence; `false` if the login no longer exists.
    pub async fn update_auth_session_confirmed(
        &mut self,
        id: &AuthSessionId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query("UPDATE auth_sessions SET confirmed_at = $2 WHERE id = $1");
        Ok(self
            .run(query.bind(id.as_str()).bind(now.as_millis()))
            .await?
            > 0)
    }

    /// Ends a login; `false` if it did not exist. If the login has a `made_by`, it becomes the creator of the API
    /// keys and devices that the login created.
    pub async fn delete_auth_session(&mut self, id: &AuthSessionId) -> Result<bool, StoreError> {
        let deleted = self.delete_auth_sessions("id = $1", id.as_str().into());
        Ok(deleted.await? > 0)
    }

    /// Ends every login except `kept`, or all logins, like [`Self::delete_auth_session`]. Returns their number.
    pub async fn delete_other_auth_sessions(
        &mut self,
        kept: Option<&AuthSessionId>,
    ) -> Result<u64, StoreError> {
        let kept = kept.map_or("", AuthSessionId::as_str);
        self.delete_auth_sessions("id <> $1", kept.into()).await
    }

    /// Deletes expired logins, like [`Self::delete_auth_session`]. Returns their number.
    pub async fn delete_expired_auth_sessions(
        &mut self,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        self.delete_auth_sessions("expires_at <= $1", now.as_millis().into())
            .await
    }

    /// Deletes the logins for which a condition on `$1` is true. Sets a new creator for the credentials that they
    /// created: otherwise these credentials would not end with the credential that registered the login's passkey.
    async fn delete_auth_sessions(
        &mut self,
        condition: &str,
        value: Value<'_>,
    ) -> Result<u64, StoreError> {
        for table in ["auth_api_keys", "auth_devices"] {
            let query = query(format!(
                "UPDATE {table} SET made_by = (
                     SELECT made_by FROM auth_sessions WHERE 'session ' || id = {table}.made_by)
                 WHERE made_by IN (
                     SELECT 'session ' || id FROM auth_sessions
                     WHERE made_by IS NOT NULL AND {condition})"
            ));
            self.run(query.bind(value.to_static())).await?;
        }
        let query = query(format!("DELETE FROM auth_sessions WHERE {condition}"));
        self.run(query.bind(value)).await
    }
}
