//! Personas: voices with a character. Their definition, storage, input and effect on requests. The module does not
//! depend on the providers' wire formats.

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

use crate::TtsId;
use gatehouse_domain::Timestamp;
use gatehouse_store::{StoreError, VoicePersonaRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// A persona.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Persona {
    /// The ID.
    pub id: String,
    pub label: String,
    /// The purpose; may be empty.
    pub description: String,
    /// The provider that speaks for it; empty to use the configured one.
    #[serde(serialize_with = "id_or_nothing")]
    #[schemars(with = "String")]
    pub provider: Option<TtsId>,
    /// A description of how it speaks.
    pub prompt: PersonaPrompt,
    /// The voice settings per provider, at most one entry each.
    #[serde(rename = "providerBindings")]
    #[schemars(with = "Vec<ShownBinding>")]
    pub bindings: Vec<PersonaBinding>,
    /// What to do at a provider without a binding.
    #[serde(rename = "fallbackPolicy")]
    pub fallback: FallbackPolicy,
    /// Whether a model may choose it even if that changes the provider.
    pub allow_markup: bool,
    /// Whether it is the default persona.
    pub active: bool,
    /// The time of creation.
    pub created_at: Timestamp,
    /// The time of the last change.
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

/// How a persona speaks, in words suited to any provider. Each field may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PersonaPrompt {
    /// Who the speaker is.
    pub profile: String,
    /// The manner of speaking.
    pub style: String,
    /// The accent.
    pub accent: String,
    /// The pace and the pauses.
    pub pacing: String,
    /// The setting of the scene.
    pub scene: String,
    /// Restrictions for the speaker.
    pub constraints: String,
}

/// The voice settings of a persona at one provider. Absent fields use the configured settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "ShownBinding")]
pub struct PersonaBinding {
    pub provider: TtsId,
    /// The provider's name or ID of the voice.
    pub voice_id: Option<String>,
    pub model: Option<String>,
    /// 0.25 to 4; 1 is normal.
    pub speed: Option<f64>,
    /// 0 to 1.
    pub stability: Option<f64>,
    /// 0 to 1.
    pub similarity_boost: Option<f64>,
    /// An alias of `speed`. If both are set, they are equal.
    pub speaking_rate: Option<f64>,
    /// Semitones, -20 to 20.
    pub pitch: Option<f64>,
}

/// The voice settings of a persona at one provider.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PersonaBinding")]
struct ShownBinding {
    provider: TtsId,
    /// The provider's name or ID of the voice.
    voice_id: Option<String>,
    /// An alias of `voice_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    voice: Option<String>,
    model: Option<String>,
    /// The speed, 0.25 to 4; 1 is normal.
    speed: Option<f64>,
    /// The stability, 0 to 1.
    stability: Option<f64>,
    /// The similarity to the original voice, 0 to 1.
    similarity_boost: Option<f64>,
    /// An alias of `speed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    speaking_rate: Option<f64>,
    /// The pitch in semitones, -20 to 20.
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

/// What to do at a provider for which a persona has no binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FallbackPolicy {
    /// Keep the prompt if the provider supports instructions.
    #[default]
    #[serde(alias = "preserve_persona")]
    PreservePersona,
    /// Use the provider's configured settings.
    #[serde(alias = "provider_defaults")]
    ProviderDefaults,
    /// Do not speak.
    Fail,
}

/// The fields of a persona that are stored as JSON in the `config` column.
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
    /// Parses a stored row.
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

    /// Returns the binding for this provider.
    pub(crate) fn binding(&self, provider: TtsId) -> Option<&PersonaBinding> {
        let mut all = self.bindings.iter();
        all.find(|binding| binding.provider == provider)
    }
}
