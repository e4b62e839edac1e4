//! Table `auth_password`: the hash of the owner's password.

use crate::sql::query;
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

impl Conn {
    /// Returns the hash as a PHC string, if a password is set.
    pub async fn find_password_hash(&mut self) -> Result<Option<String>, StoreError> {
        self.find(query("SELECT hash FROM auth_password WHERE id = 1"))
            .await
    }

    /// Stores the first password's hash; `false` if one is already set.
    pub async fn insert_password_hash(
        &mut self,
        hash: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(
            "INSERT INTO auth_password (id, hash, created_at, updated_at) VALUES (1, $1, $2, $2)
             ON CONFLICT (id) DO NOTHING",
        );
        Ok(self.run(query.bind(hash).bind(now.as_millis())).await? > 0)
    }

    /// Replaces the hash if the stored hash is still the verified one; otherwise returns `false`.
    pub async fn update_password_hash(
        &mut self,
        verified: &str,
        hash: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let query =
            query("UPDATE auth_password SET hash = $2, updated_at = $3 WHERE id = 1 AND hash = $1");
        Ok(self
            .run(query.bind(verified).bind(hash).bind(now.as_millis()))
            .await?
            > 0)
    }

    pub async fn delete_password(&mut self) -> Result<(), StoreError> {
        self.run(query("DELETE FROM auth_password")).await.map(drop)
    }
}
