//! `approval.*`: tool calls that wait for approval.

use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use gatehouse_agents::Approval;
use gatehouse_domain::id::ApprovalId;
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::future::{Ready, ready};

pub const LIST: Method = method!(
    "approval.list",
    "Lists the tool calls that wait for approval, oldest first.",
    Some(Scope::Approvals),
    list(PageParams) -> ListResult
);

pub const RESOLVE: Method = method!(
    "approval.resolve",
    "Approves or denies a tool call.",
    Some(Scope::Approvals),
    resolve(ResolveParams) -> Done,
    errors: [NotFound],
    audit: Audit::Transaction("approval.resolved")
);

/// Result of `approval.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The waiting tool calls, oldest first.
    pub approvals: Vec<Approval>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of `approval.resolve`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveParams {
    /// The id of the approval request.
    id: ApprovalId,
    /// Whether to allow the tool call.
    allow: bool,
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
fn list(call: Call, params: PageParams) -> Ready<Result<ListResult, Problem>> {
    let all = call.services.agents.list_approvals();
    let page = by_name(all, &params, |approval| approval.id.as_str());
    ready(page.map(|(approvals, next_cursor)| ListResult {
        approvals,
        next_cursor,
    }))
}

async fn resolve(call: Call, params: ResolveParams) -> Result<Done, Problem> {
    let agents = &call.services.agents;
    let waiting = agents.list_approvals();
    let asked = waiting.into_iter().find(|asked| asked.id == params.id);
    agents
        .resolve_approval(&params.id, params.allow)
        .map_err(to_problem)?;
    // Records names only, because the arguments may contain anything.
    let detail = json!({
        "id": params.id,
        "allow": params.allow,
        "tool": asked.as_ref().map(|asked| &asked.tool),
        "session": asked.as_ref().map(|asked| &asked.session),
    });
    let auth = &call.services.auth;
    auth.note_change("approval.resolved", call.actor(), detail)
        .await;
    Ok(DONE)
}
