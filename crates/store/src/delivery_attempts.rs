//! Table `delivery_attempts`: the attempts at a delivery that failed and were repeated.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, Timestamp};

/// An attempt that failed and was repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// Its number, from 1.
    pub attempt: i64,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    pub error: String,
}

columns! { DeliveryAttempt: attempt, started_at, ended_at, error }

impl Conn {
    /// Records a failed attempt. A later record of the same number replaces it.
    pub async fn insert_delivery_attempt(
        &mut self,
        id: &DeliveryId,
        attempt: &DeliveryAttempt,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO delivery_attempts (delivery_id, attempt, started_at, ended_at, error)
             VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (delivery_id, attempt) DO UPDATE SET started_at = excluded.started_at,
                 ended_at = excluded.ended_at, error = excluded.error",
        );
        self.run(
            query
                .bind(id.as_str())
                .bind(attempt.attempt)
                .bind(attempt.started_at.as_millis())
                .bind(attempt.ended_at.as_millis())
                .bind(&attempt.error),
        )
        .await
        .map(drop)
    }

    /// Lists the failed attempts at a delivery, oldest first.
    pub async fn list_delivery_attempts(
        &mut self,
        id: &str,
    ) -> Result<Vec<DeliveryAttempt>, StoreError> {
        let query = query(
            "SELECT attempt, started_at, ended_at, error FROM delivery_attempts
             WHERE delivery_id = $1 ORDER BY attempt",
        );
        self.list(query.bind(id.to_owned())).await
    }
}
