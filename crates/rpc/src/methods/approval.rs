//! `approval.*`: tool calls that wait for approval.

use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, NoParams, method};
use gatehouse_agents::{AllowedCall, Approval, Remember};
use gatehouse_auth::STRANGER;
use gatehouse_domain::id::ApprovalId;
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::{AnsweredThrough, ApprovalAnswer, LinkEnd, to_problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const LIST: Method = method!(
    "approval.list",
    "Lists the tool calls that wait for approval, oldest first.",
    Some(Scope::Approvals),
    list(PageParams) -> ListResult
);

pub const FIND: Method = method!(
    "approval.find",
    "Finds a waiting tool call by its ID or by its link `/approve/{token}`.",
    Some(Scope::Approvals),
    find(FindParams) -> Approval,
    errors: [NotFound]
);

pub const RESOLVE: Method = method!(
    "approval.resolve",
    "Approves or denies a tool call.",
    Some(Scope::Approvals),
    resolve(ResolveParams) -> Done,
    errors: [NotFound],
    audit: Audit::Transaction(gatehouse_services::APPROVAL_RESOLVED)
);

pub const REMEMBERED: Method = method!(
    "approval.remembered",
    "Lists the tool calls that need no further approval, newest first.",
    Some(Scope::Approvals),
    remembered(NoParams) -> RememberedResult
);

pub const FORGET: Method = method!(
    "approval.forget",
    "Requires approval of remembered tool calls again.",
    Some(Scope::Approvals),
    forget(ForgetParams) -> Done,
    errors: [NotFound],
    audit: Audit::row("approval.forgotten", &["id"], &[])
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

/// Params of `approval.find`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindParams {
    /// The last part of the link.
    token: Option<String>,
    /// The ID of the approval request, instead of a token.
    id: Option<ApprovalId>,
}

/// Params of `approval.resolve`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveParams {
    /// The ID of the approval request.
    id: ApprovalId,
    /// Whether to allow the tool call.
    allow: bool,
    /// What the approval allows besides this call; only with `allow`.
    remember: Option<Remember>,
}

/// Result of `approval.remembered`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RememberedResult {
    /// The calls that need no further approval, newest first.
    pub calls: Vec<AllowedCall>,
}

/// Params of `approval.forget`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetParams {
    /// The ID in `approval.remembered`.
    id: String,
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let agents = &call.services.agents;
    let all = agents.list_approvals().await.map_err(to_problem)?;
    let (approvals, next_cursor) = by_name(all, &params, |approval| approval.id.as_str())?;
    Ok(ListResult {
        approvals,
        next_cursor,
    })
}

async fn find(call: Call, params: FindParams) -> Result<Approval, Problem> {
    let (services, agents) = (&call.services, &call.services.agents);
    let end = match (params.token, params.id) {
        (Some(token), None) => {
            let found = agents.find_approval_by_token(&token).await;
            if let Some(approval) = found.map_err(to_problem)? {
                return Ok(approval);
            }
            services.approval_link_end(&token).await
        }
        (None, Some(id)) => {
            let waiting = agents.list_approvals().await.map_err(to_problem)?;
            if let Some(approval) = waiting.into_iter().find(|asked| asked.id == id) {
                return Ok(approval);
            }
            services.approval_end(&id).await
        }
        _ => {
            let reason = "expected either a token or an ID";
            return Err(Problem::invalid_params("token", reason));
        }
    };
    Err(gone(end.map_err(to_problem)?))
}

/// Returns `NOT_FOUND`. If a link to the call was sent and the call's end is known, the error
/// contains it.
fn gone(end: Option<LinkEnd>) -> Problem {
    let problem = Problem::not_found("approval");
    match end {
        Some(LinkEnd::Answered(decision)) => {
            let ended = if decision.allowed {
                "allowed"
            } else {
                "denied"
            };
            let problem = problem
                .with("ended", ended)
                .with("at", decision.at.to_string());
            match decision.through {
                Some(through) => problem.with("through", through.as_str()),
                None => problem,
            }
        }
        Some(LinkEnd::Expired(at)) => problem.with("ended", "expired").with("at", at.to_string()),
        Some(LinkEnd::Stopped) | None => problem,
    }
}

async fn resolve(call: Call, params: ResolveParams) -> Result<Done, Problem> {
    let agents = &call.services.agents;
    let waiting = agents.list_approvals().await.map_err(to_problem)?;
    let asked = waiting.into_iter().find(|asked| asked.id == params.id);
    let asked = asked.ok_or_else(|| Problem::not_found("approval"))?;
    // If auth is disabled, an approval by a remote caller is valid only until setup is complete.
    let by = call
        .identity
        .is_unauthenticated_remote()
        .then_some(STRANGER);
    let answer = ApprovalAnswer {
        allow: params.allow,
        remember: params.remember,
        by,
        through: AnsweredThrough::Api,
    };
    call.services
        .resolve_approval(&call.actor(), &asked, answer)
        .await?;
    Ok(DONE)
}

async fn remembered(call: Call, _: NoParams) -> Result<RememberedResult, Problem> {
    let agents = &call.services.agents;
    let calls = agents.list_allowed_calls().await.map_err(to_problem)?;
    Ok(RememberedResult { calls })
}

async fn forget(call: Call, params: ForgetParams) -> Result<Done, Problem> {
    let agents = &call.services.agents;
    agents
        .delete_allowed_call(&params.id)
        .await
        .map_err(to_problem)?;
    Ok(DONE)
}
