//! `approval.*`: tool calls that wait for somebody's yes.

use super::page::{PageParams, by_name};
use crate::method::{Call, DONE, Done, Method, method, told};
use gatehouse_agents::Approval;
use gatehouse_domain::id::ApprovalId;
use gatehouse_domain::{Problem, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::future::{Ready, ready};

/// `approval.list`.
pub const LIST: Method = method!(
    "approval.list",
    "The tool calls that wait for a yes, the oldest first.",
    Some(Scope::Approvals),
    list(PageParams) -> ListResult
);

/// `approval.resolve`.
pub const RESOLVE: Method = method!(
    "approval.resolve",
    "Says yes or no to one.",
    Some(Scope::Approvals),
    resolve(ResolveParams) -> Done,
    errors: [NotFound]
);

/// Result of `approval.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The calls.
    pub approvals: Vec<Approval>,
    /// Where the next page begins; absent on the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of `approval.resolve`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveParams {
    /// Which.
    id: ApprovalId,
    /// Yes or no.
    allow: bool,
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
fn list(call: Call, params: PageParams) -> Ready<Result<ListResult, Problem>> {
    let all = call.rooms.agents.list_approvals();
    let page = by_name(all, &params, |approval| approval.id.as_str());
    ready(page.map(|(approvals, next_cursor)| ListResult {
        approvals,
        next_cursor,
    }))
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of a handler")]
fn resolve(call: Call, params: ResolveParams) -> Ready<Result<Done, Problem>> {
    let agents = &call.rooms.agents;
    let resolved = agents.resolve_approval(&params.id, params.allow);
    ready(resolved.map(|()| DONE).map_err(told))
}
