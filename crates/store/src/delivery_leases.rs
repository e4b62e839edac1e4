//! Leases of running deliveries.

use crate::sql::{FromRow, Row, columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::{DeliveryId, Timestamp};

/// The lease of a running delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRow {
    pub id: DeliveryId,
    pub owner: String,
    /// The expiry that the owner last wrote; it changes with each renewal.
    pub until: Timestamp,
    /// The number of the attempt.
    pub attempts: i64,
}

impl FromRow for LeaseRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            id: DeliveryId::from_text(row.try_get::<String, _>("id")?),
            owner: row
                .try_get::<Option<String>, _>("lease_owner")?
                .unwrap_or_default(),
            until: Timestamp::from_millis(
                row.try_get::<Option<i64>, _>("lease_until")?.unwrap_or(0),
            ),
            attempts: row.try_get("attempts")?,
        })
    }
}

struct Renewed {
    id: DeliveryId,
    attempts: i64,
}

columns! { Renewed: id, attempts }

impl Conn {
    /// Extends all leases of an owner. Returns their deliveries and the numbers of the attempts.
    pub async fn renew_leases(
        &mut self,
        owner: &str,
        until: Timestamp,
    ) -> Result<Vec<(DeliveryId, i64)>, StoreError> {
        let query = query(
            "UPDATE webhook_deliveries SET lease_until = $2
             WHERE status = 'processing' AND lease_owner = $1 RETURNING id, attempts",
        );
        let rows: Vec<Renewed> = self.list(query.bind(owner).bind(until.as_millis())).await?;
        Ok(rows.into_iter().map(|row| (row.id, row.attempts)).collect())
    }

    /// Lists the leases of all nodes.
    pub async fn list_leases(&mut self) -> Result<Vec<LeaseRow>, StoreError> {
        self.list(query(
            "SELECT id, lease_owner, lease_until, attempts FROM webhook_deliveries
             WHERE status = 'processing' ORDER BY id",
        ))
        .await
    }
}
