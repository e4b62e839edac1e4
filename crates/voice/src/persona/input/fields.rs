//! The members of a persona as callers write them, and putting them in place. Pure.

#![expect(
    clippy::option_option,
    reason = "absent, null and a value are three things here"
)]

use super::checks::{
    Checked, MAX_BINDINGS, MAX_LABEL, PITCH, SPEED, UNIT, in_range, invalid, line, text, word,
};
use crate::persona::{FallbackPolicy, Persona, PersonaBinding, PersonaPrompt};
use crate::provider::TtsId;
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

/// What a caller says of a persona. `null` clears a member, an absent one stays.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PersonaInput {
    /// Its name, one line of 1 to 200 characters.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String")]
    pub(super) label: Option<Option<String>>,
    /// What it is for.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    description: Option<Option<String>>,
    /// Who speaks for it, by id or vendor's name.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    provider: Option<Option<String>>,
    /// How it speaks, in words.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<PromptInput>")]
    prompt: Option<Option<PromptInput>>,
    /// What it is at each provider; replaces all there were.
    #[serde(
        default,
        rename = "providerBindings",
        alias = "provider_bindings",
        deserialize_with = "given"
    )]
    #[schemars(with = "Option<Vec<BindingInput>>")]
    bindings: Option<Option<Vec<BindingInput>>>,
    /// What happens at a provider for which it has no binding; `preserve-persona` when absent.
    #[serde(
        default,
        rename = "fallbackPolicy",
        alias = "fallback_policy",
        deserialize_with = "given"
    )]
    #[schemars(with = "Option<FallbackPolicy>")]
    fallback: Option<Option<FallbackPolicy>>,
    /// Whether a model may choose it although another provider speaks for it than without it.
    #[serde(
        default,
        rename = "allow_markup",
        alias = "allowMarkup",
        deserialize_with = "given"
    )]
    #[schemars(with = "Option<bool>")]
    allow_markup: Option<Option<bool>>,
    /// Taken so that a record can be sent back; it cannot be changed here.
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

/// How a persona speaks: each at most 4,000 characters; `null` clears.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PromptInput {
    /// Who speaks.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    profile: Option<Option<String>>,
    /// In which manner.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    style: Option<Option<String>>,
    /// With which accent.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    accent: Option<Option<String>>,
    /// How fast, and with which pauses.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    pacing: Option<Option<String>>,
    /// Where.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    scene: Option<Option<String>>,
    /// What it must not do.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    constraints: Option<Option<String>>,
}

/// What a persona is at one provider.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BindingInput {
    /// Which provider, by id or vendor's name.
    provider: String,
    /// The voice, by its name or id there.
    #[serde(default, alias = "voiceId")]
    voice_id: Option<String>,
    /// The same.
    voice: Option<String>,
    /// The model.
    model: Option<String>,
    /// 1 is as usual.
    #[schemars(range(min = 0.25, max = 4.0))]
    speed: Option<f64>,
    /// How steady.
    #[schemars(range(min = 0.0, max = 1.0))]
    stability: Option<f64>,
    /// How close to the original.
    #[serde(default, alias = "similarityBoost")]
    #[schemars(range(min = 0.0, max = 1.0))]
    similarity_boost: Option<f64>,
    /// Another name of `speed`.
    #[serde(default, alias = "speakingRate")]
    #[schemars(range(min = 0.25, max = 4.0))]
    speaking_rate: Option<f64>,
    /// Semitones.
    #[schemars(range(min = -20.0, max = 20.0))]
    pitch: Option<f64>,
}

/// Tells `null`, which clears, from an absent field.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl PersonaInput {
    /// Puts what is said in place.
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
                invalid("active", "voice.personas.set_active changes this")
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

fn bindings(list: Vec<BindingInput>) -> Checked<Vec<PersonaBinding>> {
    if list.len() > MAX_BINDINGS {
        return invalid(
            "providerBindings",
            format!("at most {MAX_BINDINGS} bindings"),
        );
    }
    let mut bindings: Vec<PersonaBinding> = Vec::with_capacity(list.len());
    for binding in list {
        let binding = binding.checked()?;
        if bindings.iter().any(|one| one.provider == binding.provider) {
            let reason = format!("two bindings for {}", binding.provider);
            return invalid("providerBindings", reason);
        }
        bindings.push(binding);
    }
    Ok(bindings)
}

impl BindingInput {
    fn checked(self) -> Checked<PersonaBinding> {
        let voice_id = word("voice_id", self.voice_id)?;
        let voice = word("voice", self.voice)?;
        if matches!((&voice_id, &voice), (Some(one), Some(other)) if one != other) {
            return invalid("voice", "another name of voice_id, and the two differ");
        }
        let speed = in_range("speed", self.speed, &SPEED)?;
        let speaking_rate = in_range("speaking_rate", self.speaking_rate, &SPEED)?;
        #[expect(clippy::float_cmp, reason = "the same number written twice")]
        if matches!((speed, speaking_rate), (Some(one), Some(other)) if one != other) {
            return invalid("speaking_rate", "another name of speed, and the two differ");
        }
        Ok(PersonaBinding {
            provider: TtsId::parse("provider", &self.provider)?,
            voice_id: voice_id.or(voice),
            model: word("model", self.model)?,
            speed,
            stability: in_range("stability", self.stability, &UNIT)?,
            similarity_boost: in_range("similarity_boost", self.similarity_boost, &UNIT)?,
            speaking_rate,
            pitch: in_range("pitch", self.pitch, &PITCH)?,
        })
    }
}
