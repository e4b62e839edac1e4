//! Walking the audit log's chain: every row must follow the one before it and carry its own hash.

use gatehouse_store::{AuditRow, Store, StoreError};

/// Rows read at a time.
const PAGE: i64 = 1_000;

/// An unbroken chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many rows.
    pub rows: u64,
    /// The hash of the newest; compare it with the one logged hourly, for a chain whose end was cut
    /// off is unbroken too. Empty when there is no row.
    pub head: String,
}

/// The chain is not right, or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// This row was changed, removed or put in.
    #[error("the audit log is broken at row {seq}")]
    Broken {
        /// Its place.
        seq: i64,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Walks the whole chain from its first row.
pub async fn verify(store: &Store) -> Result<Verified, VerifyError> {
    let (mut seq, mut head) = (0, String::new());
    loop {
        let read =
            store.read(move |conn| Box::pin(async move { conn.list_audit_chain(seq, PAGE).await }));
        let rows: Vec<AuditRow> = read.await?;
        if rows.is_empty() {
            let rows = u64::try_from(seq).unwrap_or(0);
            return Ok(Verified { rows, head });
        }
        for row in rows {
            seq += 1;
            let follows = row.seq == seq && row.prev_hash == head;
            if !follows || row.hash != row.expected_hash() {
                return Err(VerifyError::Broken { seq });
            }
            head = row.hash;
        }
    }
}
