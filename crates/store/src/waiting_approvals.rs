//! Table `waiting_approvals`: tool calls that wait for approval on any node. A row is deleted with its turn. It is
//! listed only while the turn's process is alive.

use crate::delivery_configs::key_of;
use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{ApprovalId, TurnId};

/// A row of `waiting_approvals`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingApprovalRow {
    pub id: ApprovalId,
    pub turn_id: TurnId,
    /// The result of [`Self::token_key_of`] for the token in links to the call. The token itself is not stored,
    /// because it can be enough to answer the call.
    pub token_key: String,
    /// The call as JSON text.
    pub approval: String,
    /// When the call expires. An expired call does not run.
    pub expires_at: Timestamp,
    /// Whether the call was allowed; `None` without an answer.
    pub allowed: Option<bool>,
}

columns! { WaitingApprovalRow: id, turn_id, token_key, approval, expires_at, allowed }

impl WaitingApprovalRow {
    /// Returns 128 bits of the SHA-256 of a token, in hex.
    pub fn token_key_of(token: &str) -> String {
        key_of(token)
    }
}

/// The condition of calls that a person can still answer.
const OPEN: &str = "allowed IS NULL AND expires_at >= $1 AND EXISTS (
    SELECT 1 FROM chat_turns WHERE chat_turns.id = waiting_approvals.turn_id AND alive_until >= $1)";

impl Conn {
    pub async fn insert_waiting_approval(
        &mut self,
        row: &WaitingApprovalRow,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO waiting_approvals (id, turn_id, token_key, approval, expires_at)
             VALUES ($1, $2, $3, $4, $5)",
        );
        let query = query.bind(row.id.as_str()).bind(row.turn_id.as_str());
        let query = query.bind(&row.token_key).bind(&row.approval);
        self.run(query.bind(row.expires_at.as_millis()))
            .await
            .map(drop)
    }

    /// Returns the calls that wait for an answer, oldest first.
    pub async fn list_waiting_approvals(
        &mut self,
        now: Timestamp,
    ) -> Result<Vec<WaitingApprovalRow>, StoreError> {
        let query = query(format!(
            "SELECT * FROM waiting_approvals WHERE {OPEN} ORDER BY id"
        ));
        self.list(query.bind(now.as_millis())).await
    }

    /// Returns all stored calls, oldest first.
    pub async fn list_stored_approvals(&mut self) -> Result<Vec<WaitingApprovalRow>, StoreError> {
        self.list(query("SELECT * FROM waiting_approvals ORDER BY id"))
            .await
    }

    /// Returns the call that waits under this [`WaitingApprovalRow::token_key`].
    pub async fn find_waiting_approval(
        &mut self,
        token_key: &str,
        now: Timestamp,
    ) -> Result<Option<WaitingApprovalRow>, StoreError> {
        let query = query(format!(
            "SELECT * FROM waiting_approvals WHERE token_key = $2 AND {OPEN}"
        ));
        self.find(query.bind(now.as_millis()).bind(token_key)).await
    }

    /// Returns the answered calls whose turns have not read the answer yet.
    pub async fn list_answered_approvals(&mut self) -> Result<Vec<WaitingApprovalRow>, StoreError> {
        self.list(query(
            "SELECT * FROM waiting_approvals WHERE allowed IS NOT NULL ORDER BY id",
        ))
        .await
    }

    /// Stores the answer. Returns `false` if the call no longer waits.
    pub async fn update_waiting_approval(
        &mut self,
        id: &ApprovalId,
        allowed: bool,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let query = query(format!(
            "UPDATE waiting_approvals SET allowed = $3 WHERE id = $2 AND {OPEN}"
        ));
        let query = query.bind(now.as_millis()).bind(id.as_str());
        Ok(self.run(query.bind(i64::from(allowed))).await? > 0)
    }

    /// Deletes a call and returns its row; `None` if there is none.
    pub async fn delete_waiting_approval(
        &mut self,
        id: &ApprovalId,
    ) -> Result<Option<WaitingApprovalRow>, StoreError> {
        let query = query("DELETE FROM waiting_approvals WHERE id = $1 RETURNING *");
        self.find(query.bind(id.as_str())).await
    }
}
