//! `agents.*`: presets that sessions and webhooks run with.

use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use gatehouse_agents::{Agent, AgentChanges, NewAgent};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const LIST: Method = method!(
    "agents.list",
    "Lists the agents, ordered by ID.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

pub const GET: Method = method!(
    "agents.get",
    "Returns an agent.",
    Some(Scope::Read),
    get(IdParams) -> Agent,
    errors: [NotFound]
);

pub const CREATE: Method = method!(
    "agents.create",
    "Creates an agent.",
    Some(Scope::Write),
    create(NewAgent) -> Agent,
    errors: [Conflict, Forbidden],
    audit: Audit::row("agent.created", &["id", "name", "budget"], &["id"])
);

pub const UPDATE: Method = method!(
    "agents.update",
    "Changes an agent. `null` clears a field.",
    Some(Scope::Write),
    update(AgentChanges) -> Agent,
    errors: [NotFound, Forbidden],
    audit: Audit::row("agent.updated", &["id", "name", "budget"], &[])
);

pub const DELETE: Method = method!(
    "agents.delete",
    "Deletes an agent. Its sessions move to `default`, which cannot be deleted.",
    Some(Scope::Write),
    delete(IdParams) -> Done,
    errors: [NotFound, Conflict],
    audit: Audit::row("agent.deleted", &["id"], &[])
);

/// Result of `agents.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The agents, by ID.
    pub agents: Vec<Agent>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params that name an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdParams {
    /// The agent's ID.
    id: String,
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let all = call
        .services
        .agents
        .list_agents()
        .await
        .map_err(to_problem)?;
    let (agents, next_cursor) = by_name(all, &params, |agent| &agent.id)?;
    Ok(ListResult {
        agents,
        next_cursor,
    })
}

async fn get(call: Call, params: IdParams) -> Result<Agent, Problem> {
    let agents = &call.services.agents;
    agents.get_agent(&params.id).await.map_err(to_problem)
}

/// Checks the scope for a budget, which is the same as for `budgets.set`.
fn may_set_budget(call: &Call) -> Result<(), Problem> {
    let auth = &call.services.auth;
    auth.require_scope(&call.identity, Scope::Admin)
}

async fn create(call: Call, new: NewAgent) -> Result<Agent, Problem> {
    if new.budget.is_some() {
        may_set_budget(&call)?;
    }
    call.services
        .agents
        .create_agent(new)
        .await
        .map_err(to_problem)
}

async fn update(call: Call, changes: AgentChanges) -> Result<Agent, Problem> {
    if changes.budget.is_some() {
        may_set_budget(&call)?;
    }
    call.services
        .agents
        .update_agent(changes)
        .await
        .map_err(to_problem)
}

async fn delete(call: Call, params: IdParams) -> Result<Done, Problem> {
    let agents = &call.services.agents;
    agents.delete_agent(&params.id).await.map_err(to_problem)?;
    Ok(DONE)
}
