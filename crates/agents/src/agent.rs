//! The agent type: its fields, validation and storage format.

mod changes;
mod check;

use crate::budget_values::AgentBudget;
use crate::tool_policy::ToolPolicy;
pub use changes::{AgentChanges, NewAgent};
use gatehouse_domain::Timestamp;
use gatehouse_models::ReasoningEffort;
use gatehouse_store::{AgentRow, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ID of the agent that always exists.
pub const DEFAULT_AGENT: &str = "default";
const DEFAULT_MAX_TURNS: u32 = 12;

const MAX_ID_CHARACTERS: usize = 64;

/// A configured agent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Agent {
    pub id: String,
    pub name: String,
    #[serde(flatten)]
    pub config: AgentConfig,
    /// The agent's own budget, which has the scope `agent:<id>`. If it has a daily and a monthly budget, this
    /// is the daily one. `budgets.list` also reports how much is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<AgentBudget>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The configuration of an agent: everything except its ID and name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentConfig {
    /// The provider to use. When absent, the first configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model to use: a model name, or `provider/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// The tools it may use.
    #[serde(default)]
    pub tools: ToolPolicy,
    /// The tools whose calls wait for approval, in addition to `tools.require_approval`; names as in `tools`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub require_approval: Vec<String>,
    /// The persona that speaks its answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voice_persona_id: Option<String>,
    /// Sampling temperature, 0 to 2. When absent, the provider's default applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How many times it may call its model in one turn.
    #[serde(default = "default_max_turns")]
    pub max_turns: u32,
    /// Models to ask when the model fails before it has shown anything, in this order: `provider/model`.
    #[serde(default)]
    pub fallback: Vec<String>,
    /// How much the model reasons before it answers. When absent, the provider's default applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
    /// The longest answer in tokens. When absent, the provider's limit applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
}

const fn default_max_turns() -> u32 {
    DEFAULT_MAX_TURNS
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            provider: None,
            model: None,
            system_prompt: None,
            tools: ToolPolicy::default(),
            require_approval: Vec::new(),
            voice_persona_id: None,
            temperature: None,
            max_turns: DEFAULT_MAX_TURNS,
            fallback: Vec::new(),
            reasoning_effort: None,
            max_output_tokens: None,
        }
    }
}

impl Agent {
    pub(crate) fn of(row: AgentRow) -> Result<Self, StoreError> {
        let config = serde_json::from_str(&row.config);
        Ok(Self {
            config: config.map_err(|_| StoreError::Damaged { what: "agent" })?,
            id: row.id,
            name: row.name,
            budget: None,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }

    pub(crate) fn row(&self) -> Result<AgentRow, StoreError> {
        let config = serde_json::to_string(&self.config);
        Ok(AgentRow {
            id: self.id.clone(),
            name: self.name.clone(),
            config: config.map_err(|_| StoreError::Damaged { what: "agent" })?,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

/// Derives an ID from a name: its ASCII letters and digits in lower case, separated by hyphens. If `number` is above 1,
/// it is appended to make the ID unique.
pub(crate) fn id_after(name: &str, number: u32) -> String {
    let words: Vec<String> = name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let mut id = words.join("-");
    id.truncate(MAX_ID_CHARACTERS - 8);
    let id = id.trim_end_matches('-');
    match (id, number) {
        ("", 1) => "agent".to_owned(),
        ("", n) => format!("agent-{n}"),
        (id, 1) => id.to_owned(),
        (id, n) => format!("{id}-{n}"),
    }
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;
