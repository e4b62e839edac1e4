//! What an agent is, what may be said of one, and how it is stored. Knows no turn.

use crate::error::AgentsError;
use crate::policy::ToolPolicy;
use gatehouse_domain::Timestamp;
use gatehouse_store::{AgentRow, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The agent that always exists.
pub const DEFAULT_AGENT: &str = "default";
/// How often an agent may call its model in one turn, when its owner does not say.
const DEFAULT_MAX_TURNS: u32 = 12;
/// The most that an owner may say.
const MAX_MAX_TURNS: u32 = 100;
const MAX_NAME_CHARACTERS: usize = 100;
const MAX_ID_CHARACTERS: usize = 64;
const MAX_PROMPT_CHARACTERS: usize = 65_536;
/// Of a provider's, a model's or a persona's name, and of an entry of the tool lists.
const MAX_WORD_CHARACTERS: usize = 200;
const MAX_ENTRIES: usize = 200;

/// An agent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Agent {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How it works.
    #[serde(flatten)]
    pub config: AgentConfig,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// How an agent works: everything but its names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentConfig {
    /// Which provider answers; the first that is configured when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Which model answers: a name, or `provider/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it is told first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Which tools it has.
    #[serde(default)]
    pub tools: ToolPolicy,
    /// The persona that speaks its answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voice_persona_id: Option<String>,
    /// How freely it answers, 0 to 2; the provider's own when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How often it may call its model in one turn.
    #[serde(default = "default_max_turns")]
    pub max_turns: u32,
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
            voice_persona_id: None,
            temperature: None,
            max_turns: DEFAULT_MAX_TURNS,
        }
    }
}

/// A new agent. `null` is the same as nothing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAgent {
    /// Its id, letters, digits, `.`, `_` and `-`; made from the name when absent.
    pub id: Option<String>,
    /// Its name.
    pub name: String,
    /// Which provider answers.
    pub provider: Option<String>,
    /// Which model answers.
    pub model: Option<String>,
    /// What it is told first.
    pub system_prompt: Option<String>,
    /// Which tools it has; all for its audience when absent.
    pub tools: Option<ToolPolicy>,
    /// The persona that speaks its answers.
    pub voice_persona_id: Option<String>,
    /// How freely it answers.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// How often it may call its model in one turn; 12 when absent.
    #[schemars(range(min = 1, max = 100))]
    pub max_turns: Option<u32>,
}

/// What is to change in an agent. `null` clears a field, an absent one stays.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentChanges {
    /// Which agent.
    pub id: String,
    /// Its name, which cannot be cleared.
    #[serde(default, deserialize_with = "never_null")]
    #[schemars(with = "String")]
    pub name: Option<String>,
    /// Which provider answers.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    pub provider: Option<Option<String>>,
    /// Which model answers.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    pub model: Option<Option<String>>,
    /// What it is told first.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    pub system_prompt: Option<Option<String>>,
    /// Which tools it has, both lists at once.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<ToolPolicy>")]
    pub tools: Option<Option<ToolPolicy>>,
    /// The persona that speaks its answers.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    pub voice_persona_id: Option<Option<String>>,
    /// How freely it answers.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 2))]
    pub temperature: Option<Option<f64>>,
    /// How often it may call its model in one turn.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<u32>", range(min = 1, max = 100))]
    pub max_turns: Option<Option<u32>>,
}

/// Tells `null`, which clears, from an absent field.
#[expect(
    clippy::option_option,
    reason = "absent, null and a value are three things here"
)]
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// For a field that may be absent but not `null`.
fn never_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl NewAgent {
    /// Name and configuration.
    pub(crate) fn into_parts(self) -> (String, AgentConfig) {
        let config = AgentConfig {
            provider: self.provider,
            model: self.model,
            system_prompt: self.system_prompt,
            tools: self.tools.unwrap_or_default(),
            voice_persona_id: self.voice_persona_id,
            temperature: self.temperature,
            max_turns: self.max_turns.unwrap_or(DEFAULT_MAX_TURNS),
        };
        (self.name.trim().to_owned(), config)
    }
}

impl AgentChanges {
    /// Makes them.
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
        set(&mut config.voice_persona_id, self.voice_persona_id);
        set(&mut config.temperature, self.temperature);
        let max_turns = self.max_turns.map(|n| n.unwrap_or(DEFAULT_MAX_TURNS));
        set(&mut config.max_turns, max_turns);
    }
}

impl Agent {
    /// Reads a stored one.
    pub(crate) fn of(row: AgentRow) -> Result<Self, StoreError> {
        let config = serde_json::from_str(&row.config);
        Ok(Self {
            config: config.map_err(|_| StoreError::Damaged { what: "agent" })?,
            id: row.id,
            name: row.name,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }

    /// As it is stored.
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

    /// Whether all of it is as it may be.
    pub(crate) fn check(&self) -> Result<(), AgentsError> {
        check_id(&self.id)?;
        let refuse = |field, reason: String| Err(AgentsError::invalid(field, reason));
        if !is_line(&self.name, MAX_NAME_CHARACTERS) {
            return refuse(
                "name",
                format!("one line of 1 to {MAX_NAME_CHARACTERS} characters"),
            );
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
        for (field, entries) in [("allow", &config.tools.allow), ("deny", &config.tools.deny)] {
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
        Ok(())
    }
}

/// Whether a text is one line that is not blank and no longer than this.
pub(crate) fn is_line(text: &str, most: usize) -> bool {
    let length = text.chars().count();
    (1..=most).contains(&length) && !text.trim().is_empty() && !text.contains(char::is_control)
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

/// An id after a name: its letters and digits in lower case, hyphens between them. `number` tells
/// apart those that would have the same one.
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
