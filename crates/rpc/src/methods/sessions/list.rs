//! Lists sessions.

use crate::method_entry::{Call, Method, method};
use crate::methods::page::{rows, searched};
use gatehouse_agents::{Session, SessionPage, SessionQuery};
use gatehouse_auth::AuthIdentity;
use gatehouse_domain::{Problem, Scope, Timestamp};
use gatehouse_services::{
    session_access::{may_read_messages, visible},
    to_problem,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const LIST: Method = method!(
    "sessions.list",
    "Lists the sessions, most recently active first.",
    Some(Scope::Read),
    list(ListParams) -> ListResult
);

/// Who started a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StartedBy {
    /// A person, on the page, through the API or in a channel.
    People,
    Webhooks,
}

/// Params of `sessions.list`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListParams {
    /// Return only sessions whose label, key, ID, tags or messages contain this text of at most 200 characters. Results
    /// of tools are not searched, nor are messages for a credential whose `only` does not permit reading them.
    #[schemars(length(max = 200))]
    pub q: Option<String>,
    /// `webhooks`: only sessions that a webhook started; `people`: only the others.
    pub of: Option<StartedBy>,
    /// Return only pinned sessions, or only the others.
    pub pinned: Option<bool>,
    /// Return only archived sessions, or only the others.
    pub archived: Option<bool>,
    /// Return only sessions that anyone with the link can read, or only the others.
    pub shared: Option<bool>,
    /// Return only sessions with this tag. The case of letters does not matter.
    pub tag: Option<String>,
    /// Return only sessions whose last message was added at this time or later.
    pub from: Option<Timestamp>,
    /// Return only sessions whose last message was added before this time.
    pub until: Option<Timestamp>,
    /// The maximum number of entries; 50 by default.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<i64>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// Result of `sessions.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The sessions, most recently active first.
    pub sessions: Vec<Session>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Returns a page of sessions. `GET /api/sessions` uses the same code.
pub async fn page(
    services: &gatehouse_services::Services,
    identity: &AuthIdentity,
    params: &ListParams,
) -> Result<ListResult, Problem> {
    let query = SessionQuery {
        q: searched(params.q.clone())?,
        in_names_only: !may_read_messages(identity),
        of_webhooks: params.of.map(|of| of == StartedBy::Webhooks),
        pinned: params.pinned,
        archived: params.archived,
        shared: params.shared,
        tag: params.tag.clone(),
        from: params.from,
        until: params.until,
        limit: rows(params.limit)?,
        cursor: params.cursor.clone(),
    };
    let SessionPage {
        sessions,
        next_cursor,
    } = services
        .agents
        .list_sessions(&query)
        .await
        .map_err(to_problem)?;
    let sessions = sessions.into_iter();
    Ok(ListResult {
        sessions: sessions.map(|session| visible(identity, session)).collect(),
        next_cursor,
    })
}

async fn list(call: Call, params: ListParams) -> Result<ListResult, Problem> {
    page(&call.services, &call.identity, &params).await
}
