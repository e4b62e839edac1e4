//! `sessions.*`: conversations with agents. Callers name a session by its ID or its key.

use super::page::{rows, searched};
use crate::method_entry::{Audit, Call, DONE, Done, Method, NoParams, method};
use gatehouse_agents::{Session, SessionChanges, SessionPage, SessionQuery, TagCount};
use gatehouse_auth::AuthIdentity;
use gatehouse_domain::{Problem, Scope, Timestamp};
use gatehouse_services::session_access::{may_read_messages, visible};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const LIST: Method = method!(
    "sessions.list",
    "Lists the sessions, most recently active first.",
    Some(Scope::Read),
    list(ListParams) -> ListResult
);

pub const GET: Method = method!(
    "sessions.get",
    "Returns a session.",
    Some(Scope::Read),
    get(NameParams) -> Session,
    errors: [NotFound]
);

pub const CREATE: Method = method!(
    "sessions.create",
    "Creates an empty session.",
    Some(Scope::Write),
    create(CreateParams) -> Session,
    audit: Audit::Unrecorded("conversation")
);

pub const BRANCH: Method = method!(
    "sessions.branch",
    "Copies the messages up to and including a turn into a new session, which continues from there.",
    Some(Scope::Write),
    branch(BranchParams) -> Session,
    errors: [NotFound, Conflict],
    audit: Audit::Unrecorded("conversation")
);

pub const RENAME: Method = method!(
    "sessions.rename",
    "Changes the label of a session.",
    Some(Scope::Write),
    rename(RenameParams) -> Session,
    errors: [NotFound],
    audit: Audit::Unrecorded("conversation")
);

pub const UPDATE: Method = method!(
    "sessions.update",
    "Pins, archives or tags a session. Fields that are absent keep their values.",
    Some(Scope::Write),
    update(UpdateParams) -> Session,
    errors: [NotFound],
    audit: Audit::Unrecorded("conversation")
);

pub const TAGS: Method = method!(
    "sessions.tags",
    "Lists all tags of sessions, in alphabetical order.",
    Some(Scope::Read),
    tags(NoParams) -> TagsResult
);

pub const CLEAR_TAINT: Method = method!(
    "sessions.clear_taint",
    "Clears the taint of a session after a person has reviewed it: calls with an effect no longer need approval \
     until the session reads untrusted text again.",
    Some(Scope::Approvals),
    clear_taint(NameParams) -> Session,
    errors: [NotFound, Conflict],
    audit: Audit::Transaction("session.taint_cleared")
);

pub const DELETE: Method = method!(
    "sessions.delete",
    "Deletes a session with its messages and its share, and stops its running turn.",
    Some(Scope::Write),
    delete(NameParams) -> Done,
    errors: [NotFound],
    audit: Audit::row("session.deleted", &["id", "key"], &[])
);

pub const SHARE: Method = method!(
    "sessions.share",
    "Lets everyone with the link read the messages so far. Sharing again keeps the link and adds \
     the messages since then.",
    Some(Scope::Write),
    share(NameParams) -> Shared,
    errors: [NotFound],
    audit: Audit::Transaction("session.shared")
);

pub const UNSHARE: Method = method!(
    "sessions.unshare",
    "Revokes the link permanently.",
    Some(Scope::Write),
    unshare(NameParams) -> Done,
    errors: [NotFound],
    audit: Audit::Transaction("session.unshared")
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

/// Params of `sessions.branch`: a session by exactly one of `id` and `key`, and one of its turns.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchParams {
    id: Option<String>,
    key: Option<String>,
    /// The last turn to copy. It must have ended.
    turn_id: String,
    /// The label of the new session; by default, the label of the original.
    label: Option<String>,
}

/// Params that name a session by exactly one of `id` and `key`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NameParams {
    /// The session's ID. A key is also accepted.
    id: Option<String>,
    /// The session's key.
    key: Option<String>,
}

/// Params of `sessions.create`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateParams {
    /// The display name; `New session` by default.
    label: Option<String>,
    /// The agent that answers; `default` by default.
    agent: Option<String>,
}

/// Params of `sessions.rename`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameParams {
    /// The session's ID. A key is also accepted.
    id: Option<String>,
    /// The session's key.
    key: Option<String>,
    /// The new label.
    label: String,
}

