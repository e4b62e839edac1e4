//! Table `audit_intents`: audit rows that contain the result of a change, and are therefore written after the
//! change. The intent is inserted in the transaction of the change and deleted in the transaction of the audit row.
//! If the process ends between the two transactions, the intent remains.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use data_encoding::HEXLOWER;
use gatehouse_domain::{Actor, ClientKey, Random, Timestamp};
use serde_json::Value;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An audit row that is written when its change is complete. Clones share one intent.
#[derive(Clone, Debug)]
pub struct AuditIntent(Arc<Intent>);

#[derive(Debug)]
struct Intent {
    row: AuditIntentRow,
    /// Whether a transaction inserted the row. The transaction may have been rolled back.
    was_inserted: AtomicBool,
    /// Whether the audit row is being written. Later transactions then do not insert the intent again.
    is_closed: AtomicBool,
}

/// A row of `audit_intents`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditIntentRow {
    pub id: String,
    /// When the change began.
    pub at: Timestamp,
    /// The event, such as `agent.created`.
    pub kind: String,
    /// The actor, such as the ID of a session or key.
    pub actor: String,
    pub client_ip: Option<String>,
    /// The facts known before the change, as JSON text.
    pub detail: String,
}

columns! { AuditIntentRow: id, at, kind, actor, client_ip, detail }

impl AuditIntentRow {
    /// Returns who made the change.
    pub fn actor(&self) -> Actor {
        let client_ip: Option<IpAddr> = self.client_ip.as_deref().and_then(|ip| ip.parse().ok());
        Actor {
            name: self.actor.clone(),
            client_ip,
            client: ClientKey::of(client_ip.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))),
        }
    }
}

impl AuditIntent {
    /// Creates an intent. `detail` must not contain secrets.
    pub fn new(
        kind: &str,
        actor: &Actor,
        detail: &Value,
        now: Timestamp,
        random: &dyn Random,
    ) -> Self {
        let row = AuditIntentRow {
            id: HEXLOWER.encode(&random.bytes::<16>()),
            at: now,
            kind: kind.to_owned(),
            actor: actor.name.clone(),
            client_ip: actor.client_ip.map(|ip| ip.to_string()),
            detail: detail.to_string(),
        };
        Self(Arc::new(Intent {
            row,
            was_inserted: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
        }))
    }

    pub fn row(&self) -> &AuditIntentRow {
        &self.0.row
    }

    /// Stops further inserts. Returns whether a transaction inserted the intent. That transaction may have been
    /// rolled back.
    pub fn close(&self) -> bool {
        self.0.is_closed.store(true, Ordering::SeqCst);
        self.0.was_inserted.load(Ordering::SeqCst)
    }
}

impl Conn {
    /// Inserts an intent in the transaction of its change. If the change has several transactions, only the first
    /// one inserts the intent.
    pub async fn insert_audit_intent(&mut self, intent: &AuditIntent) -> Result<(), StoreError> {
        if intent.0.is_closed.load(Ordering::SeqCst) {
            return Ok(());
        }
        intent.0.was_inserted.store(true, Ordering::SeqCst);
        let row = &intent.0.row;
        let query = query(
            "INSERT INTO audit_intents (id, at, kind, actor, client_ip, detail)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        );
        let query = query.bind(&row.id).bind(row.at.as_millis()).bind(&row.kind);
        let query = query.bind(&row.actor).bind(row.client_ip.as_deref());
        self.run(query.bind(&row.detail)).await.map(drop)
    }

    /// Deletes an intent. Returns `false` if no transaction of its change was committed.
    pub async fn delete_audit_intent(&mut self, id: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM audit_intents WHERE id = $1").bind(id);
        Ok(self.run(query).await? > 0)
    }

    /// Lists intents of changes that began before this time, oldest first.
    pub async fn list_audit_intents(
        &mut self,
        before: Timestamp,
        limit: i64,
    ) -> Result<Vec<AuditIntentRow>, StoreError> {
        let query = query("SELECT * FROM audit_intents WHERE at < $1 ORDER BY at, id LIMIT $2");
        self.list(query.bind(before.as_millis()).bind(limit)).await
    }
}
