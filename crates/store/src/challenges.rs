//! Table `auth_challenges`: pending `WebAuthn` ceremonies. Stored in the database because the response may
//! arrive at another node.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{ChallengeId, Timestamp};

/// A row of `auth_challenges`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeRow {
    /// Sent to the client, which returns it with its response.
    pub id: ChallengeId,
    /// `register` or `login`.
    pub purpose: String,
    /// The client that started the ceremony.
    pub client_key: String,
    /// The network of the client: a /48 for IPv6, a /24 for IPv4.
    pub network: String,
    /// Relying party ID.
    pub rp_id: String,
    /// Serialized state of the ceremony.
    pub state: String,
    pub expires_at: Timestamp,
}

columns! { ChallengeRow: id, purpose, client_key, network, rp_id, state, expires_at }

impl Conn {
    pub async fn insert_challenge(&mut self, row: &ChallengeRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO auth_challenges (id, purpose, client_key, network, rp_id, state, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
        );
        self.run(
            query
                .bind(row.id.as_str())
                .bind(&row.purpose)
                .bind(&row.client_key)
                .bind(&row.network)
                .bind(&row.rp_id)
                .bind(&row.state)
                .bind(row.expires_at.as_millis()),
        )
        .await
        .map(drop)
    }

    /// Removes and returns a ceremony. A ceremony accepts one response, correct or not.
    pub async fn claim_challenge(
        &mut self,
        id: &ChallengeId,
        purpose: &str,
    ) -> Result<Option<ChallengeRow>, StoreError> {
        let query = query("DELETE FROM auth_challenges WHERE id = $1 AND purpose = $2 RETURNING *");
        self.find(query.bind(id.as_str()).bind(purpose)).await
    }

    /// Returns the numbers of pending ceremonies of this client and in total.
    pub async fn count_challenges(&mut self, client_key: &str) -> Result<(i64, i64), StoreError> {
        let own = query("SELECT COUNT(*) FROM auth_challenges WHERE client_key = $1");
        let own = self.number(own.bind(client_key)).await?;
        let all = self
            .number(query("SELECT COUNT(*) FROM auth_challenges"))
            .await?;
        Ok((own, all))
    }

    /// Deletes up to 100 of the oldest ceremonies of the network that has the most ceremonies. Returns their
    /// number.
    pub async fn delete_crowding_challenges(&mut self) -> Result<u64, StoreError> {
        let query = query(
            "DELETE FROM auth_challenges WHERE id IN (
                 SELECT id FROM auth_challenges WHERE network = (
                     SELECT network FROM auth_challenges GROUP BY network
                     ORDER BY COUNT(*) DESC, MIN(expires_at), network LIMIT 1)
                 ORDER BY expires_at, id LIMIT 100)",
        );
        self.run(query).await
    }

    pub async fn delete_expired_challenges(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        let query = query("DELETE FROM auth_challenges WHERE expires_at <= $1");
        self.run(query.bind(now.as_millis())).await
    }
}
