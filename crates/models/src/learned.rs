//! Parameters that models do not accept. A refused parameter is recorded, and omitted from every later request to the
//! same model. The record is cleared when the settings change or the process ends.

use crate::model_ref::ModelRef;
use crate::refusal::Reason;
use crate::{ChatRequest, ProviderKind};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Parameters to omit from requests to a model, or to send in a different form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent property of a model"
)]
pub(crate) struct Learned {
    /// The model does not accept `stream_options`.
    pub(crate) no_usage: bool,
    /// The model cannot call tools.
    pub(crate) no_tools: bool,
    /// The model accepts only its default temperature.
    pub(crate) no_temperature: bool,
    /// The model does not accept the reasoning of earlier steps.
    pub(crate) no_state: bool,
    /// The model does not accept a reasoning effort.
    pub(crate) no_effort: bool,
    /// The model uses the other name for the maximum length of an answer: `max_tokens` or `max_completion_tokens`.
    pub(crate) other_limit: bool,
    /// The model uses the other form of thinking: with a budget, or adaptive.
    pub(crate) other_thinking: bool,
}

impl Learned {
    /// Learns from a refusal of a request. Returns false if the request did not contain the refused parameter.
    /// Repeating the request would then not help.
    pub(crate) fn learn(
        &mut self,
        reason: Reason,
        request: &ChatRequest,
        kind: ProviderKind,
    ) -> bool {
        let before = *self;
        match reason {
            Reason::NoStreamOptions => self.no_usage = true,
            Reason::NoTools if !request.tools.is_empty() => self.no_tools = true,
            Reason::NoTemperature if request.temperature.is_some() => self.no_temperature = true,
            Reason::OtherLimit if request.max_tokens.is_some() => self.other_limit = true,
            Reason::NoReasoningState => self.no_state = true,
            Reason::NoEffort if request.effort.is_some() => {
                // Anthropic has two forms of thinking.
                self.no_effort = self.other_thinking || kind == ProviderKind::Openai;
                self.other_thinking = true;
            }
            _ => {}
        }
        *self != before
    }
}

/// The maximum number of models with learned parameters. Callers of `/v1/*` can name any number of
/// models.
const MAX_MODELS: usize = 1000;

/// Learned parameters, by model.
#[derive(Debug, Default)]
pub(crate) struct LearnedFacts(Mutex<HashMap<ModelRef, Learned>>);

impl LearnedFacts {
    pub(crate) fn of(&self, model: &ModelRef) -> Learned {
        let learned_facts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learned_facts.get(model).copied().unwrap_or_default()
    }

    pub(crate) fn put(&self, model: &ModelRef, learned: Learned) {
        let mut learned_facts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if learned_facts.len() >= MAX_MODELS && !learned_facts.contains_key(model) {
            learned_facts.clear();
        }
        learned_facts.insert(model.clone(), learned);
    }

    pub(crate) fn forget(&self) {
        let mut learned_facts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learned_facts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_thousand_models_are_remembered_and_no_more() {
        let facts = LearnedFacts::default();
        let model = |number: usize| ModelRef {
            provider: "p".to_owned(),
            model: number.to_string(),
        };
        let learned = Learned {
            no_tools: true,
            ..Learned::default()
        };
        for number in 0..MAX_MODELS {
            facts.put(&model(number), learned);
        }
        facts.put(&model(0), learned);
        assert!((0..MAX_MODELS).all(|number| facts.of(&model(number)) == learned));
        facts.put(&model(MAX_MODELS), learned);
        assert_eq!(facts.of(&model(MAX_MODELS)), learned);
        assert_eq!(facts.of(&model(0)), Learned::default());
    }
}
