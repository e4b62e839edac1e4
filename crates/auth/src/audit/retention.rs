//! Deletes the oldest rows of the audit log. Rows are verified before they are deleted. An anchor
//! stores the last deleted sequence number and hash, and the total number of deleted rows. A row in
//! the chain repeats the anchor, so a manipulated anchor is detected.

use super::kinds;
use crate::error::AuthError;
use crate::state::Auth;
use gatehouse_domain::{Actor, Random, Timestamp};
use gatehouse_store::{AuditAnchor, AuditEntry, AuditRow, Conn, StoreError};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The number of rows deleted in one transaction.
const BATCH: i64 = 1_000;

/// A row to be deleted does not match the chain. Nothing is deleted, to allow an investigation.
#[derive(Debug, thiserror::Error)]
#[error("the audit log is broken at row {seq}; run `gatehouse audit verify`")]
pub struct BrokenChain {
    /// The row's sequence number.
    pub seq: i64,
}

/// Returns whether a row follows the previous one and has the correct hash.
pub(super) fn follows(row: &AuditRow, seq: i64, hash: &str) -> bool {
    row.seq == seq + 1 && row.prev_hash == hash && row.hash == row.expected_hash()
}

/// Returns the detail of the row in the chain that repeats this anchor.
pub(super) fn anchor_detail(anchor: &AuditAnchor) -> Value {
    json!({ "through": anchor.seq, "hash": anchor.hash, "cut": anchor.cut })
}

impl Auth {
    /// Deletes rows older than `audit.retention_days`. Returns their number. Each batch is one transaction, so that
    /// other writes can run in between.
    pub async fn cut_audit_log(&self) -> Result<u64, AuthError> {
        let days = self.0.settings.load().given.audit_retention_days;
        let kept = Duration::from_hours(24 * u64::from(days));
        let kept_ms = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
        let mut in_all = 0;
        loop {
            let now = self.0.now();
            let inner = &self.0;
            let swept_at = inner.sweep_clock.now(&inner.store, &*inner.clock).await?;
            let before = Timestamp::from_millis(swept_at.as_millis().saturating_sub(kept_ms));
            let random = Arc::clone(&self.0.random);
            let cut = self.0.store.write(move |conn| {
                Box::pin(async move { cut_batch(conn, before, now, &*random).await })
            });
            match cut.await? {
                Ok(0) => return Ok(in_all),
                Ok(cut) => in_all += cut,
                Err(broken) => {
                    tracing::error!(error = %broken, "old rows of the audit log were not deleted");
                    return Ok(in_all);
                }
            }
        }
    }
}

async fn cut_batch(
    conn: &mut Conn,
    before: Timestamp,
    now: Timestamp,
    random: &dyn Random,
) -> Result<Result<u64, BrokenChain>, AuthError> {
    let anchor = conn.find_audit_anchor().await?.unwrap_or_default();
    let rows = conn.list_audit_chain(anchor.seq, BATCH).await?;
    let old = rows.into_iter().take_while(|row| row.at < before);
    let mut next = anchor.clone();
    for row in old {
        if !follows(&row, next.seq, &next.hash) {
            return Ok(Err(BrokenChain { seq: row.seq }));
        }
        next.seq = row.seq;
        next.hash = row.hash;
        next.cut += 1;
    }
    if next.seq == anchor.seq {
        return Ok(Ok(0));
    }
    next.at = now;
    cut(conn, &next, now, random).await?;
    Ok(Ok(u64::try_from(next.cut - anchor.cut).unwrap_or(0)))
}

/// Deletes rows after appending the row about the deletion. The new row continues from the head of the chain, which
/// may itself be deleted.
async fn cut(
    conn: &mut Conn,
    next: &AuditAnchor,
    now: Timestamp,
    random: &dyn Random,
) -> Result<(), StoreError> {
    let actor = Actor::system();
    let entry = AuditEntry {
        kind: kinds::AUDIT_CUT,
        actor: &actor,
        detail: anchor_detail(next),
    };
    conn.append_audit(&entry, now, random).await?;
    conn.update_audit_anchor(next).await?;
    conn.delete_audit_through(next.seq).await.map(drop)
}
