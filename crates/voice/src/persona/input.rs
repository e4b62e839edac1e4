//! What a caller may say of a persona, how it may be written, and how much of it. Pure.

mod checks;
mod members;

use super::{FallbackPolicy, Persona, PersonaBinding, PersonaPrompt};
use crate::VoiceError;
use crate::provider::TtsId;
use checks::{
    Checked, MAX_BINDINGS, MAX_LABEL, MAX_TEXT, PITCH, SPEED, UNIT, in_range, invalid, line, text,
    word,
};
use gatehouse_domain::Timestamp;
use members::Members;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The word that stands for no persona, and is no id.
const NONE: &str = "none";

/// Params that name a persona.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonaParams {
    /// Its id.
    #[serde(alias = "persona_id", alias = "personaId", alias = "persona")]
    pub id: String,
}

/// Params that say which persona is to be active.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivePersonaParams {
    /// Its id; `none` or null for none.
    #[serde(
        alias = "persona_id",
        alias = "personaId",
        alias = "persona",
        deserialize_with = "Option::deserialize"
    )]
    #[schemars(required)]
    id: Option<String>,
}

impl ActivePersonaParams {
    /// The id, or none.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| *id != NONE)
    }
}

/// A new persona: its members, flat or under `persona`.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct NewPersona(Members);

/// What is to change in a persona: its id, and its members, flat or under `persona`. `null` clears a
/// member, an absent one stays.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct PersonaChanges(Members);

/// The schema of the members with an id, of which these must be there.
fn schema_with_id(generator: &mut SchemaGenerator, id: &str, required: &str) -> Schema {
    let mut schema = PersonaInput::json_schema(generator);
    let id = json!({ "type": "string", "description": id });
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("id".to_owned(), id);
    }
    schema.insert("required".to_owned(), json!([required]));
    schema
}

impl JsonSchema for NewPersona {
    fn schema_name() -> Cow<'static, str> {
        "NewPersona".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let id = "Its id: 1 to 64 letters, digits and . _ -; made from the label when absent.";
        schema_with_id(generator, id, "label")
    }
}

impl JsonSchema for PersonaChanges {
    fn schema_name() -> Cow<'static, str> {
        "PersonaChanges".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schema_with_id(generator, "Which persona.", "id")
    }
}

/// What a caller says of a persona. `null` clears a member, an absent one stays.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PersonaInput {
    /// Its name, one line of 1 to 200 characters.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String")]
    label: Option<Option<String>>,
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
#[expect(
    clippy::option_option,
    reason = "absent, null and a value are three things here"
)]
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl NewPersona {
    /// The persona, and whether its id was chosen by the caller; else it is empty for now.
    pub(super) fn into_persona(self, now: Timestamp) -> Checked<(Persona, bool)> {
        let (id, input) = self.0.read::<PersonaInput>()?;
        if matches!(input.label, None | Some(None)) {
            return invalid("label", "required");
        }
        let is_chosen = id.is_some();
        if let Some(id) = &id {
            check_id(id)?;
        }
        let mut persona = Persona {
            id: id.unwrap_or_default(),
            label: String::new(),
            description: String::new(),
            provider: None,
            prompt: PersonaPrompt::default(),
            bindings: Vec::new(),
            fallback: FallbackPolicy::default(),
            active: false,
            created_at: now,
            updated_at: now,
        };
        input.apply(&mut persona)?;
        Ok((persona, is_chosen))
    }
}

/// Changes that were read: which persona, and what is to change.
pub(super) struct Changes {
    pub(super) id: String,
    input: PersonaInput,
}

impl PersonaChanges {
    pub(super) fn read(self) -> Checked<Changes> {
        match self.0.read()? {
            (Some(id), input) => Ok(Changes { id, input }),
            (None, _) => invalid("id", "required"),
        }
    }
}

impl Changes {
    /// Makes them.
    pub(super) fn apply(self, persona: &mut Persona) -> Checked<()> {
        self.input.apply(persona)
    }
}

impl PersonaInput {
    fn apply(self, persona: &mut Persona) -> Checked<()> {
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
        let speed = in_range("speed", self.speed, SPEED)?;
        let speaking_rate = in_range("speaking_rate", self.speaking_rate, SPEED)?;
        #[expect(clippy::float_cmp, reason = "the same number written twice")]
        if matches!((speed, speaking_rate), (Some(one), Some(other)) if one != other) {
            return invalid("speaking_rate", "another name of speed, and the two differ");
        }
        Ok(PersonaBinding {
            provider: TtsId::parse("provider", &self.provider)?,
            voice_id: voice_id.or(voice),
            model: word("model", self.model)?,
            speed,
            stability: in_range("stability", self.stability, UNIT)?,
            similarity_boost: in_range("similarity_boost", self.similarity_boost, UNIT)?,
            speaking_rate,
            pitch: in_range("pitch", self.pitch, PITCH)?,
        })
    }
}

/// The most characters of an id.
const MAX_ID_CHARACTERS: usize = 64;

/// Whether this can be the id of a persona.
pub(super) fn is_id(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=MAX_ID_CHARACTERS).contains(&id.len()) && id.chars().all(allowed) && id != NONE
}

fn check_id(id: &str) -> Checked<()> {
    if id == NONE {
        return invalid("id", "none stands for no persona");
    }
    if is_id(id) {
        Ok(())
    } else {
        invalid("id", "1 to 64 letters, digits and . _ -")
    }
}

/// An id after a label: its letters and digits in lower case, hyphens between them. `number` tells apart
/// those that would have the same one.
pub(super) fn id_after(label: &str, number: usize) -> String {
    let words: Vec<String> = label
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let mut id = words.join("-");
    id.truncate(MAX_ID_CHARACTERS - 8);
    let id = match id.trim_end_matches('-') {
        "" => "persona",
        id => id,
    };
    match number {
        0 | 1 => id.to_owned(),
        number => format!("{id}-{number}"),
    }
}

impl From<members::Refusal> for VoiceError {
    fn from(refusal: members::Refusal) -> Self {
        Self::invalid(refusal.field, refusal.reason)
    }
}
