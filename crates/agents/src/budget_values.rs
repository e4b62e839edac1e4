//! Budgets as values: the period, the limits and the usage so far.

use gatehouse_domain::{ErrorCode, Problem, Timestamp, UtcDay};
use gatehouse_store::BudgetRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Cost is counted in billionths of the unit of the prices.
pub(crate) const NANOS: f64 = 1e9;

/// The period of a budget: a calendar day or month in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BudgetPeriod {
    Day,
    Month,
}

impl BudgetPeriod {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
        }
    }

    pub(crate) fn of(row: &BudgetRow) -> Self {
        if row.period == "month" {
            Self::Month
        } else {
            Self::Day
        }
    }

    /// Returns the first day of the period that contains a moment.
    pub(crate) fn start(self, now: Timestamp) -> UtcDay {
        let day = UtcDay::of(now);
        match self {
            Self::Day => day,
            Self::Month => day.first_of_month(),
        }
    }

    pub(crate) fn resets_at(self, now: Timestamp) -> Timestamp {
        let day = UtcDay::of(now);
        match self {
            Self::Day => day.next().start(),
            Self::Month => day.next_month().start(),
        }
    }
}

/// A budget to store. Exactly one of `tokens` and `cost` is given.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBudget {
    /// `all`, `agent:<id>`, `model:<provider/model>`, `webhook:<id>` or `key:<id>`. A webhook's public ID works too.
    pub scope: String,
    pub period: BudgetPeriod,
    /// The limit of input and output tokens together.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    pub tokens: Option<i64>,
    /// The limit in the unit of the prices.
    pub cost: Option<f64>,
}

/// The budget with the scope `agent:<id>`. Has either `tokens` or `cost`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentBudget {
    pub period: BudgetPeriod,
    /// The limit of input and output tokens together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_i64))]
    pub tokens: Option<i64>,
    /// The limit in the unit of the prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// A budget and the usage counted against it in the current period.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Budget {
    pub scope: String,
    pub period: BudgetPeriod,
    /// The limit of input and output tokens together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<i64>,
    /// The limit in the unit of the prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Input and output tokens in the current period.
    pub used_tokens: i64,
    /// Cost in the current period, in the unit of the prices. Models without prices cost nothing.
    pub used_cost: f64,
    /// When the current period ends.
    pub resets_at: Timestamp,
    /// Whether no call to a model is made for this scope until then.
    pub exhausted: bool,
}

/// A budget of which 80 % or more is used. Sent once per period.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BudgetWarning {
    #[serde(flatten)]
    pub budget: Budget,
}

/// A budget that is used up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the budget {scope} per {} is used up", period.as_str())]
pub struct Exhausted {
    pub scope: String,
    pub period: BudgetPeriod,
    pub resets_at: Timestamp,
}

impl From<Exhausted> for Problem {
    fn from(exhausted: Exhausted) -> Self {
        let Exhausted {
            scope,
            period,
            resets_at,
        } = exhausted;
        let period = period.as_str();
        let text = format!(
            "The budget of `{scope}` for this {period} is used up, so no model was called. It resets at {resets_at}. \
             Raise or delete the budget to continue now."
        );
        Self::new(ErrorCode::BudgetExhausted, text)
            .with("resets_at", resets_at.to_string())
            .with("scope", scope)
            .with("period", period)
    }
}

/// Returns a stored cost in the unit of the prices.
#[expect(
    clippy::cast_precision_loss,
    reason = "a sum of money needs no more than 53 bits"
)]
pub(crate) fn cost_of(nanos: i64) -> f64 {
    nanos as f64 / NANOS
}
