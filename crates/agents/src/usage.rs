//! Usage of models: the row in which a call is counted, its cost, and sums over the rows.

mod labels;
mod used;

pub(crate) use labels::ModelLabels;
pub(crate) use used::Used;

use crate::budget_values::{NANOS, cost_of};
use crate::error::AgentsError;
use crate::handle::Agents;
use gatehouse_domain::{ModelFacts, Timestamp, UtcDay};
use gatehouse_models::Usage;
use gatehouse_store::{UsageColumn, UsageRow, UsageSum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A price is for a million tokens.
const TOKENS_OF_PRICE: f64 = 1e6;

/// Larger numbers of tokens of a call are reduced to this one, which is far above what a model can read or write. If a
/// provider reports absurd numbers, the sums that budgets are compared with must not overflow.
const MAX_CALL_TOKENS: u64 = 1_000_000_000;
/// A higher cost of a call is reduced to this one: a million units of the currency of the prices.
const MAX_CALL_COST_NANOS: i64 = 1_000_000_000_000_000;

/// The cause of a model call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    pub(crate) agent: String,
    /// The webhook's ID, or empty.
    pub(crate) webhook: String,
    /// The ID of the API key, or empty.
    pub(crate) api_key: String,
}

impl Cause {
    /// The ID of the API key behind an actor's name, or empty.
    pub(crate) fn api_key_of(actor: &str) -> String {
        let id = actor.strip_prefix("api_key ").unwrap_or_default();
        id.to_owned()
    }

    /// The row of one call.
    pub(crate) fn row(&self, day: UtcDay, model: &str, used: Used, facts: &ModelFacts) -> UsageRow {
        let usage = at_most(used.usage);
        let stored = |count: u64| i64::try_from(count.min(MAX_CALL_TOKENS)).unwrap_or(i64::MAX);
        UsageRow {
            day: day.number(),
            agent: self.agent.clone(),
            model: model.to_owned(),
            webhook: self.webhook.clone(),
            api_key: self.api_key.clone(),
            input_tokens: stored(usage.input_tokens),
            output_tokens: stored(usage.output_tokens),
            cached_tokens: stored(usage.cached_tokens),
            reasoning_tokens: stored(usage.reasoning_tokens),
            estimated_tokens: stored(used.estimated_tokens),
            cost_nanos: cost_nanos(usage, facts),
            turns: 0,
            is_configured: false,
        }
    }
}

/// Limits each count of a call to [`MAX_CALL_TOKENS`].
fn at_most(usage: Usage) -> Usage {
    Usage {
        input_tokens: usage.input_tokens.min(MAX_CALL_TOKENS),
        output_tokens: usage.output_tokens.min(MAX_CALL_TOKENS),
        cached_tokens: usage.cached_tokens.min(MAX_CALL_TOKENS),
        reasoning_tokens: usage.reasoning_tokens.min(MAX_CALL_TOKENS),
    }
}

/// The cost of a call in billionths; `None` without prices. Cached tokens cost `price_in` if they have no price
/// of their own.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts are far below 2^53, and a sum that is too large saturates"
)]
fn cost_nanos(usage: Usage, facts: &ModelFacts) -> Option<i64> {
    if facts.price_in.is_none() && facts.price_out.is_none() {
        return None;
    }
    let price_in = facts.price_in.unwrap_or_default();
    let cached = usage.cached_tokens.min(usage.input_tokens);
    let fresh = usage.input_tokens - cached;
    let sum = fresh as f64 * price_in
        + cached as f64 * facts.price_cached.unwrap_or(price_in)
        + usage.output_tokens as f64 * facts.price_out.unwrap_or_default();
    let nanos = (sum / TOKENS_OF_PRICE * NANOS).round() as i64;
    Some(nanos.min(MAX_CALL_COST_NANOS))
}

/// Adds a call to the metrics.
pub(crate) fn count(row: &UsageRow, labels: &ModelLabels) {
    let model = labels.of(row);
    let kinds = [
        ("input", row.input_tokens),
        ("output", row.output_tokens),
        ("cached", row.cached_tokens),
        ("reasoning", row.reasoning_tokens),
        ("estimated", row.estimated_tokens),
    ];
    for (kind, tokens) in kinds {
        metrics::counter!("model_tokens_total", "model" => model.clone(), "kind" => kind)
            .increment(tokens.unsigned_abs());
    }
    if let Some(nanos) = row.cost_nanos {
        metrics::counter!("model_cost_nanos_total", "model" => model)
            .increment(nanos.unsigned_abs());
    }
}

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
    /// `provider/model`.
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
    fn of(by: UsageBy, sum: UsageSum) -> Self {
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

#[cfg(test)]
mod tests;
