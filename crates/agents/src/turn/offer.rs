//! Selects the tools that a request offers. The provider and the context window limit their number.

use super::running::{Running, Setup};
use crate::tokens::tokens_of_tool;
use crate::tool::Tool;
use gatehouse_models::ToolSpec;
use std::sync::Arc;

/// The maximum number of tools that a request offers (`OpenAI`: "Expected an array with maximum
/// length 128").
const MAX_TOOLS: usize = 128;
/// The divisor for the part of the context window that the descriptions of tools may take: a half.
const TOOLS_PART: u64 = 2;
/// The context window of an unknown model, in tokens. A longer conversation is summarized.
/// `[models.providers.<id>.model."<name>"] context` raises the limit.
const CAUTIOUS_CONTEXT: u64 = 32_768;

/// The tools of a request, sorted by name.
#[derive(Default)]
pub(super) struct Offer {
    pub(super) specs: Vec<ToolSpec>,
    /// The estimated tokens of the tools.
    pub(super) tokens: u64,
}

impl Running<'_> {
    /// Returns the context window of the model in tokens.
    pub(super) fn context(&self, setup: &Setup) -> u64 {
        let facts = self.inner.models.facts(&setup.model);
        facts.context.unwrap_or(CAUTIOUS_CONTEXT)
    }

    /// Selects the tools in the order of their importance. Omits tools that do not fit.
    pub(super) fn offer(&self, setup: &Setup) -> Offer {
        let mut offer = Offer::default();
        if self.is_out_of_steps || self.are_tools_too_long {
            return offer;
        }
        let room = self.context(setup) / TOOLS_PART;
        let mut left_out = Vec::new();
        for tool in by_importance(setup, setup.permit.offered(&self.inner.tools)) {
            let spec = ToolSpec {
                name: tool.name().to_owned(),
                description: tool.description().to_owned(),
                parameters: tool.parameters(),
                strict: None,
            };
            let tokens = offer.tokens + tokens_of_tool(&spec);
            if tokens <= room && offer.specs.len() < MAX_TOOLS {
                offer.tokens = tokens;
                offer.specs.push(spec);
            } else {
                left_out.push(spec.name);
            }
        }
        let (agent, model) = (&setup.agent.id, setup.model.to_string());
        if let Some(first) = left_out.first()
            && self.inner.left_out.is_new(agent, &model, left_out.len())
        {
            tracing::warn!(
                agent,
                model,
                left_out = left_out.len(),
                first,
                "there are more than {MAX_TOOLS} tools, or they take more than half of the model's context; restrict \
                 the agent's tools to choose which are offered"
            );
        }
        offer.specs.sort_by(|a, b| a.name.cmp(&b.name));
        offer
    }
}

/// Sorts tools: first the ones that the agent names, then built-in tools, then other tools.
fn by_importance(setup: &Setup, mut offered: Vec<Arc<dyn Tool>>) -> Vec<Arc<dyn Tool>> {
    let named = &setup.agent.config.tools.allow;
    offered.sort_by_cached_key(|tool| {
        let name = tool.name();
        let is_named = named.iter().any(|entry| entry == name);
        (
            !is_named,
            tool.former_name().is_some() || name.starts_with("mcp__"),
        )
    });
    offered
}
