//! Table `usage_days`: the tokens and cost of models, by UTC day and cause.

use crate::sql::{columns, query};
use crate::{Conn, StoreError};
use serde_json::json;

/// Usage to add to the row of its day, agent, model, webhook and API key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageRow {
    /// Days since 1970-01-01, in UTC.
    pub day: i64,
    pub agent: String,
    /// `provider/model`.
    pub model: String,
    /// The webhook's ID, or empty.
    pub webhook: String,
    /// The ID of the API key, or empty.
    pub api_key: String,
    /// All tokens that were read, including cached ones.
    pub input_tokens: i64,
    /// All output tokens, including reasoning.
    pub output_tokens: i64,
    pub cached_tokens: i64,
    pub reasoning_tokens: i64,
    /// How many of the input and output tokens are estimates.
    pub estimated_tokens: i64,
    /// In billionths of the unit of the prices; `None` without prices.
    pub cost_nanos: Option<i64>,
    pub turns: i64,
    /// Whether the model is known to be configured. Its row then keeps the model's name even if the day has too
    /// many models.
    pub is_configured: bool,
}

/// The column by which usage is summed or selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageColumn {
    Day,
    Agent,
    Model,
    Webhook,
    ApiKey,
}

impl UsageColumn {
    const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Webhook => "webhook",
            Self::ApiKey => "api_key",
        }
    }
}

/// The sum of the usage with one value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageSum {
    /// The value of the column. A day is a number.
    pub name: String,
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub cached_tokens: i64,
    pub reasoning_tokens: i64,
    pub estimated_tokens: i64,
    pub cost_nanos: Option<i64>,
    pub turns: i64,
}

columns! {
    UsageSum:
    name, input_tokens, output_tokens, cached_tokens, reasoning_tokens, estimated_tokens, cost_nanos, turns
}

/// The sums to compare with a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Input and output tokens.
    pub tokens: i64,
    pub cost_nanos: i64,
}

columns! { Spent: tokens, cost_nanos }

/// The maximum number of models with a row of their own per day. Callers can name any number of models, and rows
/// are kept.
const MAX_MODELS_A_DAY: i64 = 1_000;

/// Adds usage. The statement stores the name `$13` instead of a new model if the day already has `$14` other
/// models. Configured models keep their names, because a budget sums all rows of its model, including older ones.
/// Configured models are models with a budget and models of agents. `$15` and `$16` are parts of an agent's JSON
/// that contain `provider/model` and the model alone.
const ADD: &str = "INSERT INTO usage_days (day, agent, model, webhook, api_key, input_tokens,
         output_tokens, cached_tokens, reasoning_tokens, estimated_tokens, cost_nanos, turns)
     VALUES ($1, $2,
         CASE WHEN EXISTS (SELECT 1 FROM usage_days WHERE day = $1 AND agent = $2 AND model = $3)
             OR EXISTS (SELECT 1 FROM budgets WHERE scope = 'model:' || $3)
             OR EXISTS (SELECT 1 FROM usage_days WHERE day = $1 AND model = $3)
             OR (SELECT COUNT(DISTINCT model) FROM usage_days WHERE day = $1) < $14
             OR EXISTS (SELECT 1 FROM agents
                 WHERE REPLACE(config, $15, '') <> config OR REPLACE(config, $16, '') <> config)
             THEN $3 ELSE $13 END,
         $4, $5, $6, $7, $8, $9, $10, $11, $12)
     ON CONFLICT (day, agent, model, webhook, api_key) DO UPDATE SET
         input_tokens = usage_days.input_tokens + excluded.input_tokens,
         output_tokens = usage_days.output_tokens + excluded.output_tokens,
         cached_tokens = usage_days.cached_tokens + excluded.cached_tokens,
         reasoning_tokens = usage_days.reasoning_tokens + excluded.reasoning_tokens,
         estimated_tokens = usage_days.estimated_tokens + excluded.estimated_tokens,
         cost_nanos = CASE WHEN excluded.cost_nanos IS NULL THEN usage_days.cost_nanos
             ELSE COALESCE(usage_days.cost_nanos, 0) + excluded.cost_nanos END,
         turns = usage_days.turns + excluded.turns";

impl Conn {
    /// Adds usage to its row. A model beyond the first 1,000 of a day counts as `<provider>/other`, unless it is
    /// configured. A model is configured if a budget or an agent names it, or if [`UsageRow::is_configured`] is
    /// set.
    pub async fn add_usage(&mut self, row: &UsageRow) -> Result<(), StoreError> {
        let (provider, name) = row.model.split_once('/').unwrap_or(("", &row.model));
        let other = if row.is_configured {
            row.model.clone()
        } else {
            format!("{provider}/other")
        };
        let query = query(ADD)
            .bind(row.day)
            .bind(&row.agent)
            .bind(&row.model)
            .bind(&row.webhook)
            .bind(&row.api_key)
            .bind(row.input_tokens)
            .bind(row.output_tokens)
            .bind(row.cached_tokens)
            .bind(row.reasoning_tokens)
            .bind(row.estimated_tokens)
            .bind(row.cost_nanos)
            .bind(row.turns)
            .bind(other)
            .bind(MAX_MODELS_A_DAY)
            .bind(json!(row.model).to_string())
            .bind(format!("\"model\":{}", json!(name)));
        self.run(query).await.map(drop)
    }

    /// Sums the usage of the days `from..=until` by a column, ordered by its value. Usage without a value, for example
    /// without a webhook, is omitted.
    pub async fn list_usage(
        &mut self,
        by: UsageColumn,
        from: i64,
        until: i64,
    ) -> Result<Vec<UsageSum>, StoreError> {
        let name = format!("CAST({} AS TEXT)", by.name());
        let sum = |column| format!("CAST(SUM({column}) AS BIGINT) AS {column}");
        let sums = [
            "input_tokens",
            "output_tokens",
            "cached_tokens",
            "reasoning_tokens",
            "estimated_tokens",
            "cost_nanos",
            "turns",
        ]
        .map(sum)
        .join(", ");
        let sql = format!(
            "SELECT {name} AS name, {sums} FROM usage_days
             WHERE day >= $1 AND day <= $2 AND {name} <> ''
             GROUP BY {column} ORDER BY {column}",
            column = by.name()
        );
        self.list(query(sql).bind(from).bind(until)).await
    }

    /// Deletes the usage of the oldest day, if that day is before `before`. Returns the number of rows.
    pub async fn delete_oldest_usage(&mut self, before: i64) -> Result<u64, StoreError> {
        let delete = query(
            "DELETE FROM usage_days WHERE day = (SELECT MIN(day) FROM usage_days) AND day < $1",
        );
        self.run(delete.bind(before)).await
    }

    /// Sums the usage since a day, in total or for one value of a column.
    pub async fn find_spent(
        &mut self,
        of: Option<(UsageColumn, &str)>,
        from: i64,
    ) -> Result<Spent, StoreError> {
        let (column, value) = of.map_or(("''", ""), |(column, value)| (column.name(), value));
        let sql = format!(
            "SELECT CAST(COALESCE(SUM(input_tokens + output_tokens), 0) AS BIGINT) AS tokens,
                 CAST(COALESCE(SUM(cost_nanos), 0) AS BIGINT) AS cost_nanos
             FROM usage_days WHERE day >= $1 AND {column} = $2"
        );
        let found = self
            .find(query(sql).bind(from).bind(value.to_owned()))
            .await?;
        Ok(found.unwrap_or_default())
    }
}
