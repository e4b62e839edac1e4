//! Usage of models: the row that counts a call, its cost, and sums over the rows.

mod labels;
mod stats;
mod used;

pub(crate) use labels::ModelLabels;
pub use stats::{UsageBy, UsageQuery, UsageStat, UsageStats};
pub(crate) use used::Used;

use crate::budget_values::NANOS;
use gatehouse_domain::{ModelFacts, UtcDay};
use gatehouse_models::Usage;
use gatehouse_store::UsageRow;

/// The number of tokens to which a price refers.
const TOKENS_OF_PRICE: f64 = 1e6;

/// The maximum number of tokens that a call counts, far above what a model can read or write. If a provider reports
/// absurd numbers, the sums that budgets are compared with must not overflow.
const MAX_CALL_TOKENS: u64 = 1_000_000_000;
/// The maximum cost that a call counts, in billionths: a million units of the currency of the
/// prices.
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
    /// Returns the ID of the API key behind an actor's name, or empty.
    pub(crate) fn api_key_of(actor: &str) -> String {
        let id = actor.strip_prefix("api_key ").unwrap_or_default();
        id.to_owned()
    }

    /// Returns the row of one call.
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

/// Returns the cost of a call in billionths, or `None` without prices. Cached tokens cost `price_in` if they have no
/// price of their own.
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

#[cfg(test)]
mod tests;
