//! `sessions.*`: conversations with agents. Callers name a session by its ID or its key.

mod branch;
mod list;
mod share;

use crate::method_entry::{Audit, Call, DONE, Done, Method, NoParams, method};
pub use branch::{BRANCH, BranchParams};
use gatehouse_agents::{Session, SessionChanges, TagCount};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::session_access::visible;
use gatehouse_services::to_problem;
pub use list::{LIST, ListParams, ListResult, StartedBy, page};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use share::{SHARE, Shared, UNSHARE};

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