/// Params of `sessions.update`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateParams {
    /// The session's ID. A key is also accepted.
    id: Option<String>,
    /// The session's key.
    key: Option<String>,
    /// Whether to keep it at the top of the list.
    pinned: Option<bool>,
    /// Whether to keep it out of the list.
    archived: Option<bool>,
    /// The new tags, which replace the current ones: at most 10, each one line of at most 40 characters without a
    /// comma. Tags that differ only in the case of letters are one tag.
    tags: Option<Vec<String>>,
}

/// Result of `sessions.tags`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TagsResult {
    pub tags: Vec<TagCount>,
}

/// Result of `sessions.share`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Shared {
    /// The ID of the share. Anyone who knows it can read the session.
    pub share_id: String,
    /// The link; only a path when `server.external_url` is not set.
    pub url: String,
}

/// Returns whichever name was given.
fn name(id: Option<String>, key: Option<String>) -> Result<String, Problem> {
    match (id, key) {
        (Some(name), None) | (None, Some(name)) => Ok(name),
        (None, None) => Err(Problem::invalid_params("id", "required")),
        (Some(_), Some(_)) => Err(Problem::invalid_params(
            "key",
            "give `id` or `key`, not both",
        )),
    }
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

async fn get(call: Call, params: NameParams) -> Result<Session, Problem> {
    let name = name(params.id, params.key)?;
    let found = call.services.agents.get_session(&name).await;
    Ok(visible(&call.identity, found.map_err(to_problem)?))
}

async fn create(call: Call, params: CreateParams) -> Result<Session, Problem> {
    let agents = &call.services.agents;
    let created = agents.create_session(params.label.as_deref(), params.agent);
    created.await.map_err(to_problem)
}

async fn branch(call: Call, params: BranchParams) -> Result<Session, Problem> {
    let BranchParams {
        id,
        key,
        turn_id,
        label,
    } = params;
    let name = name(id, key)?;
    let agents = &call.services.agents;
    let branched = agents.branch_session(&name, &turn_id, label.as_deref());
    branched.await.map_err(to_problem)
}

async fn rename(call: Call, params: RenameParams) -> Result<Session, Problem> {
    let name = name(params.id, params.key)?;
    let agents = &call.services.agents;
    let renamed = agents.rename_session(&name, &params.label).await;
    Ok(visible(&call.identity, renamed.map_err(to_problem)?))
}

async fn update(call: Call, params: UpdateParams) -> Result<Session, Problem> {
    let UpdateParams {
        id,
        key,
        pinned,
        archived,
        tags,
    } = params;
    let name = name(id, key)?;
    let changes = SessionChanges {
        pinned,
        archived,
        tags,
    };
    let updated = call.services.agents.update_session(&name, changes).await;
    Ok(visible(&call.identity, updated.map_err(to_problem)?))
}

async fn tags(call: Call, _: NoParams) -> Result<TagsResult, Problem> {
    let tags = call.services.agents.list_tags().await.map_err(to_problem)?;
    Ok(TagsResult { tags })
}

async fn clear_taint(call: Call, params: NameParams) -> Result<Session, Problem> {
    let name = name(params.id, params.key)?;
    let agents = &call.services.agents;
    let cleared = agents.clear_taint(&call.actor(), &name).await;
    Ok(visible(&call.identity, cleared.map_err(to_problem)?))
}

async fn delete(call: Call, params: NameParams) -> Result<Done, Problem> {
    let name = name(params.id, params.key)?;
    let agents = &call.services.agents;
    agents.delete_session(&name).await.map_err(to_problem)?;
    Ok(DONE)
}

async fn share(call: Call, params: NameParams) -> Result<Shared, Problem> {
    let name = name(params.id, params.key)?;
    let agents = &call.services.agents;
    let share = agents
        .share_session(&call.actor(), &name)
        .await
        .map_err(to_problem)?;
    let resolved = call.services.config.resolved();
    let external = resolved.settings.server.external_url.as_ref();
    let base = external.map_or("", |url| url.as_str().trim_end_matches('/'));
    Ok(Shared {
        url: format!("{base}/share/{}", share.id),
        share_id: share.id,
    })
}

async fn unshare(call: Call, params: NameParams) -> Result<Done, Problem> {
    let name = name(params.id, params.key)?;
    let agents = &call.services.agents;
    agents
        .unshare_session(&call.actor(), &name)
        .await
        .map_err(to_problem)?;
    Ok(DONE)
}
