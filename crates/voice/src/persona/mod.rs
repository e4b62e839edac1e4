//! Personas: voices with a character of their own. What one is, how it is stored and shown, what may be
//! said of it, and what it makes of a request. Knows no provider's wire format.

mod by_model;
mod input;
mod instructions;
mod records;
mod resolve;
#[cfg(test)]
mod tests;

pub use input::{ActivePersonaParams, NewPersona, PersonaChanges, PersonaParams};
pub(crate) use instructions::instructions;
pub use records::{ActivePersona, PersonaEvent, PersonaList, Personas};
pub(crate) use resolve::{Chosen, RequestVoice, apply};

use crate::provider::TtsId;
use gatehouse_domain::Timestamp;
use gatehouse_store::{StoreError, VoicePersonaRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// A persona.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Persona {
    /// Its id.
    pub id: String,
    /// Its name.
    pub label: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Who speaks for it; empty when that is left to the settings.
    #[serde(serialize_with = "id_or_nothing")]
    #[schemars(with = "String")]
    pub provider: Option<TtsId>,
    /// How it speaks, in words.
    pub prompt: PersonaPrompt,
    /// What it is at each provider, one entry a provider.
    #[serde(rename = "providerBindings")]
    #[schemars(with = "Vec<ShownBinding>")]
    pub bindings: Vec<PersonaBinding>,
    /// What happens at a provider for which it has no binding.
    #[serde(rename = "fallbackPolicy")]
    pub fallback: FallbackPolicy,
    /// Whether a model may choose it although another provider speaks for it than without it.
    pub allow_markup: bool,
    /// Whether it speaks when nobody names another.
    pub active: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

fn id_or_nothing<'a, T, S>(id: &'a T, serializer: S) -> Result<S::Ok, S::Error>
where
    &'a T: IntoIterator<Item = &'a TtsId>,
    S: Serializer,
{
    let id = id.into_iter().next();
    serializer.serialize_str(id.map_or("", |id| id.as_str()))
}

/// How a persona speaks, in words that any provider may be told. Each may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PersonaPrompt {
    /// Who speaks.
    pub profile: String,
    /// In which manner.
    pub style: String,
    /// With which accent.
    pub accent: String,
    /// How fast, and with which pauses.
    pub pacing: String,
    /// Where.
    pub scene: String,
    /// What it must not do.
    pub constraints: String,
}

/// What a persona is at one provider. What is absent is left to the settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "ShownBinding")]
pub struct PersonaBinding {
    /// Which provider.
    pub provider: TtsId,
    /// The voice, by its name or id there.
    pub voice_id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// 0.25 to 4; 1 is as usual.
    pub speed: Option<f64>,
    /// 0 to 1.
    pub stability: Option<f64>,
    /// 0 to 1.
    pub similarity_boost: Option<f64>,
    /// Another name of `speed`; never both and different.
    pub speaking_rate: Option<f64>,
    /// Semitones, -20 to 20.
    pub pitch: Option<f64>,
}

/// What a persona is at one provider, as it is shown and stored.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PersonaBinding")]
struct ShownBinding {
    /// Which provider.
    provider: TtsId,
    /// The voice, by its name or id there.
    voice_id: Option<String>,
    /// The same.
    #[serde(skip_serializing_if = "Option::is_none")]
    voice: Option<String>,
    /// The model.
    model: Option<String>,
    /// 0.25 to 4; 1 is as usual.
    speed: Option<f64>,
    /// 0 to 1.
    stability: Option<f64>,
    /// 0 to 1.
    similarity_boost: Option<f64>,
    /// Another name of `speed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    speaking_rate: Option<f64>,
    /// Semitones, -20 to 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pitch: Option<f64>,
}

impl From<PersonaBinding> for ShownBinding {
    fn from(binding: PersonaBinding) -> Self {
        Self {
            provider: binding.provider,
            voice: binding.voice_id.clone(),
            voice_id: binding.voice_id,
            model: binding.model,
            speed: binding.speed,
            stability: binding.stability,
            similarity_boost: binding.similarity_boost,
            speaking_rate: binding.speaking_rate,
            pitch: binding.pitch,
        }
    }
}

/// What happens at a provider for which a persona has no binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FallbackPolicy {
    /// The prompt is kept where the provider follows one.
    #[default]
    #[serde(alias = "preserve_persona")]
    PreservePersona,
    /// The provider speaks as its settings say.
    #[serde(alias = "provider_defaults")]
    ProviderDefaults,
    /// Nothing is spoken.
    Fail,
}

/// Everything of a persona but its names, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Config {
    description: String,
    provider: Option<TtsId>,
    prompt: PersonaPrompt,
    bindings: Vec<PersonaBinding>,
    fallback: FallbackPolicy,
    #[serde(default)]
    allow_markup: bool,
}

const DAMAGED: StoreError = StoreError::Damaged {
    what: "voice persona",
};

impl Persona {
    /// Reads a stored one.
    fn of(row: VoicePersonaRow) -> Result<Self, StoreError> {
        let config: Config = serde_json::from_str(&row.config).map_err(|_| DAMAGED)?;
        Ok(Self {
            id: row.id,
            label: row.label,
            description: config.description,
            provider: config.provider,
            prompt: config.prompt,
            bindings: config.bindings,
            fallback: config.fallback,
            allow_markup: config.allow_markup,
            active: row.active,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }

    /// As it is stored.
    fn row(&self) -> Result<VoicePersonaRow, StoreError> {
        let config = Config {
            description: self.description.clone(),
            provider: self.provider,
            prompt: self.prompt.clone(),
            bindings: self.bindings.clone(),
            fallback: self.fallback,
            allow_markup: self.allow_markup,
        };
        Ok(VoicePersonaRow {
            id: self.id.clone(),
            label: self.label.clone(),
            config: serde_json::to_string(&config).map_err(|_| DAMAGED)?,
            active: self.active,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }

    /// What it is at this provider.
    pub(crate) fn binding(&self, provider: TtsId) -> Option<&PersonaBinding> {
        let mut all = self.bindings.iter();
        all.find(|binding| binding.provider == provider)
    }
}
