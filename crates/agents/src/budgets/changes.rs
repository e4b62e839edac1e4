//! Lists, sets and deletes budgets for callers, and checks their input.

use super::{BudgetList, BudgetName, MAX_TOKENS, Scope, released, shown, spent_of};
use crate::agent_budget::AGENT_SCOPE;
use crate::budget_values::{Budget, NANOS, NewBudget};
use crate::error::AgentsError;
use crate::handle::Agents;
use crate::line::is_line;
use gatehouse_domain::Timestamp;
use gatehouse_store::{BudgetRow, Conn, StoreError};

const MAX_SCOPE_CHARACTERS: usize = 300;

/// Maximum limit in the unit of the prices.
const MAX_COST: f64 = 1e9;

impl Agents {
    /// Lists all budgets by scope and period, with their use so far.
    pub async fn list_budgets(&self) -> Result<BudgetList, AgentsError> {
        let now = self.0.clock.now();
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let mut budgets = Vec::new();
                for row in conn.list_budgets().await? {
                    let spent = spent_of(conn, &row, now).await?;
                    budgets.push(shown(&row, spent, now));
                }
                Ok::<_, AgentsError>(BudgetList {
                    budgets,
                    next_cursor: None,
                })
            })
        });
        read.await
    }

    /// Stores a budget, replacing the budget with the same scope and period. Earlier usage in the current period
    /// counts. Deliveries that wait for a budget are retried.
    pub async fn set_budget(&self, new: NewBudget) -> Result<Budget, AgentsError> {
        let row = checked(new)?;
        let now = self.0.clock.now();
        let write = self.0.store.write(move |conn| {
            let row = row.clone();
            Box::pin(async move {
                conn.update_budget(&row).await?;
                let spent = spent_of(conn, &row, now).await?;
                note_changed(conn, &row.scope, now).await?;
                Ok::<_, AgentsError>(shown(&row, spent, now))
            })
        });
        write.await
    }

    /// Deletes a budget. Deliveries that wait for a budget are retried.
    pub async fn delete_budget(&self, name: BudgetName) -> Result<(), AgentsError> {
        let now = self.0.clock.now();
        let write = self.0.store.write(move |conn| {
            let name = name.clone();
            Box::pin(async move {
                let period = name.period.as_str();
                if !conn.delete_budget(&name.scope, period).await? {
                    return Err(AgentsError::NotFound("budget"));
                }
                Ok(note_changed(conn, &name.scope, now).await?)
            })
        });
        write.await
    }
}

/// Retries deliveries that wait for a budget, and reports the changed lists.
async fn note_changed(conn: &mut Conn, scope: &str, now: Timestamp) -> Result<(), StoreError> {
    released(conn, now).await?;
    // An agent is shown with its budget.
    if scope.starts_with(AGENT_SCOPE) {
        conn.insert_change("agents", now).await?;
    }
    Ok(())
}

pub(crate) fn checked(new: NewBudget) -> Result<BudgetRow, AgentsError> {
    if Scope::read(&new.scope).is_none() || !is_line(&new.scope, MAX_SCOPE_CHARACTERS) {
        let reason = "`all`, `agent:<id>`, `model:<provider/model>`, `webhook:<id>` or `key:<id>`";
        return Err(AgentsError::invalid("scope", reason));
    }
    let cost_nanos = match (new.tokens, new.cost) {
        (Some(1..=MAX_TOKENS), None) => None,
        (None, Some(cost)) if cost > 0.0 && cost <= MAX_COST => Some(nanos_of(cost)),
        (Some(_), None) => {
            let reason = format!("expected 1 to {MAX_TOKENS}");
            return Err(AgentsError::invalid("tokens", reason));
        }
        (None, Some(_)) => {
            return Err(AgentsError::invalid("cost", "more than 0, at most 1e9"));
        }
        _ => {
            let reason = "give either `tokens` or `cost`";
            return Err(AgentsError::invalid("tokens", reason));
        }
    };
    Ok(BudgetRow {
        scope: new.scope,
        period: new.period.as_str().to_owned(),
        tokens: new.tokens,
        cost_nanos,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the caller limits the cost to 1e9"
)]
fn nanos_of(cost: f64) -> i64 {
    ((cost * NANOS).round() as i64).max(1)
}
