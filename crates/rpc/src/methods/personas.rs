//! `voice.personas.*`: voices with a character of their own.

use crate::method::{Call, DONE, Done, Method, NoParams, method, told};
use gatehouse_domain::{Problem, Scope};
use gatehouse_voice::{
    ActivePersona, ActivePersonaParams, NewPersona, Persona, PersonaChanges, PersonaList,
    PersonaParams,
};

/// `voice.personas.list`.
pub const LIST: Method = method!(
    "voice.personas.list",
    "The personas, and which of them is active.",
    Some(Scope::Read),
    list(NoParams) -> PersonaList
);

/// `voice.personas.get`.
pub const GET: Method = method!(
    "voice.personas.get",
    "A persona.",
    Some(Scope::Read),
    get(PersonaParams) -> Persona,
    errors: [NotFound]
);

/// `voice.personas.create`.
pub const CREATE: Method = method!(
    "voice.personas.create",
    "Makes a persona.",
    Some(Scope::Write),
    create(NewPersona) -> Persona,
    errors: [Conflict]
);

/// `voice.personas.update`.
pub const UPDATE: Method = method!(
    "voice.personas.update",
    "Changes a persona; what is absent stays, what is null is cleared.",
    Some(Scope::Write),
    update(PersonaChanges) -> Persona,
    errors: [NotFound]
);

/// `voice.personas.delete`.
pub const DELETE: Method = method!(
    "voice.personas.delete",
    "Deletes a persona; if it was the active one, none is active.",
    Some(Scope::Write),
    delete(PersonaParams) -> Done,
    errors: [NotFound]
);

/// `voice.personas.set_active`.
pub const SET_ACTIVE: Method = method!(
    "voice.personas.set_active",
    "Says which persona speaks when nobody names another; none for no persona.",
    Some(Scope::Write),
    set_active(ActivePersonaParams) -> ActivePersona,
    errors: [NotFound]
);

async fn list(call: Call, _: NoParams) -> Result<PersonaList, Problem> {
    call.rooms.voice.personas().list().await.map_err(told)
}

async fn get(call: Call, params: PersonaParams) -> Result<Persona, Problem> {
    let personas = call.rooms.voice.personas();
    personas.get(&params.id).await.map_err(told)
}

async fn create(call: Call, params: NewPersona) -> Result<Persona, Problem> {
    let personas = call.rooms.voice.personas();
    personas.create(params).await.map_err(told)
}

async fn update(call: Call, params: PersonaChanges) -> Result<Persona, Problem> {
    let personas = call.rooms.voice.personas();
    personas.update(params).await.map_err(told)
}

async fn delete(call: Call, params: PersonaParams) -> Result<Done, Problem> {
    let personas = call.rooms.voice.personas();
    personas.delete(&params.id).await.map_err(told)?;
    Ok(DONE)
}

async fn set_active(call: Call, params: ActivePersonaParams) -> Result<ActivePersona, Problem> {
    let personas = call.rooms.voice.personas();
    personas.set_active(params.id()).await.map_err(told)
}
