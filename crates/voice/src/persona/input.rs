//! What a caller may say of a persona, how it may be written, and how much of it. Pure.

mod checks;
mod fields;
mod members;

use super::{FallbackPolicy, Persona, PersonaPrompt};
use crate::VoiceError;
use checks::{Checked, invalid};
use fields::PersonaInput;
use gatehouse_domain::Timestamp;
use members::Members;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
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
            allow_markup: false,
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
