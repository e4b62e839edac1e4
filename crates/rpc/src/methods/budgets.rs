//! `budgets.*`: limits on what models may use.

use crate::method_entry::{Audit, Call, DONE, Done, Method, NoParams, method};
use gatehouse_agents::{Budget, BudgetList, BudgetName, NewBudget};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;

pub const LIST: Method = method!(
    "budgets.list",
    "Lists the budgets with what is used of them in the current period.",
    Some(Scope::Read),
    list(NoParams) -> BudgetList
);

pub const SET: Method = method!(
    "budgets.set",
    "Limits the tokens or the cost of model calls per UTC day or month. What was already used counts.",
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

async fn list(call: Call, _: NoParams) -> Result<BudgetList, Problem> {
    let agents = &call.services.agents;
    agents.list_budgets().await.map_err(to_problem)
}

async fn set(call: Call, new: NewBudget) -> Result<Budget, Problem> {
    let agents = &call.services.agents;
    agents.set_budget(new).await.map_err(to_problem)
}

async fn delete(call: Call, name: BudgetName) -> Result<Done, Problem> {
    let agents = &call.services.agents;
    agents.delete_budget(name).await.map_err(to_problem)?;
    Ok(DONE)
}
