//! `budgets.*`: limits on the usage of models.

use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use gatehouse_agents::{AgentsError, Budget, BudgetList, BudgetName, NewBudget};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use gatehouse_webhooks::WebhooksError;

pub const LIST: Method = method!(
    "budgets.list",
    "Lists the budgets and how much of each is used in the current period.",
    Some(Scope::Read),
    list(PageParams) -> BudgetList
);

pub const SET: Method = method!(
    "budgets.set",
    "Limits the tokens or the cost of model calls per UTC day or month. Earlier use in the current period counts.",
    Some(Scope::Admin),
    set(NewBudget) -> Budget,
    audit: Audit::row("budget.set", &["scope", "period", "tokens", "cost"], &[])
);

pub const DELETE: Method = method!(
    "budgets.delete",
    "Deletes a budget.",
    Some(Scope::Admin),
    delete(BudgetName) -> Done,
    errors: [NotFound],
    audit: Audit::row("budget.deleted", &["scope", "period"], &[])
);

async fn list(call: Call, params: PageParams) -> Result<BudgetList, Problem> {
    let agents = &call.services.agents;
    let all = agents.list_budgets().await.map_err(to_problem)?.budgets;
    // A scope contains no line break, so it can separate scope and period.
    let place = |budget: Budget| {
        (
            format!("{}\n{}", budget.scope, budget.period.as_str()),
            budget,
        )
    };
    let all: Vec<_> = all.into_iter().map(place).collect();
    let (budgets, next_cursor) = by_name(all, &params, |(place, _)| place)?;
    Ok(BudgetList {
        budgets: budgets.into_iter().map(|(_, budget)| budget).collect(),
        next_cursor,
    })
}

/// Returns the scope with a webhook's internal ID in place of its public ID, because usage is counted by the internal
/// ID. Returns `None` if the agent, the webhook or the API key does not exist.
async fn known(call: &Call, scope: &str) -> Result<Option<String>, Problem> {
    let services = &call.services;
    let Some((kind, id)) = scope.split_once(':') else {
        return Ok(Some(scope.to_owned()));
    };
    if id.contains('\0') {
        return Ok(None);
    }
    let found = match kind {
        "webhook" => match services.webhooks.get(id).await {
            Ok(webhook) => return Ok(Some(format!("{kind}:{}", webhook.id))),
            Err(WebhooksError::NotFound(_)) => false,
            Err(error) => return Err(to_problem(error)),
        },
        "agent" => match services.agents.get_agent(id).await {
            Ok(_) => true,
            Err(AgentsError::NotFound(_)) => false,
            Err(error) => return Err(to_problem(error)),
        },
        "key" => services.auth.has_api_key(id).await.map_err(to_problem)?,
        // A provider may offer a model that is not in the list.
        _ => true,
    };
    Ok(found.then(|| scope.to_owned()))
}

async fn set(call: Call, new: NewBudget) -> Result<Budget, Problem> {
    let agents = &call.services.agents;
    let scope = if let Some(scope) = known(&call, &new.scope).await? {
        scope
    } else {
        // The agent or webhook of a budget may no longer exist. The budget can still be changed or deleted.
        let all = agents.list_budgets().await.map_err(to_problem)?.budgets;
        if !all.iter().any(|budget| budget.scope == new.scope) {
            let reason = "the agent, webhook or API key does not exist";
            return Err(Problem::invalid_params("scope", reason));
        }
        new.scope
    };
    let new = NewBudget { scope, ..new };
    agents.set_budget(new).await.map_err(to_problem)
}

async fn delete(call: Call, name: BudgetName) -> Result<Done, Problem> {
    let agents = &call.services.agents;
    let stored = agents.list_budgets().await.map_err(to_problem)?.budgets;
    let mut named = stored.iter().filter(|budget| budget.period == name.period);
    // Earlier versions stored the public ID of a webhook unchanged.
    let name = if named.any(|budget| budget.scope == name.scope) {
        name
    } else {
        let scope = known(&call, &name.scope).await?;
        BudgetName {
            scope: scope.unwrap_or(name.scope),
            ..name
        }
    };
    agents.delete_budget(name).await.map_err(to_problem)?;
    Ok(DONE)
}
