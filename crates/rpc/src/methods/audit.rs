//! `audit.*`: what happened to credentials and the vault.

use super::page;
use crate::method::{Call, Method, method, told};
use gatehouse_domain::{Problem, Scope, Timestamp};
use gatehouse_store::{AuditPage, AuditRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `audit.list`.
pub const LIST: Method = method!(
    "audit.list",
    "Events of credentials and the vault, the newest first.",
    Some(Scope::Admin),
    list(ListParams) -> ListResult
);

/// Params of `audit.list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListParams {
    /// How many at most; 50 when absent.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<i64>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only events of this kind.
    kind: Option<String>,
}

/// Result of `audit.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The events.
    pub events: Vec<AuditEvent>,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One event.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditEvent {
    /// Its id.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: String,
    /// Who.
    pub actor: String,
    /// From where; null for the server itself.
    pub client_ip: Option<String>,
    /// More.
    pub detail: Value,
}

impl From<AuditRow> for AuditEvent {
    fn from(row: AuditRow) -> Self {
        let AuditRow {
            id,
            at,
            kind,
            actor,
            client_ip,
            detail,
            ..
        } = row;
        let detail = serde_json::from_str(&detail).unwrap_or(Value::String(detail));
        Self {
            id,
            at,
            kind,
            actor,
            client_ip,
            detail,
        }
    }
}

async fn list(call: Call, params: ListParams) -> Result<ListResult, Problem> {
    let rows = page::rows(params.limit)?;
    let before_seq = match params.cursor.as_deref().map(str::parse) {
        None => i64::MAX,
        Some(Ok(before)) => before,
        Some(Err(_)) => return Err(Problem::invalid_params("cursor", "not a cursor of ours")),
    };
    let limit = i64::try_from(rows).unwrap_or(i64::MAX).saturating_add(1);
    let query = AuditPage {
        before_seq,
        kind: params.kind,
        limit,
    };
    let found = call
        .rooms
        .store
        .read(|conn| Box::pin(async move { conn.list_audit(&query).await }));
    let mut found = found.await.map_err(told)?;
    let more = found.len() > rows;
    found.truncate(rows);
    let next_cursor = found.last().filter(|_| more).map(|row| row.seq.to_string());
    Ok(ListResult {
        events: found.into_iter().map(AuditEvent::from).collect(),
        next_cursor,
    })
}
