//! The agent type: its fields, validation and storage format.

mod changes;

use crate::budget_values::AgentBudget;
use crate::error::AgentsError;
use crate::line::is_line;
use crate::tool_policy::ToolPolicy;
pub use changes::{AgentChanges, NewAgent};
use gatehouse_domain::{Timestamp, visible};
use gatehouse_models::ReasoningEffort;
use gatehouse_store::{AgentRow, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ID of the agent that always exists.
pub const DEFAULT_AGENT: &str = "default";
const DEFAULT_MAX_TURNS: u32 = 12;
/// Upper limit for `max_turns`.
const MAX_MAX_TURNS: u32 = 100;
const MAX_NAME_CHARACTERS: usize = 100;
const MAX_ID_CHARACTERS: usize = 64;
const MAX_PROMPT_CHARACTERS: usize = 65_536;
/// Limit for the name of a provider, model or persona, and for one entry of a tool list.
const MAX_WORD_CHARACTERS: usize = 200;
const MAX_ENTRIES: usize = 200;
const MAX_FALLBACK: usize = 5;
const MAX_OUTPUT_TOKENS: u32 = 1_000_000;

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

    /// Validates every field.
    pub(crate) fn check(&self) -> Result<(), AgentsError> {
        check_id(&self.id)?;
        let refuse = |field, reason: String| Err(AgentsError::invalid(field, reason));
        if !is_line(&self.name, MAX_NAME_CHARACTERS) || !visible::is_name(&self.name) {
            let most = MAX_NAME_CHARACTERS;
            let reason =
                format!("one line of 1 to {most} characters, none of which hide or reorder text");
            return refuse("name", reason);
        }
        let config = &self.config;
        for (field, word) in [
            ("provider", &config.provider),
            ("model", &config.model),
            ("voice_persona_id", &config.voice_persona_id),
        ] {
            if word
                .as_ref()
                .is_some_and(|w| !is_line(w, MAX_WORD_CHARACTERS))
            {
                return refuse(
                    field,
                    format!("one line of 1 to {MAX_WORD_CHARACTERS} characters"),
                );
            }
        }
        let prompt = config.system_prompt.as_deref().unwrap_or_default();
        if prompt.chars().count() > MAX_PROMPT_CHARACTERS {
            return refuse(
                "system_prompt",
                format!("at most {MAX_PROMPT_CHARACTERS} characters"),
            );
        }
        for (field, entries) in [
            ("allow", &config.tools.allow),
            ("deny", &config.tools.deny),
            ("require_approval", &config.require_approval),
        ] {
            let good = |entry: &String| is_line(entry, MAX_WORD_CHARACTERS);
            if entries.len() > MAX_ENTRIES || !entries.iter().all(good) {
                return refuse(field, format!("at most {MAX_ENTRIES} names of tools"));
            }
        }
        if config
            .temperature
            .is_some_and(|t| !(0.0..=2.0).contains(&t))
        {
            return refuse("temperature", "expected 0 to 2".to_owned());
        }
        if !(1..=MAX_MAX_TURNS).contains(&config.max_turns) {
            return refuse("max_turns", format!("expected 1 to {MAX_MAX_TURNS}"));
        }
        let is_model = |entry: &String| {
            let parts = entry.split_once('/');
            is_line(entry, MAX_WORD_CHARACTERS)
                && parts.is_some_and(|(provider, model)| !provider.is_empty() && !model.is_empty())
        };
        if config.fallback.len() > MAX_FALLBACK || !config.fallback.iter().all(is_model) {
            return refuse(
                "fallback",
                format!("at most {MAX_FALLBACK} models, each as provider/model"),
            );
        }
        let is_limit = |tokens| (1..=MAX_OUTPUT_TOKENS).contains(&tokens);
        if !config.max_output_tokens.is_none_or(is_limit) {
            return refuse(
                "max_output_tokens",
                format!("expected 1 to {MAX_OUTPUT_TOKENS}"),
            );
        }
        Ok(())
    }
}

fn check_id(id: &str) -> Result<(), AgentsError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if (1..=MAX_ID_CHARACTERS).contains(&id.len()) && id.chars().all(allowed) {
        Ok(())
    } else {
        Err(AgentsError::invalid(
            "id",
            "1 to 64 letters, digits and . _ -",
        ))
    }
}

/// Derives an ID from a name: its ASCII letters and digits in lower case, separated by hyphens. A `number`
/// above 1 is appended to make the ID unique.
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
