//! Table `channel_pairings`: people who may write to an agent through a channel, and people who have asked for
//! permission.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;

/// A row of `channel_pairings`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelPairingRow {
    pub id: String,
    /// The channel account that the person writes to.
    pub account_id: String,
    /// The vendor's ID of the person.
    pub person: String,
    /// The person's name at the vendor, as they chose it.
    pub name: String,
    /// Set until the pairing is approved.
    pub code: Option<String>,
    /// Whether the person's messages have the trust level of the owner's messages.
    pub trusted: bool,
    /// When the person asked, which is when the code was created.
    pub asked_at: Timestamp,
    pub approved_at: Option<Timestamp>,
}

columns! {
    ChannelPairingRow:
    id, account_id, person, name, code, trusted, asked_at, approved_at
}

impl Conn {
    /// Returns all pairings, ordered by ID.
    pub async fn list_channel_pairings(&mut self) -> Result<Vec<ChannelPairingRow>, StoreError> {
        self.list(query("SELECT * FROM channel_pairings ORDER BY id"))
            .await
    }

    pub async fn find_channel_pairing(
        &mut self,
        id: &str,
    ) -> Result<Option<ChannelPairingRow>, StoreError> {
        self.find(query("SELECT * FROM channel_pairings WHERE id = $1").bind(id))
            .await
    }

    /// Finds the pairing of a person with an account, approved or not.
    pub async fn find_channel_pairing_of(
        &mut self,
        account_id: &str,
        person: &str,
    ) -> Result<Option<ChannelPairingRow>, StoreError> {
        let query = query("SELECT * FROM channel_pairings WHERE account_id = $1 AND person = $2");
        self.find(query.bind(account_id).bind(person)).await
    }

    /// Finds the pairing that waits for approval with this code.
    pub async fn find_channel_pairing_by_code(
        &mut self,
        code: &str,
    ) -> Result<Option<ChannelPairingRow>, StoreError> {
        let query = query("SELECT * FROM channel_pairings WHERE code = $1 ORDER BY id LIMIT 1");
        self.find(query.bind(code)).await
    }

    /// Counts the pairings of an account that wait for approval.
    pub async fn count_waiting_pairings(&mut self, account_id: &str) -> Result<i64, StoreError> {
        let query = query(
            "SELECT CAST(COUNT(*) AS BIGINT) FROM channel_pairings
             WHERE account_id = $1 AND code IS NOT NULL",
        );
        self.number(query.bind(account_id)).await
    }

    /// Inserts a pairing, or replaces the pairing of the same person.
    pub async fn update_channel_pairing(
        &mut self,
        row: &ChannelPairingRow,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO channel_pairings
                 (id, account_id, person, name, code, trusted, asked_at, approved_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
             ON CONFLICT (account_id, person) DO UPDATE SET name = excluded.name,
                 code = excluded.code, trusted = excluded.trusted, asked_at = excluded.asked_at,
                 approved_at = excluded.approved_at",
        );
        let query = query
            .bind(&row.id)
            .bind(&row.account_id)
            .bind(&row.person)
            .bind(&row.name)
            .bind(&row.code)
            .bind(i64::from(row.trusted))
            .bind(row.asked_at.as_millis())
            .bind(row.approved_at.map(Timestamp::as_millis));
        self.run(query).await.map(drop)
    }

    /// Marks all people as untrusted. Deletes the approvals for their sessions and the approvals that they gave.
    /// Returns the number of people. They stay paired.
    pub async fn end_trust_in_people(&mut self) -> Result<u64, StoreError> {
        let query = query("UPDATE channel_pairings SET trusted = 0 WHERE trusted = 1");
        let people = self.run(query).await?;
        // The keys of people and of their sessions begin with `channel`.
        self.delete_allowed_calls_under("channel").await?;
        Ok(people)
    }

    /// Deletes the pairings of an account that were requested before `before` and are not approved.
    pub async fn delete_expired_pairings(
        &mut self,
        account_id: &str,
        before: Timestamp,
    ) -> Result<(), StoreError> {
        let query = query(
            "DELETE FROM channel_pairings
             WHERE account_id = $1 AND approved_at IS NULL AND asked_at <= $2",
        );
        let query = query.bind(account_id).bind(before.as_millis());
        self.run(query).await.map(drop)
    }

    /// Deletes a pairing; `false` if it did not exist.
    pub async fn delete_channel_pairing(&mut self, id: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM channel_pairings WHERE id = $1").bind(id);
        Ok(self.run(query).await? > 0)
    }
}
