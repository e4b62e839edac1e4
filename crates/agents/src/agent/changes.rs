//! Input for creating and changing agents.

use super::{Agent, AgentConfig, DEFAULT_MAX_TURNS};
use crate::budget_values::AgentBudget;
use crate::tool_policy::ToolPolicy;
use gatehouse_domain::input::nullable;
use gatehouse_models::ReasoningEffort;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// A new agent. `null` is the same as an absent field.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAgent {
    /// 1 to 64 letters, digits, `.`, `_` and `-`. When absent, it is derived from the name.
    pub id: Option<String>,
    pub name: String,
    /// The provider to use. When absent, the first configured one.
    pub provider: Option<String>,
    /// The model to use: a model name, or `provider/model`.
    pub model: Option<String>,
    pub system_prompt: Option<String>,
    /// The tools it may use. When absent, every tool for its audience.
    pub tools: Option<ToolPolicy>,
    /// The tools whose calls wait for approval, in addition to `tools.require_approval`.
    pub require_approval: Option<Vec<String>>,
    /// The persona that speaks its answers.
    pub voice_persona_id: Option<String>,
    /// Sampling temperature. When absent, the provider's default applies.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// How many times it may call its model in one turn; 12 when absent.
    #[schemars(range(min = 1, max = 100))]
    pub max_turns: Option<u32>,
    /// Models to ask when the model fails before it has shown anything, in this order: `provider/model`.
    pub fallback: Option<Vec<String>>,
    /// How much the model reasons before it answers. When absent, the provider's default applies.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// The longest answer in tokens. When absent, the provider's limit applies.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_output_tokens: Option<u32>,
    /// The agent's budget, as with `budgets.set`; requires `operator.admin`.
    pub budget: Option<AgentBudget>,
}

/// Changes to an agent. `null` clears a field. An absent field is not changed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentChanges {
    /// The agent to change.
    pub id: String,
    /// The name. It cannot be cleared.
    #[serde(default, deserialize_with = "never_null")]
    #[schemars(with = "String")]
    pub name: Option<String>,
    /// The provider to use.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    pub provider: Option<Option<String>>,
    /// The model to use: a model name, or `provider/model`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    pub model: Option<Option<String>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    pub system_prompt: Option<Option<String>>,
    /// The tools it may use. Replaces both lists.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<ToolPolicy>")]
    pub tools: Option<Option<ToolPolicy>>,
    /// The tools whose calls wait for approval. Replaces the list.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>")]
    pub require_approval: Option<Option<Vec<String>>>,
    /// The persona that speaks its answers.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    pub voice_persona_id: Option<Option<String>>,
    /// Sampling temperature.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 2))]
    pub temperature: Option<Option<f64>>,
    /// How many times it may call its model in one turn.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<u32>", range(min = 1, max = 100))]
    pub max_turns: Option<Option<u32>>,
    /// Models to ask when the model fails before it has shown anything. Replaces the list.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>")]
    pub fallback: Option<Option<Vec<String>>>,
    /// How much the model reasons before it answers.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<ReasoningEffort>")]
    pub reasoning_effort: Option<Option<ReasoningEffort>>,
    /// The longest answer in tokens.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<u32>", range(min = 1, max = 1_000_000))]
    pub max_output_tokens: Option<Option<u32>>,
    /// The agent's budget for this period, as with `budgets.set`. `null` deletes all budgets of the agent. Requires
    /// `operator.admin`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<AgentBudget>")]
    pub budget: Option<Option<AgentBudget>>,
}

/// Deserializes a field that may be absent but not `null`.
fn never_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl NewAgent {
    /// Splits the input into name and configuration.
    pub(crate) fn into_parts(self) -> (String, AgentConfig) {
        let config = AgentConfig {
            provider: self.provider,
            model: self.model,
            system_prompt: self.system_prompt,
            tools: self.tools.unwrap_or_default(),
            require_approval: self.require_approval.unwrap_or_default(),
            voice_persona_id: self.voice_persona_id,
            temperature: self.temperature,
            max_turns: self.max_turns.unwrap_or(DEFAULT_MAX_TURNS),
            fallback: self.fallback.unwrap_or_default(),
            reasoning_effort: self.reasoning_effort,
            max_output_tokens: self.max_output_tokens,
        };
        (self.name.trim().to_owned(), config)
    }
}

impl AgentChanges {
    pub(crate) fn apply(self, agent: &mut Agent) {
        fn set<T>(field: &mut T, change: Option<T>) {
            if let Some(value) = change {
                *field = value;
            }
        }
        let config = &mut agent.config;
        set(
            &mut agent.name,
            self.name.map(|name| name.trim().to_owned()),
        );
        set(&mut config.provider, self.provider);
        set(&mut config.model, self.model);
        set(&mut config.system_prompt, self.system_prompt);
        set(&mut config.tools, self.tools.map(Option::unwrap_or_default));
        let require_approval = self.require_approval.map(Option::unwrap_or_default);
        set(&mut config.require_approval, require_approval);
        set(&mut config.voice_persona_id, self.voice_persona_id);
        set(&mut config.temperature, self.temperature);
        let max_turns = self.max_turns.map(|n| n.unwrap_or(DEFAULT_MAX_TURNS));
        set(&mut config.max_turns, max_turns);
        let fallback = self.fallback.map(Option::unwrap_or_default);
        set(&mut config.fallback, fallback);
        set(&mut config.reasoning_effort, self.reasoning_effort);
        set(&mut config.max_output_tokens, self.max_output_tokens);
    }
}
