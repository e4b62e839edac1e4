//! Parses the fields of a persona and applies them.

#![expect(
    clippy::option_option,
    reason = "absent, null and a value have different meanings"
)]

mod binding;

use super::checks::{Checked, MAX_LABEL, invalid, line, text};
use crate::persona::{FallbackPolicy, Persona, PersonaPrompt};
use crate::{ProviderId, TtsId};
use binding::{BindingInput, bindings};
use gatehouse_domain::input::nullable;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The fields of a persona. `null` clears a field; an absent field is unchanged.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PersonaInput {
    /// The name, one line of 1 to 200 characters.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String")]
    pub(super) label: Option<Option<String>>,
    /// The purpose of the persona.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    description: Option<Option<String>>,
    /// The provider that speaks for it, by ID or vendor name.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    provider: Option<Option<String>>,
    /// A description of how it speaks.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<PromptInput>")]
    prompt: Option<Option<PromptInput>>,
    /// The voice settings per provider. Replaces all existing bindings.
    #[serde(
        default,
        rename = "providerBindings",
        alias = "provider_bindings",
        deserialize_with = "nullable"
    )]
    #[schemars(with = "Option<Vec<BindingInput>>")]
    bindings: Option<Option<Vec<BindingInput>>>,
    /// What to do at a provider without a binding; `preserve-persona` by default.
    #[serde(
        default,
        rename = "fallbackPolicy",
        alias = "fallback_policy",
        deserialize_with = "nullable"
    )]
    #[schemars(with = "Option<FallbackPolicy>")]
    fallback: Option<Option<FallbackPolicy>>,
    /// Whether a model may choose it even if that changes the provider.
    #[serde(
        default,
        rename = "allow_markup",
        alias = "allowMarkup",
        deserialize_with = "nullable"
    )]
    #[schemars(with = "Option<bool>")]
    allow_markup: Option<Option<bool>>,
    /// Accepted so that a client can send back a complete record, but cannot be changed here.
    #[serde(default)]
    #[schemars(skip)]
    active: Option<bool>,
    /// Ignored.
    #[serde(default, rename = "created_at", alias = "createdAt")]
    #[schemars(skip)]
    _created_at: IgnoredAny,
    /// Ignored.
    #[serde(default, rename = "updated_at", alias = "updatedAt")]
    #[schemars(skip)]
    _updated_at: IgnoredAny,
}

/// How a persona speaks. Each field has at most 4,000 characters; `null` clears it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PromptInput {
    /// Who the speaker is.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    profile: Option<Option<String>>,
    /// The manner of speaking.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    style: Option<Option<String>>,
    /// The accent.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    accent: Option<Option<String>>,
    /// The pace and the pauses.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    pacing: Option<Option<String>>,
    /// The setting of the scene.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    scene: Option<Option<String>>,
    /// Restrictions for the speaker.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>")]
    constraints: Option<Option<String>>,
}

impl PersonaInput {
    /// Applies the given fields.
    pub(super) fn apply(self, persona: &mut Persona) -> Checked<()> {
        if let Some(label) = self.label {
            persona.label = line("label", label.as_deref().unwrap_or_default(), MAX_LABEL)?;
        }
        if let Some(description) = self.description {
            persona.description = text("description", description)?;
        }
        if let Some(provider) = self.provider {
            let name = provider.filter(|name| !name.is_empty());
            let parsed = name.map(|name| TtsId::parse("provider", &name));
            persona.provider = parsed.transpose()?;
        }
        match self.prompt {
            None => {}
            Some(None) => persona.prompt = PersonaPrompt::default(),
            Some(Some(prompt)) => prompt.apply(&mut persona.prompt)?,
        }
        if let Some(list) = self.bindings {
            persona.bindings = bindings(list.unwrap_or_default())?;
        }
        if let Some(fallback) = self.fallback {
            persona.fallback = fallback.unwrap_or_default();
        }
        if let Some(allow) = self.allow_markup {
            persona.allow_markup = allow.unwrap_or_default();
        }
        match self.active {
            Some(active) if active != persona.active => {
                invalid("active", "use voice.personas.set_active to change it")
            }
            _ => Ok(()),
        }
    }
}

impl PromptInput {
    fn apply(self, prompt: &mut PersonaPrompt) -> Checked<()> {
        for (field, place, said) in [
            ("profile", &mut prompt.profile, self.profile),
            ("style", &mut prompt.style, self.style),
            ("accent", &mut prompt.accent, self.accent),
            ("pacing", &mut prompt.pacing, self.pacing),
            ("scene", &mut prompt.scene, self.scene),
            ("constraints", &mut prompt.constraints, self.constraints),
        ] {
            if let Some(said) = said {
                *place = text(field, said)?;
            }
        }
        Ok(())
    }
}
