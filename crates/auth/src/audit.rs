//! The audit log: append, list and verify rows. A row is appended in the transaction of the change that it
//! describes. Alternatively, that transaction stores the intent of the row
//! ([`AuditIntent`](gatehouse_store::AuditIntent)). Failures have no transaction and are combined per client and
//! minute. Rows older than `audit.retention_days` are deleted.

pub(crate) mod failures;
mod intents;
pub mod kinds;
mod retention;
pub mod verify;

pub use intents::Concluded;
pub use retention::BrokenChain;
pub use verify::{Verified, VerifyError, verify};

use crate::api::{AuditEvent, AuditFilter, AuditList};
use crate::error::AuthError;
use crate::identity::STRANGER;
use crate::state::Auth;
use failures::{FailureRecord, Summary};
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::{AuditEntry, AuditPage, AuditRow, unguarded};
use serde_json::{Value, json};
use std::sync::Arc;

/// The maximum number of rows per page.
const MAX_LIMIT: i64 = 500;
const DEFAULT_LIMIT: i64 = 50;
/// How long the changes that remote callers made before setup are shown to the owner: 30 days.
const UNAUTHENTICATED_SHOWN_MS: i64 = 30 * 86_400_000;

impl Auth {
    /// `audit.list`: newest first. The caller must check the scope.
    pub async fn audit_list(
        &self,
        limit: Option<i64>,
        cursor: Option<&str>,
        filter: AuditFilter,
    ) -> Result<AuditList, AuthError> {
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(AuthError::field("limit", format!("1 to {MAX_LIMIT}")));
        }
        let before_seq = match cursor.map(str::parse::<i64>) {
            None => i64::MAX,
            Some(Ok(seq)) if seq > 0 => seq,
            Some(_) => return Err(AuthError::field("cursor", "not a cursor of this list")),
        };
        let page = AuditPage {
            before_seq,
            kind: filter.kind,
            actor: filter.actor,
            from: filter.from,
            until: filter.until,
            limit: limit + 1,
        };
        let read = self.0.lists.read(move |conn| {
            Box::pin(async move { Ok::<_, AuthError>(conn.list_audit(&page).await?) })
        });
        let mut rows = read.await?;
        let shown = usize::try_from(limit).unwrap_or(usize::MAX);
        let has_more = rows.len() > shown;
        rows.truncate(shown);
        let next_cursor = rows
            .last()
            .filter(|_| has_more)
            .map(|row| row.seq.to_string());
        Ok(AuditList {
            events: rows.into_iter().map(event).collect(),
            next_cursor,
        })
    }

    /// Records a failure. The first failure of a client in a minute is written immediately, and the others as one
    /// row. The request is refused in any case, so a database error is only logged.
    pub(crate) async fn note_failure(&self, kind: &'static str, actor: &Actor) {
        let (now, mono) = (self.0.now(), self.0.clock.monotonic_ms());
        let FailureRecord { first, ended } = self.0.failures.note(kind, actor, now, mono);
        self.write_summaries(ended).await;
        if first {
            self.append(kind, actor.clone(), json!({})).await;
        }
    }

    /// Writes the summaries of all elapsed minutes, or of all minutes.
    pub(crate) async fn flush_failures(&self, all: bool) {
        let (now, mono) = (self.0.now(), self.0.clock.monotonic_ms());
        self.write_summaries(self.0.failures.take_ended(now, mono, all))
            .await;
    }

    async fn write_summaries(&self, summaries: Vec<Summary>) {
        for Summary {
            kind,
            actor,
            more,
            since,
        } in summaries
        {
            self.append(kind, actor, json!({ "collapsed": more, "since": since }))
                .await;
        }
    }

    /// Records a committed change that the crate that made it did not record. A database error is only logged.
    pub async fn note_change(&self, kind: &'static str, actor: Actor, detail: Value) {
        self.append(kind, actor, detail).await;
    }

    /// Counts, by kind, the changes of the last 30 days that remote callers made while auth was disabled.
    pub async fn unauthenticated_changes(&self) -> Result<Vec<(String, i64)>, AuthError> {
        let since = Timestamp::from_millis(self.0.now().as_millis() - UNAUTHENTICATED_SHOWN_MS);
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let counted = conn.count_audit_kinds(STRANGER, since).await;
                Ok::<_, AuthError>(counted?)
            })
        });
        read.await
    }

    async fn append(&self, kind: &'static str, actor: Actor, detail: Value) {
        let (now, random) = (self.0.now(), Arc::clone(&self.0.random));
        let written = self.0.store.write(move |conn| {
            Box::pin(async move {
                let entry = AuditEntry {
                    kind,
                    actor: &actor,
                    detail,
                };
                Ok::<_, AuthError>(conn.append_audit(&entry, now, &*random).await.map(drop)?)
            })
        });
        // A failure is recorded even if the caller's credential has ended.
        if let Err(error) = unguarded(written).await {
            tracing::error!(%error, kind, "an audit row was not written");
        }
    }
}

fn event(row: AuditRow) -> AuditEvent {
    AuditEvent {
        detail: serde_json::from_str(&row.detail).unwrap_or(Value::Null),
        id: row.id,
        at: row.at,
        kind: row.kind,
        actor: row.actor,
        client_ip: row.client_ip,
    }
}
