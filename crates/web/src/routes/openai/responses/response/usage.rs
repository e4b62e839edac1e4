//! The usage in a response.

use gatehouse_models::Usage;
use schemars::JsonSchema;
use serde::Serialize;

/// Token counts. For an agent, the sum of all its model calls.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct ResponseUsage {
    input_tokens: u64,
    input_tokens_details: InputDetails,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
    total_tokens: u64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct InputDetails {
    cached_tokens: u64,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct OutputDetails {
    reasoning_tokens: u64,
}

impl From<Usage> for ResponseUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            input_tokens_details: InputDetails {
                cached_tokens: usage.cached_tokens,
            },
            output_tokens: usage.output_tokens,
            output_tokens_details: OutputDetails {
                reasoning_tokens: usage.reasoning_tokens,
            },
            total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
        }
    }
}
