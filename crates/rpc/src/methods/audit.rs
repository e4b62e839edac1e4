//! `audit.*`: the log of changes to credentials, secrets, settings and other records.

use crate::method_entry::{Call, Method, method};
use gatehouse_auth::api::{AuditFilter, AuditList};
use gatehouse_domain::{Problem, Scope, Timestamp};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use serde::Deserialize;

pub const LIST: Method = method!(
    "audit.list",
    "Lists rows of the audit log, newest first.",
    Some(Scope::Admin),
    list(ListParams) -> AuditList
);

/// Params of `audit.list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListParams {
    /// The maximum number of entries; 50 by default.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<i64>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
    /// Return only events of this kind.
    kind: Option<String>,
    /// Return only events by this actor, as in the field `actor` of an event.
    actor: Option<String>,
    /// Return only events at this time or later.
    from: Option<Timestamp>,
    /// Return only events before this time.
    until: Option<Timestamp>,
}

async fn list(call: Call, params: ListParams) -> Result<AuditList, Problem> {
    let ListParams {
        limit,
        cursor,
        kind,
        actor,
        from,
        until,
    } = params;
    let filter = AuditFilter {
        kind,
        actor,
        from,
        until,
    };
    call.services
        .auth
        .audit_list(limit, cursor.as_deref(), filter)
        .await
        .map_err(to_problem)
}
