//! Budgets: limits on the usage of models in a UTC day or month. A budget warns at 80 % and stops at 100 %, before the
//! next call to a model.
//!
//! The check reads stored usage only. Running calls are not included, so concurrent calls can exceed a limit by their
//! own usage.

mod changes;

use crate::budget_values::{Budget, BudgetPeriod, BudgetWarning, Exhausted, cost_of};
use crate::handle::Inner;
use crate::usage::Cause;
pub(crate) use changes::checked;
use gatehouse_domain::{Actor, Timestamp};
use gatehouse_store::{AuditEntry, BudgetRow, Conn, Spent, StoreError, UsageColumn, UsageRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A budget warns when this share of it is used, in percent.
const WARNS_AT_PERCENT: i128 = 80;

/// Maximum limit in tokens: the largest integer that every JSON parser reads exactly.
const MAX_TOKENS: i64 = 9_007_199_254_740_991;

/// Identifies a budget.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetName {
    /// `all`, `agent:<id>`, `model:<provider/model>`, `webhook:<id>` or `key:<id>`. A webhook's public ID works too.
    pub scope: String,
    pub period: BudgetPeriod,
}

/// The result of `budgets.list`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BudgetList {
    /// The budgets, by scope and period.
    pub budgets: Vec<Budget>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The calls that a budget applies to.
enum Scope<'a> {
    All,
    Of(UsageColumn, &'a str),
}

impl<'a> Scope<'a> {
    fn read(scope: &'a str) -> Option<Self> {
        if scope == "all" {
            return Some(Self::All);
        }
        let (kind, id) = scope.split_once(':')?;
        let column = match kind {
            "agent" => UsageColumn::Agent,
            "model" => UsageColumn::Model,
            "webhook" => UsageColumn::Webhook,
            "key" => UsageColumn::ApiKey,
            _ => return None,
        };
        (!id.is_empty()).then_some(Self::Of(column, id))
    }

    /// Returns the column and value that select the counted usage, or `None` for all usage.
    const fn selected(&self) -> Option<(UsageColumn, &'a str)> {
        match self {
            Self::All => None,
            Self::Of(column, value) => Some((*column, value)),
        }
    }

    /// Returns whether usage with this cause counts. Without a model, budgets of models do not
    /// apply.
    fn applies(&self, cause: &Cause, model: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Of(column, value) => match column {
                UsageColumn::Agent => cause.agent == *value,
                UsageColumn::Model => model == Some(*value),
                UsageColumn::Webhook => cause.webhook == *value,
                UsageColumn::ApiKey => cause.api_key == *value,
                UsageColumn::Day => false,
            },
        }
    }
}

/// Returns whether at least `percent` of the limit is used.
fn has_used(row: &BudgetRow, spent: Spent, percent: i128) -> bool {
    let reached = |limit: i64, used: i64| i128::from(used) * 100 >= i128::from(limit) * percent;
    row.tokens.is_some_and(|limit| reached(limit, spent.tokens))
        || row
            .cost_nanos
            .is_some_and(|limit| reached(limit, spent.cost_nanos))
}

fn shown(row: &BudgetRow, spent: Spent, now: Timestamp) -> Budget {
    let period = BudgetPeriod::of(row);
    Budget {
        scope: row.scope.clone(),
        period,
        tokens: row.tokens,
        cost: row.cost_nanos.map(cost_of),
        used_tokens: spent.tokens,
        used_cost: cost_of(spent.cost_nanos),
        resets_at: period.resets_at(now),
        exhausted: has_used(row, spent, 100),
    }
}

async fn spent_of(conn: &mut Conn, row: &BudgetRow, now: Timestamp) -> Result<Spent, StoreError> {
    let start = BudgetPeriod::of(row).start(now).number();
    match Scope::read(&row.scope) {
        Some(scope) => conn.find_spent(scope.selected(), start).await,
        // The scope is unknown. A later version may have more scopes.
        None => Ok(Spent::default()),
    }
}

/// Finds a used-up budget that applies to a call. If there are several, returns the one that resets last. `unstored` is
/// usage with the same cause that is not stored yet.
pub(crate) async fn find_exhausted(
    conn: &mut Conn,
    cause: &Cause,
    model: Option<&str>,
    unstored: &[UsageRow],
    now: Timestamp,
) -> Result<Option<Exhausted>, StoreError> {
    let mut found: Option<Exhausted> = None;
    for row in conn.list_budgets().await? {
        let Some(scope) = Scope::read(&row.scope) else {
            continue;
        };
        if !scope.applies(cause, model) {
            continue;
        }
        let mut spent = spent_of(conn, &row, now).await?;
        for more in unstored {
            if scope.applies(cause, Some(&more.model)) {
                let tokens = more.input_tokens.saturating_add(more.output_tokens);
                spent.tokens = spent.tokens.saturating_add(tokens);
                let cost = more.cost_nanos.unwrap_or_default();
                spent.cost_nanos = spent.cost_nanos.saturating_add(cost);
            }
        }
        let period = BudgetPeriod::of(&row);
        let resets_at = period.resets_at(now);
        let is_later = found.as_ref().is_none_or(|it| it.resets_at < resets_at);
        if is_later && has_used(&row, spent, 100) {
            found = Some(Exhausted {
                scope: row.scope,
                period,
                resets_at,
            });
        }
    }
    Ok(found)
}

impl Inner {
    /// Stores usage in the caller's transaction. Adds a row to the audit log for each budget that reaches its warning
    /// level, and returns these budgets.
    pub(crate) async fn store_usage(
        conn: &mut Conn,
        rows: &[UsageRow],
        cause: &Cause,
        at: (Timestamp, &dyn gatehouse_domain::Random),
    ) -> Result<Vec<BudgetWarning>, StoreError> {
        let (now, random) = at;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        for row in rows {
            conn.add_usage(row).await?;
        }
        let mut warnings = Vec::new();
        for budget in conn.list_budgets().await? {
            let Some(scope) = Scope::read(&budget.scope) else {
                continue;
            };
            let counts = |row: &UsageRow| scope.applies(cause, Some(&row.model));
            if !rows.iter().any(counts) {
                continue;
            }
            let spent = spent_of(conn, &budget, now).await?;
            let start = BudgetPeriod::of(&budget).start(now).number();
            if has_used(&budget, spent, WARNS_AT_PERCENT)
                && conn.warn_budget(&budget, start).await?
            {
                let budget = shown(&budget, spent, now);
                let entry = AuditEntry {
                    kind: "budget.warned",
                    actor: &Actor::system(),
                    detail: json!(budget),
                };
                conn.append_audit(&entry, now, random).await?;
                warnings.push(BudgetWarning { budget });
            }
        }
        Ok(warnings)
    }
}

/// Retries deliveries that wait for a budget. If there are many, the worker retries the rest after the transaction. If
/// a budget is still used up, its delivery waits again.
pub(crate) async fn released(conn: &mut Conn, now: Timestamp) -> Result<(), StoreError> {
    conn.release_deliveries_from_budget(now).await?;
    conn.insert_change("budgets", now).await
}

#[cfg(test)]
mod tests;
