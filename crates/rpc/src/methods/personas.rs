//! `voice.personas.*`: voices with their own character.

use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use gatehouse_voice::{
    ActivePersona, ActivePersonaParams, NewPersona, Persona, PersonaChanges, PersonaParams,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The default number of rows per page. It is the maximum, because clients usually show all personas.
const DEFAULT: i64 = 500;

pub const LIST: Method = method!(
    "voice.personas.list",
    "Lists the personas and which one is active.",
    Some(Scope::Read),
    list(ListParams) -> ListResult
);

pub const GET: Method = method!(
    "voice.personas.get",
    "Returns a persona.",
    Some(Scope::Read),
    get(PersonaParams) -> Persona,
    errors: [NotFound]
);

pub const CREATE: Method = method!(
    "voice.personas.create",
    "Creates a persona.",
    Some(Scope::Write),
    create(NewPersona) -> Persona,
    errors: [Conflict],
    audit: Audit::row("persona.created", &["id"], &["id"])
);

pub const UPDATE: Method = method!(
    "voice.personas.update",
    "Changes a persona. Absent fields are kept, and null clears a field.",
    Some(Scope::Write),
    update(PersonaChanges) -> Persona,
    errors: [NotFound],
    audit: Audit::row("persona.updated", &["id"], &[])
);

pub const DELETE: Method = method!(
    "voice.personas.delete",
    "Deletes a persona. If it was active, no persona is active afterwards.",
    Some(Scope::Write),
    delete(PersonaParams) -> Done,
    errors: [NotFound],
    audit: Audit::row("persona.deleted", &["id"], &[])
);

pub const SET_ACTIVE: Method = method!(
    "voice.personas.set_active",
    "Sets the active persona, which is used when a request names none; with `none` or null, no \
     persona is active.",
    Some(Scope::Write),
    set_active(ActivePersonaParams) -> ActivePersona,
    errors: [NotFound],
    audit: Audit::row("persona.activated", &["id"], &[])
);

/// Params of `voice.personas.list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListParams {
    /// The maximum number of entries; 500 by default.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<i64>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Result of `voice.personas.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The personas, by label and then by ID.
    pub personas: Vec<Persona>,
    /// The ID of the active persona, which may be on another page.
    pub active: Option<String>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

async fn list(call: Call, params: ListParams) -> Result<ListResult, Problem> {
    let page = PageParams {
        limit: params.limit.or(Some(DEFAULT)),
        cursor: params.cursor,
    };
    let list = call
        .services
        .voice
        .personas()
        .list()
        .await
        .map_err(to_problem)?;
    // Labels may be equal. A label contains no line break, so it can separate label and ID.
    let place = |persona: Persona| (format!("{}\n{}", persona.label, persona.id), persona);
    let mut all: Vec<_> = list.personas.into_iter().map(place).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let (personas, next_cursor) = by_name(all, &page, |(place, _)| place)?;
    Ok(ListResult {
        personas: personas.into_iter().map(|(_, persona)| persona).collect(),
        active: list.active,
        next_cursor,
    })
}

async fn get(call: Call, params: PersonaParams) -> Result<Persona, Problem> {
    let personas = call.services.voice.personas();
    personas.get(&params.id).await.map_err(to_problem)
}

async fn create(call: Call, params: NewPersona) -> Result<Persona, Problem> {
    let personas = call.services.voice.personas();
    personas.create(params).await.map_err(to_problem)
}

async fn update(call: Call, params: PersonaChanges) -> Result<Persona, Problem> {
    let personas = call.services.voice.personas();
    personas.update(params).await.map_err(to_problem)
}

async fn delete(call: Call, params: PersonaParams) -> Result<Done, Problem> {
    let personas = call.services.voice.personas();
    personas.delete(&params.id).await.map_err(to_problem)?;
    Ok(DONE)
}

async fn set_active(call: Call, params: ActivePersonaParams) -> Result<ActivePersona, Problem> {
    let personas = call.services.voice.personas();
    personas.set_active(params.id()).await.map_err(to_problem)
}
