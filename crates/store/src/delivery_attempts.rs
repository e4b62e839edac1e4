//! Table `delivery_attempts`: the attempts at a delivery that failed and were repeated.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, Timestamp};

/// An attempt that failed and was repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// The number of the attempt, from 1.
    pub attempt: i64,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    pub error: String,
    /// The HTTP status of the receiver's response, if there was one.
    pub status_code: Option<i64>,
    /// The beginning of the response's text, without secrets.
    pub answer: Option<String>,
}

columns! { DeliveryAttempt: attempt, started_at, ended_at, error, status_code, answer }

/// The receiver's response to the attempt that ended a delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryResponse {
    /// The HTTP status, if there was a response.
    pub status_code: Option<i64>,
    /// The beginning of the response's text, without secrets, if the attempt failed.
    pub answer: Option<String>,
}

columns! { DeliveryResponse: status_code, answer }

impl Conn {
    /// Records a failed attempt. A later record of the same number replaces it.
    pub async fn insert_delivery_attempt(
        &mut self,
        id: &DeliveryId,
        attempt: &DeliveryAttempt,
    ) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO delivery_attempts (delivery_id, attempt, started_at, ended_at, error, status_code, answer)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (delivery_id, attempt) DO UPDATE SET started_at = excluded.started_at,
                 ended_at = excluded.ended_at, error = excluded.error,
                 status_code = excluded.status_code, answer = excluded.answer",
        );
        self.run(
            query
                .bind(id.as_str())
                .bind(attempt.attempt)
                .bind(attempt.started_at.as_millis())
                .bind(attempt.ended_at.as_millis())
                .bind(&attempt.error)
                .bind(attempt.status_code)
                .bind(attempt.answer.as_deref()),
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
            "SELECT attempt, started_at, ended_at, error, status_code, answer FROM delivery_attempts
             WHERE delivery_id = $1 ORDER BY attempt",
        );
        self.list(query.bind(id.to_owned())).await
    }

    /// Returns how the receiver responded to the attempt that ended a delivery. `None` if there is no such delivery.
    pub async fn find_delivery_response(
        &mut self,
        id: &str,
    ) -> Result<Option<DeliveryResponse>, StoreError> {
        let query = query("SELECT status_code, answer FROM webhook_deliveries WHERE id = $1");
        self.find(query.bind(id.to_owned())).await
    }
}
