//! Table `auth_challenges`: `WebAuthn` ceremonies that wait for their answer. In the database, because
//! the answer may come to another node.

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{ChallengeId, Timestamp};

/// One ceremony.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeRow {
    /// Its id, which the client sends back.
    pub id: ChallengeId,
    /// What it is for: `register` or `login`.
    pub purpose: String,
    /// Who asked for it.
    pub client_key: String,
    /// The network that they asked from, wider than one client: a /48 of IPv6, a /24 of IPv4.
    pub network: String,
    /// The relying party it is for.
    pub rp_id: String,
    /// The serialised state of the ceremony.
    pub state: String,
    /// When it ends.
    pub expires_at: Timestamp,
}

impl FromRow for ChallengeRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: ChallengeId::from_text(row.try_get::<String, _>("id")?),
            purpose: row.try_get("purpose")?,
            client_key: row.try_get("client_key")?,
            network: row.try_get("network")?,
            rp_id: row.try_get("rp_id")?,
            state: row.try_get("state")?,
            expires_at: Timestamp::from_millis(row.try_get("expires_at")?),
        })
    }
}

impl Conn {
    /// Stores a ceremony.
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

    /// Takes a ceremony out: it can be answered once, right or wrong.
    pub async fn claim_challenge(
        &mut self,
        id: &ChallengeId,
        purpose: &str,
    ) -> Result<Option<ChallengeRow>, StoreError> {
        let query = query("DELETE FROM auth_challenges WHERE id = $1 AND purpose = $2 RETURNING *");
        self.find(query.bind(id.as_str()).bind(purpose)).await
    }

    /// Ceremonies that wait: of this client, and in all.
    pub async fn count_challenges(&mut self, client_key: &str) -> Result<(i64, i64), StoreError> {
        let own = query("SELECT COUNT(*) FROM auth_challenges WHERE client_key = $1");
        let own = self.number(own.bind(client_key)).await?;
        let all = self
            .number(query("SELECT COUNT(*) FROM auth_challenges"))
            .await?;
        Ok((own, all))
    }

    /// Forgets the oldest ceremonies of the network that has most of them, a hundred at most; how many.
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

    /// Forgets ceremonies that have expired.
    pub async fn delete_expired_challenges(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        let query = query("DELETE FROM auth_challenges WHERE expires_at <= $1");
        self.run(query.bind(now.as_millis())).await
    }
}
