//! Walking the audit log's chain: every row must follow the one before it and carry its own hash.

use super::kinds;
use super::retention::{follows, told_by};
use gatehouse_store::{AuditAnchor, AuditRow, Store, StoreError};
use serde_json::Value;

/// Rows read at a time.
const PAGE: i64 = 1_000;

/// An unbroken chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many rows.
    pub rows: u64,
    /// How many older rows were cut off, as the log itself says.
    pub cut: u64,
    /// The place of the last of them; 0 when there was none.
    pub after: u64,
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
    /// The chain does not say that rows were cut off where it begins.
    #[error("the audit log was cut off by hand")]
    Anchor,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Walks the chain from its anchor, or from its first row where nothing was cut off.
pub async fn verify(store: &Store) -> Result<Verified, VerifyError> {
    loop {
        let anchor = anchor_of(store).await?;
        match walk(store, &anchor).await {
            // Retention removed rows during this read: continue after them.
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
    let mut told = None;
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
                told = serde_json::from_str::<Value>(&row.detail).ok();
            }
            head = row.hash;
        }
    }
    // The newest row about a cut is behind the cut, so it is always there.
    if anchor.seq > 0 && told != Some(told_by(anchor)) {
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
