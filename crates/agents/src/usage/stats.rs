//! Statistics of the usage of models.

use crate::budget_values::cost_of;
use crate::error::AgentsError;
use crate::handle::Agents;
use gatehouse_domain::{Timestamp, UtcDay};
use gatehouse_store::{UsageColumn, UsageSum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The grouping of the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UsageBy {
    Day,
    Agent,
    Model,
    Webhook,
    Key,
}

/// Which usage is summed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsageQuery {
    /// The first UTC day is the one that contains this moment; the beginning of the records by default.
    pub from: Option<Timestamp>,
    /// The last UTC day is the one that contains this moment; today by default.
    pub until: Option<Timestamp>,
    /// The grouping of the rows. Omits use without a value, for example use without a webhook.
    pub by: UsageBy,
}

/// The result of `usage.stats`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UsageStats {
    pub rows: Vec<UsageStat>,
}

/// The use of one day, agent, model, webhook or API key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct UsageStat {
    /// The UTC day, such as `2026-01-31`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// The agent's ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model as `provider/model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The webhook's ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<String>,
    /// The ID of the API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Tokens that models read, including cached ones.
    pub input_tokens: i64,
    /// Tokens that models wrote, including those of reasoning.
    pub output_tokens: i64,
    /// Input tokens that the provider read from its cache.
    pub cached_tokens: i64,
    /// Output tokens of reasoning.
    pub reasoning_tokens: i64,
    /// How many of the input and output tokens are estimates because the provider did not report them, for example for
    /// a stopped answer. Absent if 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_tokens: Option<i64>,
    /// In the unit of the prices. Contains only calls of models with prices; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    pub turns: i64,
}

impl UsageStat {
    pub(super) fn of(by: UsageBy, sum: UsageSum) -> Self {
        let mut stat = Self {
            input_tokens: sum.input_tokens,
            output_tokens: sum.output_tokens,
            cached_tokens: sum.cached_tokens,
            reasoning_tokens: sum.reasoning_tokens,
            estimated_tokens: Some(sum.estimated_tokens).filter(|tokens| *tokens > 0),
            cost: sum.cost_nanos.map(cost_of),
            turns: sum.turns,
            ..Self::default()
        };
        let name = Some(sum.name);
        match by {
            UsageBy::Day => {
                let number = name.and_then(|name| name.parse().ok());
                stat.day = number.map(|number| UtcDay::from_number(number).to_string());
            }
            UsageBy::Agent => stat.agent = name,
            UsageBy::Model => stat.model = name,
            UsageBy::Webhook => stat.webhook = name,
            UsageBy::Key => stat.key = name,
        }
        stat
    }
}

impl Agents {
    /// Sums the usage of models.
    pub async fn usage_stats(&self, query: UsageQuery) -> Result<UsageStats, AgentsError> {
        let by = match query.by {
            UsageBy::Day => UsageColumn::Day,
            UsageBy::Agent => UsageColumn::Agent,
            UsageBy::Model => UsageColumn::Model,
            UsageBy::Webhook => UsageColumn::Webhook,
            UsageBy::Key => UsageColumn::ApiKey,
        };
        let from = query.from.map_or(0, |from| UtcDay::of(from).number());
        let until = UtcDay::of(query.until.unwrap_or_else(|| self.0.clock.now())).number();
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { conn.list_usage(by, from, until).await }));
        let sums: Vec<UsageSum> = read.await?;
        let rows = sums.into_iter().map(|sum| UsageStat::of(query.by, sum));
        Ok(UsageStats {
            rows: rows.collect(),
        })
    }
}
