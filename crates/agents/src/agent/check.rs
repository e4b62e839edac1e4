//! Checks the settings of an agent before they are stored.

use super::{Agent, MAX_ID_CHARACTERS};
use crate::error::AgentsError;
use crate::line::is_line;
use gatehouse_domain::visible;

/// Upper limit for `max_turns`.
const MAX_MAX_TURNS: u32 = 100;

const MAX_NAME_CHARACTERS: usize = 100;

const MAX_PROMPT_CHARACTERS: usize = 65_536;

/// Limit for the name of a provider, model or persona, and for one entry of a tool list.
const MAX_WORD_CHARACTERS: usize = 200;

const MAX_ENTRIES: usize = 200;

const MAX_FALLBACK: usize = 5;

const MAX_OUTPUT_TOKENS: u32 = 1_000_000;

impl Agent {
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

pub(super) fn check_id(id: &str) -> Result<(), AgentsError> {
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
