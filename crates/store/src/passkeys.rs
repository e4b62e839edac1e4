//! Table `auth_passkeys`: public keys of authenticators.

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{PasskeyId, Timestamp};

/// One passkey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyRow {
    /// Its id, for lists.
    pub id: PasskeyId,
    /// The authenticator's credential id, base64url.
    pub credential_id: String,
    /// The serialised `WebAuthn` credential.
    pub credential: String,
    /// What its owner calls it.
    pub name: String,
    /// The host it was made on and works on.
    pub rp_id: String,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it last logged in.
    pub last_used_at: Option<Timestamp>,
}

impl FromRow for PasskeyRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: PasskeyId::from_text(row.try_get::<String, _>("id")?),
            credential_id: row.try_get("credential_id")?,
            credential: row.try_get("credential")?,
            name: row.try_get("name")?,
            rp_id: row.try_get("rp_id")?,
            created_at: Timestamp::from_millis(row.try_get("created_at")?),
            last_used_at: row
                .try_get::<Option<i64>, _>("last_used_at")?
                .map(Timestamp::from_millis),
        })
    }
}

impl Conn {
    /// Stores a passkey; `Duplicate` when this authenticator is registered already.
    pub async fn insert_passkey(&mut self, row: &PasskeyRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO auth_passkeys (id, credential_id, credential, name, rp_id, created_at,
                 last_used_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        );
        self.run(
            query
                .bind(row.id.as_str())
                .bind(&row.credential_id)
                .bind(&row.credential)
                .bind(&row.name)
                .bind(&row.rp_id)
                .bind(row.created_at.as_millis())
                .bind(row.last_used_at.map(Timestamp::as_millis)),
        )
        .await
        .map(drop)
    }

    /// Every passkey, the oldest first.
    pub async fn list_passkeys(&mut self) -> Result<Vec<PasskeyRow>, StoreError> {
        self.list(query("SELECT * FROM auth_passkeys ORDER BY created_at, id"))
            .await
    }

    /// The passkey with this credential id.
    pub async fn find_passkey_by_credential(
        &mut self,
        credential_id: &str,
    ) -> Result<Option<PasskeyRow>, StoreError> {
        let query = query("SELECT * FROM auth_passkeys WHERE credential_id = $1");
        self.find(query.bind(credential_id)).await
    }

    /// How many there are.
    pub async fn count_passkeys(&mut self) -> Result<i64, StoreError> {
        self.number(query("SELECT COUNT(*) FROM auth_passkeys"))
            .await
    }

    /// Notes a login: the credential with its new counter, if it is still the one that was verified.
    pub async fn update_passkey_used(
        &mut self,
        id: &PasskeyId,
        verified: &str,
        credential: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE auth_passkeys SET credential = $3, last_used_at = $4
             WHERE id = $1 AND credential = $2",
        );
        let query = query
            .bind(id.as_str())
            .bind(verified)
            .bind(credential)
            .bind(now.as_millis());
        Ok(self.run(query).await? > 0)
    }

    /// Renames one; `false` when there is none.
    pub async fn update_passkey_name(
        &mut self,
        id: &PasskeyId,
        name: &str,
    ) -> Result<bool, StoreError> {
        let query = query("UPDATE auth_passkeys SET name = $2 WHERE id = $1");
        Ok(self.run(query.bind(id.as_str()).bind(name)).await? > 0)
    }

    /// Removes one; `false` when there was none.
    pub async fn delete_passkey(&mut self, id: &PasskeyId) -> Result<bool, StoreError> {
        let query = query("DELETE FROM auth_passkeys WHERE id = $1");
        Ok(self.run(query.bind(id.as_str())).await? > 0)
    }

    /// Removes them all.
    pub async fn delete_passkeys(&mut self) -> Result<u64, StoreError> {
        self.run(query("DELETE FROM auth_passkeys")).await
    }
}
