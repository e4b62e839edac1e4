//! Reads the messages of a session.

use crate::method_entry::{Call, Method, method};
use crate::methods::page::rows;
use gatehouse_agents::{HistoryPage, HistoryRange, Message, RunningTurn};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::{Services, to_problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const HISTORY: Method = method!(
    "chat.history",
    "Returns the newest messages of a session, or those before or after a given message, in order.",
    Some(Scope::Read),
    history(HistoryParams) -> HistoryResult,
    errors: [NotFound]
);

/// Params of `chat.history`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryParams {
    /// The session's ID or key.
    session: String,
    /// The maximum number of entries; 50 by default.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<i64>,
    /// Return only messages before this one: `next_cursor` of the previous page.
    before: Option<String>,
    /// Return only messages after this one: the ID of a message of the session. If there are more than `limit`, the
    /// newest are returned, with a `next_cursor`.
    after: Option<String>,
}

/// Result of `chat.history`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HistoryResult {
    /// The messages in chronological order.
    pub messages: Vec<Message>,
    /// The `before` value for the next older page; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The turn that is running in the session, on any node; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<RunningTurn>,
}

/// Returns a page of messages. `GET /api/sessions/{id}/messages` uses the same code.
pub async fn messages(
    services: &Services,
    session: &str,
    limit: Option<i64>,
    range: HistoryRange<'_>,
) -> Result<HistoryResult, Problem> {
    let limit = rows(limit)?;
    let HistoryPage {
        messages,
        next_cursor,
        running,
    } = services
        .agents
        .history_within(session, limit, range)
        .await
        .map_err(to_problem)?;
    Ok(HistoryResult {
        messages,
        next_cursor,
        running,
    })
}

async fn history(call: Call, params: HistoryParams) -> Result<HistoryResult, Problem> {
    let range = HistoryRange {
        after: params.after.as_deref(),
        before: params.before.as_deref(),
    };
    messages(&call.services, &params.session, params.limit, range).await
}
