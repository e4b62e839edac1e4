//! The usage that is counted for one call, from the provider's report and from estimates.

use gatehouse_models::{CallProgress, Usage};

/// Bytes of an answer per estimated token.
const BYTES_OF_TOKEN: usize = 4;

/// The usage that a call counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) usage: Usage,
    /// How many of the input and output tokens are estimates.
    pub(crate) estimated_tokens: u64,
}

impl Used {
    /// Returns the usage of a complete answer. If the report contains no tokens, the estimate
    /// replaces it.
    pub(crate) const fn by_whole(reported: Usage, estimate: Usage) -> Self {
        if reported.input_tokens == 0 && reported.output_tokens == 0 {
            return Self {
                usage: estimate,
                estimated_tokens: estimate.input_tokens.saturating_add(estimate.output_tokens),
            };
        }
        Self {
            usage: reported,
            estimated_tokens: 0,
        }
    }

    /// Returns the usage of an answer that ended early, or `None` if the provider had not accepted the request. Uses
    /// the provider's counts as far as they were reported: providers that report the input first report the output
    /// last.
    pub(crate) fn by_part(progress: &CallProgress, sent_tokens: u64) -> Option<Self> {
        let arrived = progress.arrived()?;
        let written = u64::try_from(arrived.bytes.div_ceil(BYTES_OF_TOKEN)).unwrap_or(u64::MAX);
        let (mut usage, mut estimated_tokens) = (arrived.usage, 0_u64);
        if usage.input_tokens == 0 {
            usage.input_tokens = sent_tokens;
            estimated_tokens = sent_tokens;
        }
        let missing = written.saturating_sub(usage.output_tokens);
        usage.output_tokens = usage.output_tokens.saturating_add(missing);
        Some(Self {
            usage,
            estimated_tokens: estimated_tokens.saturating_add(missing),
        })
    }
}
