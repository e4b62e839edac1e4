//! Facts about a language model: its limits, capabilities and prices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Facts about one model. An absent field is unknown.
///
/// The fields equal the settings `[models.providers.<id>.model."<name>"]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    /// The context window in tokens, input and output together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
    /// The longest answer in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Whether the model can call tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Whether the model reads images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    /// Whether the model reasons before it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<bool>,
    /// The price of a million tokens that the model reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_in: Option<f64>,
    /// The price of a million tokens that the model writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_out: Option<f64>,
    /// The price of a million tokens that the provider reads from its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_cached: Option<f64>,
}

impl ModelFacts {
    /// Takes each unknown field from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            context: self.context.or(other.context),
            max_output: self.max_output.or(other.max_output),
            tools: self.tools.or(other.tools),
            vision: self.vision.or(other.vision),
            reasoning: self.reasoning.or(other.reasoning),
            price_in: self.price_in.or(other.price_in),
            price_out: self.price_out.or(other.price_out),
            price_cached: self.price_cached.or(other.price_cached),
        }
    }
}
