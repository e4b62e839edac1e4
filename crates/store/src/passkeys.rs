//! Table `auth_passkeys`: public keys of authenticators.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{PasskeyId, Timestamp};

/// A row of `auth_passkeys`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyRow {
    pub id: PasskeyId,
    /// The authenticator's credential ID, base64url.
    pub credential_id: String,
    /// The serialized `WebAuthn` credential.
    pub credential: String,
    pub name: String,
    /// The relying party ID. This is the host on which the passkey was registered and can be used.
    pub rp_id: String,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    /// The API key or device that registered the passkey, as an audit actor.
    pub made_by: Option<String>,
}

columns! {
    PasskeyRow:
    id, credential_id, credential, name, rp_id, created_at, last_used_at, made_by
}

impl Conn {
    /// Stores a passkey. Fails with `Duplicate` if the authenticator is already registered.
    pub async fn insert_passkey(&mut self, row: &PasskeyRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO auth_passkeys (id, credential_id, credential, name, rp_id, created_at,
                 last_used_at, made_by)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        );
        self.run(
            query
                .bind(row.id.as_str())
                .bind(&row.credential_id)
                .bind(&row.credential)
                .bind(&row.name)
                .bind(&row.rp_id)
                .bind(row.created_at.as_millis())
                .bind(row.last_used_at.map(Timestamp::as_millis))
                .bind(row.made_by.as_deref()),
        )
        .await
        .map(drop)
    }

    /// Returns all passkeys, oldest first.
    pub async fn list_passkeys(&mut self) -> Result<Vec<PasskeyRow>, StoreError> {
        self.list(query("SELECT * FROM auth_passkeys ORDER BY created_at, id"))
            .await
    }

    pub async fn find_passkey_by_credential(
        &mut self,
        credential_id: &str,
    ) -> Result<Option<PasskeyRow>, StoreError> {
        let query = query("SELECT * FROM auth_passkeys WHERE credential_id = $1");
        self.find(query.bind(credential_id)).await
    }

    pub async fn count_passkeys(&mut self) -> Result<i64, StoreError> {
        self.number(query("SELECT COUNT(*) FROM auth_passkeys"))
            .await
    }

    /// Records a login. Stores the credential with its new counter, if the stored credential is still the verified
    /// one.
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

    /// Renames a passkey; `false` if it does not exist.
    pub async fn update_passkey_name(
        &mut self,
        id: &PasskeyId,
        name: &str,
    ) -> Result<bool, StoreError> {
        let query = query("UPDATE auth_passkeys SET name = $2 WHERE id = $1");
        Ok(self.run(query.bind(id.as_str()).bind(name)).await? > 0)
    }

    /// Deletes a passkey; `false` if it did not exist.
    pub async fn delete_passkey(&mut self, id: &PasskeyId) -> Result<bool, StoreError> {
        let query = query("DELETE FROM auth_passkeys WHERE id = $1");
        Ok(self.run(query.bind(id.as_str())).await? > 0)
    }

    /// Deletes all passkeys. Returns their number.
    pub async fn delete_passkeys(&mut self) -> Result<u64, StoreError> {
        self.run(query("DELETE FROM auth_passkeys")).await
    }
}
