//! Table `audit_log`: one row per credential or vault event, each bound to the one before it by a hash.

use crate::sql::{FromRow, Row, query};
use crate::{Conn, StoreError};
use data_encoding::HEXLOWER;
use gatehouse_domain::{Actor, Random, Timestamp};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What is to be noted.
#[derive(Clone, Debug)]
pub struct AuditEntry<'a> {
    /// What happened, such as `login.succeeded`.
    pub kind: &'a str,
    /// Who did it.
    pub actor: &'a Actor,
    /// More, never a secret.
    pub detail: Value,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRow {
    /// Its place in the chain, from 1 without gaps.
    pub seq: i64,
    /// Its id.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What, such as `login.succeeded`.
    pub kind: String,
    /// Who, such as a session's or a key's id.
    pub actor: String,
    /// From where.
    pub client_ip: Option<String>,
    /// More, as JSON text.
    pub detail: String,
    /// The hash of the row before; empty in the first.
    pub prev_hash: String,
    /// The hash over all of the above.
    pub hash: String,
}

impl FromRow for AuditRow {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            seq: row.try_get("seq")?,
            id: row.try_get("id")?,
            at: Timestamp::from_millis(row.try_get("at")?),
            kind: row.try_get("kind")?,
            actor: row.try_get("actor")?,
            client_ip: row.try_get("client_ip")?,
            detail: row.try_get("detail")?,
            prev_hash: row.try_get("prev_hash")?,
            hash: row.try_get("hash")?,
        })
    }
}

impl AuditRow {
    /// The hash that this row must carry: SHA-256 in hex over the JSON array of its other columns.
    /// JSON keeps the columns apart whatever they contain.
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

/// Where the log begins after its oldest rows were cut off; the default is its first row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditAnchor {
    /// The place of the last row that was cut off.
    pub seq: i64,
    /// Its hash.
    pub hash: String,
    /// How many rows were cut off in all.
    pub cut: i64,
    /// When that was done last.
    pub at: Timestamp,
}

impl FromRow for AuditAnchor {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self {
            seq: row.try_get("seq")?,
            hash: row.try_get("hash")?,
            cut: row.try_get("cut")?,
            at: Timestamp::from_millis(row.try_get("at")?),
        })
    }
}

struct KindCount(String, i64);

impl FromRow for KindCount {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self(row.try_get("kind")?, row.try_get("counted")?))
    }
}

/// What to list.
#[derive(Clone, Debug)]
pub struct AuditPage {
    /// Only rows before this place; `i64::MAX` begins at the newest.
    pub before_seq: i64,
    /// Only this kind.
    pub kind: Option<String>,
    /// How many at most.
    pub limit: i64,
}

impl Conn {
    /// The newest event: the head of the chain.
    pub async fn find_audit_head(&mut self) -> Result<Option<AuditRow>, StoreError> {
        self.find(query("SELECT * FROM audit_log ORDER BY seq DESC LIMIT 1"))
            .await
    }

    /// Appends an event to the chain, in the transaction of what it tells of.
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

    /// Events, the newest first.
    pub async fn list_audit(&mut self, page: &AuditPage) -> Result<Vec<AuditRow>, StoreError> {
        let query = query(
            "SELECT * FROM audit_log WHERE seq < $1 AND (kind = $2 OR $2 = '')
             ORDER BY seq DESC LIMIT $3",
        );
        let kind = page.kind.as_deref().unwrap_or_default();
        self.list(query.bind(page.before_seq).bind(kind).bind(page.limit))
            .await
    }

    /// Events after a place, the oldest first: for walking the chain.
    pub async fn list_audit_chain(
        &mut self,
        after_seq: i64,
        limit: i64,
    ) -> Result<Vec<AuditRow>, StoreError> {
        let query = query("SELECT * FROM audit_log WHERE seq > $1 ORDER BY seq LIMIT $2");
        self.list(query.bind(after_seq).bind(limit)).await
    }

    /// Where the log begins, if rows were cut off.
    pub async fn find_audit_anchor(&mut self) -> Result<Option<AuditAnchor>, StoreError> {
        self.find(query("SELECT * FROM audit_anchor WHERE id = 1"))
            .await
    }

    /// Says where the log begins from now on.
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

    /// Cuts off every row up to this place; how many.
    pub async fn delete_audit_through(&mut self, seq: i64) -> Result<u64, StoreError> {
        let query = query("DELETE FROM audit_log WHERE seq <= $1");
        self.run(query.bind(seq)).await
    }

    /// How many rows of each kind an actor has left since then.
    pub async fn count_audit_kinds(
        &mut self,
        actor: &str,
        since: Timestamp,
    ) -> Result<Vec<(String, i64)>, StoreError> {
        let query = query(
            "SELECT kind, COUNT(*) AS counted FROM audit_log WHERE actor = $1 AND at >= $2
             GROUP BY kind ORDER BY kind",
        );
        let rows: Vec<KindCount> = self.list(query.bind(actor).bind(since.as_millis())).await?;
        Ok(rows
            .into_iter()
            .map(|KindCount(kind, count)| (kind, count))
            .collect())
    }
}
