//! Table `audit_log`: one row for each recorded event, such as a change of a credential or a setting. Each row
//! contains the hash of the previous row.

mod lists;

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use data_encoding::HEXLOWER;
use gatehouse_domain::{Actor, Random, Timestamp};
pub use lists::AuditPage;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The subject of the notification in [`crate::Store::changes`] after rows were appended.
pub const AUDIT_GREW: &str = "audit";

/// An event to append to the log.
#[derive(Clone, Debug)]
pub struct AuditEntry<'a> {
    /// The event, such as `login.succeeded`.
    pub kind: &'a str,
    pub actor: &'a Actor,
    /// Further details. Must not contain secrets.
    pub detail: Value,
}

/// A row of `audit_log`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Position in the chain, from 1 without gaps.
    pub seq: i64,
    pub id: String,
    pub at: Timestamp,
    /// The event, such as `login.succeeded`.
    pub kind: String,
    /// The actor, such as the ID of a session or key.
    pub actor: String,
    pub client_ip: Option<String>,
    /// Further details, as JSON text.
    pub detail: String,
    /// Hash of the previous row; empty in the first row.
    pub prev_hash: String,
    /// Hash of all other columns.
    pub hash: String,
}

columns! { AuditRow: seq, id, at, kind, actor, client_ip, detail, prev_hash, hash }

impl AuditRow {
    /// Returns the hash that this row must have: the SHA-256, in hex, of the JSON array of its other columns. The
    /// JSON array separates the columns unambiguously for all values.
    pub fn expected_hash(&self) -> String {
        let columns = serde_json::json!([
            self.seq,
            self.id,
            self.at.as_millis(),
            self.kind,
            self.actor,
            self.client_ip,
            self.detail,
            self.prev_hash,
        ]);
        HEXLOWER.encode(&Sha256::digest(columns.to_string()))
    }
}

/// The start of the log after its oldest rows were deleted. The default value is a log without deleted rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditAnchor {
    /// Position of the last deleted row.
    pub seq: i64,
    /// Hash of the last deleted row.
    pub hash: String,
    /// Total number of deleted rows.
    pub cut: i64,
    /// Time of the last deletion.
    pub at: Timestamp,
}

columns! { AuditAnchor: seq, hash, cut, at }

impl Conn {
    /// Returns the newest event, which is the head of the chain.
    pub async fn find_audit_head(&mut self) -> Result<Option<AuditRow>, StoreError> {
        self.find(query("SELECT * FROM audit_log ORDER BY seq DESC LIMIT 1"))
            .await
    }

    /// Appends an event to the chain. Call it in the transaction of the change that the event describes.
    pub async fn append_audit(
        &mut self,
        entry: &AuditEntry<'_>,
        now: Timestamp,
        random: &dyn Random,
    ) -> Result<AuditRow, StoreError> {
        let (seq, prev_hash) = if let Some(head) = self.find_audit_head().await? {
            (head.seq, head.hash)
        } else {
            let anchor = self.find_audit_anchor().await?.unwrap_or_default();
            (anchor.seq, anchor.hash)
        };
        let mut row = AuditRow {
            seq: seq + 1,
            id: format!("evt_{}", HEXLOWER.encode(&random.bytes::<16>())),
            at: now,
            kind: entry.kind.to_owned(),
            actor: entry.actor.name.clone(),
            client_ip: entry.actor.client_ip.map(|ip| ip.to_string()),
            detail: entry.detail.to_string(),
            prev_hash,
            hash: String::new(),
        };
        row.hash = row.expected_hash();
        self.insert_audit(&row).await?;
        self.note_change(AUDIT_GREW);
        Ok(row)
    }

    async fn insert_audit(&mut self, row: &AuditRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO audit_log (seq, id, at, kind, actor, client_ip, detail, prev_hash, hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        );
        self.run(
            query
                .bind(row.seq)
                .bind(&row.id)
                .bind(row.at.as_millis())
                .bind(&row.kind)
                .bind(&row.actor)
                .bind(row.client_ip.as_deref())
                .bind(&row.detail)
                .bind(&row.prev_hash)
                .bind(&row.hash),
        )
        .await
        .map(drop)
    }

    /// Returns events after a position, oldest first, for verifying the chain.
    pub async fn list_audit_chain(
        &mut self,
        after_seq: i64,
        limit: i64,
    ) -> Result<Vec<AuditRow>, StoreError> {
        let query = query("SELECT * FROM audit_log WHERE seq > $1 ORDER BY seq LIMIT $2");
        self.list(query.bind(after_seq).bind(limit)).await
    }

    /// Returns where the log begins; `None` if no rows were deleted.
    pub async fn find_audit_anchor(&mut self) -> Result<Option<AuditAnchor>, StoreError> {
        self.find(query("SELECT * FROM audit_anchor WHERE id = 1"))
            .await
    }

    /// Records where the log begins.
    pub async fn update_audit_anchor(&mut self, anchor: &AuditAnchor) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO audit_anchor (id, seq, hash, cut, at) VALUES (1, $1, $2, $3, $4)
             ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash,
                 cut = excluded.cut, at = excluded.at",
        );
        self.run(
            query
                .bind(anchor.seq)
                .bind(&anchor.hash)
                .bind(anchor.cut)
                .bind(anchor.at.as_millis()),
        )
        .await
        .map(drop)
    }

    /// Deletes all rows up to and including this position. Returns their number.
    pub async fn delete_audit_through(&mut self, seq: i64) -> Result<u64, StoreError> {
        let query = query("DELETE FROM audit_log WHERE seq <= $1");
        self.run(query.bind(seq)).await
    }
}

#[cfg(test)]
mod tests;
