//! Table `budgets`: limits on the usage of models.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};

/// A row of `budgets`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetRow {
    pub scope: String,
    /// `day` or `month`.
    pub period: String,
    /// The limit in tokens. `None` for a limit on the cost.
    pub tokens: Option<i64>,
    /// The limit on the cost, in billionths of the currency unit of the prices. `None` for a limit on tokens.
    pub cost_nanos: Option<i64>,
}

columns! { BudgetRow: scope, period, tokens, cost_nanos }

impl Conn {
    /// Lists the budgets by scope and period.
    pub async fn list_budgets(&mut self) -> Result<Vec<BudgetRow>, StoreError> {
        let mut all: Vec<BudgetRow> = self.list(query("SELECT * FROM budgets")).await?;
        // Sorted here because the collations of the engines differ.
        all.sort_by(|a, b| (&a.scope, &a.period).cmp(&(&b.scope, &b.period)));
        Ok(all)
    }

    /// Stores a budget, replacing the one with the same scope and period. The warning is sent again for a new
    /// limit.
    pub async fn update_budget(&mut self, row: &BudgetRow) -> Result<(), StoreError> {
        let query = query(
            "INSERT INTO budgets (scope, period, tokens, cost_nanos) VALUES ($1, $2, $3, $4)
             ON CONFLICT (scope, period) DO UPDATE SET tokens = excluded.tokens,
                 cost_nanos = excluded.cost_nanos, warned_day = -1",
        );
        let query = query.bind(&row.scope).bind(&row.period);
        self.run(query.bind(row.tokens).bind(row.cost_nanos))
            .await
            .map(drop)
    }

    /// Deletes a budget. Returns `false` if it does not exist.
    pub async fn delete_budget(&mut self, scope: &str, period: &str) -> Result<bool, StoreError> {
        let query = query("DELETE FROM budgets WHERE scope = $1 AND period = $2");
        Ok(self.run(query.bind(scope).bind(period)).await? > 0)
    }

    /// Records that a budget has warned in the period that began on `day`. Returns `false` if the warning was
    /// already recorded.
    pub async fn warn_budget(&mut self, row: &BudgetRow, day: i64) -> Result<bool, StoreError> {
        let query = query(
            "UPDATE budgets SET warned_day = $3
             WHERE scope = $1 AND period = $2 AND warned_day <> $3",
        );
        let query = query.bind(&row.scope).bind(&row.period).bind(day);
        Ok(self.run(query).await? > 0)
    }
}
