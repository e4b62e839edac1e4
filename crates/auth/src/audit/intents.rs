//! Audit rows that are written after their change. The change's transaction stores the intent. If the process ends
//! before it writes the row, the next process writes it, marked as `unfinished`.

use crate::error::AuthError;
use crate::state::Auth;
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::{AuditEntry, AuditIntent, unguarded};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How long a change may take. After this time, its process no longer counts as running.
const LONGEST_CHANGE: Duration = Duration::from_hours(1);
/// The number of rows written in one transaction.
const BATCH: i64 = 500;

/// How a change with an intent ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Concluded {
    /// The change was made. The members are added to the detail of the row.
    Done(Map<String, Value>),
    /// The change failed with this error. A row is written if a part of it was committed.
    Failed(&'static str),
    /// The change was not made. No row is written.
    Withdrawn,
}

impl Auth {
    /// Creates the intent of an audit row, to pass to [`gatehouse_store::intending`] or [`Auth::begin_change`].
    pub fn intend(
        &self,
        kind: &'static str,
        actor: &Actor,
        detail: Map<String, Value>,
    ) -> AuditIntent {
        let detail = Value::Object(detail);
        AuditIntent::new(kind, actor, &detail, self.0.now(), &*self.0.random)
    }

    /// Stores an intent before a change outside the database. Fails if the caller's credential has ended.
    pub async fn begin_change(&self, intent: &AuditIntent) -> Result<(), AuthError> {
        let intent = intent.clone();
        let written = self.0.store.write(move |conn| {
            Box::pin(async move { Ok::<_, AuthError>(conn.insert_audit_intent(&intent).await?) })
        });
        written.await
    }

    /// Replaces an intent with its audit row. A database error is only logged: the intent remains, and its row is
    /// written later.
    pub async fn conclude(&self, intent: AuditIntent, ended: Concluded) {
        let was_inserted = intent.close();
        if !was_inserted && !matches!(ended, Concluded::Done(_)) {
            return;
        }
        let (now, random) = (self.0.now(), Arc::clone(&self.0.random));
        let kind = intent.row().kind.clone();
        let written = self.0.store.write(move |conn| {
            Box::pin(async move {
                let row = intent.row();
                let was_committed = was_inserted && conn.delete_audit_intent(&row.id).await?;
                let more = match ended {
                    Concluded::Done(more) => more,
                    Concluded::Failed(code) if was_committed => members([("error", json!(code))]),
                    Concluded::Failed(_) | Concluded::Withdrawn => return Ok(()),
                };
                let entry = AuditEntry {
                    kind: &row.kind,
                    actor: &row.actor(),
                    detail: joined(&row.detail, more),
                };
                Ok::<_, AuthError>(conn.append_audit(&entry, now, &*random).await.map(drop)?)
            })
        });
        // The row is written even if the caller's credential has ended.
        if let Err(error) = unguarded(written).await {
            tracing::error!(%error, %kind, "an audit row was not written");
        }
    }

    /// Writes the audit rows of unconcluded changes that began before this time. Returns their number.
    pub async fn conclude_left_changes(&self, before: Timestamp) -> Result<usize, AuthError> {
        let mut in_all = 0;
        loop {
            let (now, random) = (self.0.now(), Arc::clone(&self.0.random));
            let written = self.0.store.write(move |conn| {
                Box::pin(async move {
                    let rows = conn.list_audit_intents(before, BATCH).await?;
                    for row in &rows {
                        conn.delete_audit_intent(&row.id).await?;
                        let began_at = ("began_at", json!(row.at));
                        let more = members([("unfinished", json!(true)), began_at]);
                        let entry = AuditEntry {
                            kind: &row.kind,
                            actor: &row.actor(),
                            detail: joined(&row.detail, more),
                        };
                        conn.append_audit(&entry, now, &*random).await?;
                    }
                    Ok::<_, AuthError>(rows.len())
                })
            });
            let written = written.await?;
            if written == 0 {
                return Ok(in_all);
            }
            in_all += written;
        }
    }

    /// Concludes the changes of ended processes. `started` is the time when this process started; `None` if other
    /// processes make changes.
    pub(crate) async fn sweep_left_changes(&self, started: Option<Timestamp>) {
        let inner = &self.0;
        let swept = async {
            let now = inner.sweep_clock.now(&inner.store, &*inner.clock).await?;
            let longest = i64::try_from(LONGEST_CHANGE.as_millis()).unwrap_or(i64::MAX);
            let long_ago = Timestamp::from_millis(now.as_millis().saturating_sub(longest));
            let before = started.map_or(long_ago, |started| started.max(long_ago));
            self.conclude_left_changes(before).await
        };
        match swept.await {
            Ok(0) => {}
            Ok(rows) => tracing::warn!(rows, "the audit log has changes of unknown result"),
            Err(error) => tracing::warn!(%error, "unfinished changes are not in the audit log"),
        }
    }
}

fn members<const N: usize>(all: [(&str, Value); N]) -> Map<String, Value> {
    let named = all.into_iter();
    named
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Adds members to a detail.
fn joined(detail: &str, more: Map<String, Value>) -> Value {
    let mut detail: Map<String, Value> = serde_json::from_str(detail).unwrap_or_default();
    detail.extend(more);
    Value::Object(detail)
}
