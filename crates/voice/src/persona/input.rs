//! Persona input: its fields, accepted spellings and limits.

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

/// The word for "no persona". It is not a valid ID.
const NONE: &str = "none";

/// Params that name a persona.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonaParams {
    /// The persona's ID.
    #[serde(alias = "persona_id", alias = "personaId", alias = "persona")]
    pub id: String,
}

/// Params that select the active persona.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivePersonaParams {
    /// The persona's ID, or `none` or null for no persona.
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
    /// Returns the ID, or `None` for no persona.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| *id != NONE)
    }
}

/// A new persona. Its fields are at the top level or under `persona`.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct NewPersona(Members);

/// Changes to a persona: its ID, and its fields at the top level or under `persona`. `null` clears a field;
/// an absent field is unchanged.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct PersonaChanges(Members);

/// Returns the schema of the persona fields plus an ID. `required` names the required field.
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
        let id = "The persona's ID: 1 to 64 letters, digits and . _ -. Derived from the label if \
                  absent.";
        schema_with_id(generator, id, "label")
    }
}

impl JsonSchema for PersonaChanges {
    fn schema_name() -> Cow<'static, str> {
        "PersonaChanges".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schema_with_id(generator, "The persona's ID.", "id")
    }
}

impl NewPersona {
    /// Returns the persona, and whether the caller chose its ID. If not, the ID is still empty.
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

/// Parsed changes, with the ID of the persona.
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
    pub(super) fn apply(self, persona: &mut Persona) -> Checked<()> {
        self.input.apply(persona)
    }
}

const MAX_ID_CHARACTERS: usize = 64;

/// Returns whether `id` is a valid persona ID.
pub(super) fn is_id(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=MAX_ID_CHARACTERS).contains(&id.len()) && id.chars().all(allowed) && id != NONE
}

fn check_id(id: &str) -> Checked<()> {
    if id == NONE {
        return invalid("id", "`none` is reserved: it stands for no persona");
    }
    if is_id(id) {
        Ok(())
    } else {
        invalid("id", "1 to 64 letters, digits and . _ -")
    }
}

/// Returns an ID derived from a label: its letters and digits in lower case, separated by hyphens.
/// `number` distinguishes personas with the same derived ID.
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
