//! An agent's own budget. It is stored as the budget with the scope `agent:<id>`, not with the agent.

use crate::agent::Agent;
use crate::budget_values::{AgentBudget, BudgetPeriod, NewBudget, cost_of};
use crate::budgets::{checked, released};
use crate::error::AgentsError;
use gatehouse_domain::Timestamp;
use gatehouse_store::{BudgetRow, Conn, StoreError};

/// The beginning of the scope of an agent's own budget.
pub(crate) const AGENT_SCOPE: &str = "agent:";

fn scope_of(agent: &str) -> String {
    format!("{AGENT_SCOPE}{agent}")
}

impl AgentBudget {
    fn of(row: &BudgetRow) -> Self {
        Self {
            period: BudgetPeriod::of(row),
            tokens: row.tokens,
            cost: row.cost_nanos.map(cost_of),
        }
    }

    fn into_row(self, agent: &str) -> Result<BudgetRow, AgentsError> {
        checked(NewBudget {
            scope: scope_of(agent),
            period: self.period,
            tokens: self.tokens,
            cost: self.cost,
        })
    }
}

/// Fills in the budgets of agents. If an agent has both a daily and a monthly budget, the daily one is shown.
pub(crate) async fn fill_in(conn: &mut Conn, agents: &mut [Agent]) -> Result<(), StoreError> {
    // Sorted by scope and period, `day` before `month`.
    let rows = conn.list_budgets().await?;
    for agent in agents {
        let scope = scope_of(&agent.id);
        let own = rows.iter().find(|row| row.scope == scope);
        agent.budget = own.map(AgentBudget::of);
    }
    Ok(())
}

/// Replaces the budgets of the agent.
pub(crate) async fn store(
    conn: &mut Conn,
    agent: &str,
    budget: Option<AgentBudget>,
    now: Timestamp,
) -> Result<(), AgentsError> {
    let row = budget.map(|budget| budget.into_row(agent)).transpose()?;
    delete(conn, agent).await?;
    if let Some(row) = row {
        conn.update_budget(&row).await?;
    }
    Ok(released(conn, now).await?)
}

/// Deletes the budgets of an agent. Returns whether there were any.
pub(crate) async fn delete(conn: &mut Conn, agent: &str) -> Result<bool, StoreError> {
    let scope = scope_of(agent);
    let mut is_deleted = false;
    for period in [BudgetPeriod::Day, BudgetPeriod::Month] {
        is_deleted |= conn.delete_budget(&scope, period.as_str()).await?;
    }
    Ok(is_deleted)
}
