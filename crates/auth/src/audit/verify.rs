//! Verifies the audit log's chain: every row must follow the previous one and have the correct
//! hash.

use super::kinds;
use super::retention::{anchor_detail, follows};
use gatehouse_store::{AuditAnchor, AuditRow, Store, StoreError};
use serde_json::Value;

/// The number of rows read at a time.
const PAGE: i64 = 1_000;

/// The result for an intact chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub rows: u64,
    /// How many older rows were deleted, according to the log.
    pub cut: u64,
    /// The sequence number of the last deleted row; 0 if none.
    pub after: u64,
    /// The hash of the newest row; empty if there is none. Compare it with the hash that is logged every hour. A
    /// chain whose newest rows were removed is otherwise intact.
    pub head: String,
}

/// The chain is broken or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// This row was changed, removed or inserted.
    #[error("the audit log is broken at row {seq}")]
    Broken {
        /// The row's sequence number.
        seq: i64,
    },
    /// The chain contains no row that matches the anchor.
    #[error("rows of the audit log were deleted manually")]
    Anchor,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Verifies the chain from its anchor, or from its first row if nothing was deleted.
pub async fn verify(store: &Store) -> Result<Verified, VerifyError> {
    loop {
        let anchor = anchor_of(store).await?;
        match walk(store, &anchor).await {
            // Retention deleted rows during this read, so verification continues after them.
            Err(_) if anchor_of(store).await? != anchor => {}
            outcome => return outcome,
        }
    }
}

async fn anchor_of(store: &Store) -> Result<AuditAnchor, StoreError> {
    let read = store.read(|conn| Box::pin(async move { conn.find_audit_anchor().await }));
    Ok(read.await?.unwrap_or_default())
}

async fn walk(store: &Store, anchor: &AuditAnchor) -> Result<Verified, VerifyError> {
    let (mut seq, mut head) = (anchor.seq, anchor.hash.clone());
    let mut reported = None;
    loop {
        let read =
            store.read(move |conn| Box::pin(async move { conn.list_audit_chain(seq, PAGE).await }));
        let rows: Vec<AuditRow> = read.await?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            if !follows(&row, seq, &head) {
                return Err(VerifyError::Broken { seq: seq + 1 });
            }
            seq = row.seq;
            if row.kind == kinds::AUDIT_CUT {
                reported = serde_json::from_str::<Value>(&row.detail).ok();
            }
            head = row.hash;
        }
    }
    // A deletion never deletes its own row, so the row always exists.
    if anchor.seq > 0 && reported != Some(anchor_detail(anchor)) {
        return Err(VerifyError::Anchor);
    }
    let number = |n: i64| u64::try_from(n).unwrap_or(0);
    Ok(Verified {
        rows: number(seq - anchor.seq),
        cut: number(anchor.cut),
        after: number(anchor.seq),
        head,
    })
}
