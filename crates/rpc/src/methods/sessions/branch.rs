//! Creates a session from the beginning of another.

use super::name;
use crate::method_entry::{Audit, Call, Method, method};
use gatehouse_agents::Session;
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use serde::Deserialize;

pub const BRANCH: Method = method!(
    "sessions.branch",
    "Copies the messages up to and including a turn into a new session, which continues from there.",
    Some(Scope::Write),
    branch(BranchParams) -> Session,
    errors: [NotFound, Conflict],
    audit: Audit::Unrecorded("conversation")
);

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
