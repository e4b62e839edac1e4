//! Stores personas: creates, updates, deletes and activates them. Subscribers receive each change after it is stored.

use super::Persona;
use super::input::{self, NewPersona, PersonaChanges};
use crate::VoiceError;
use gatehouse_domain::Clock;
use gatehouse_store::{Conn, Store, StoreError, VoicePersonaRow};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::broadcast;

const NOUN: &str = "persona";

/// The personas in the store.
#[derive(Clone, Debug)]
pub struct Personas {
    store: Store,
    clock: Arc<dyn Clock>,
    events: broadcast::Sender<PersonaEvent>,
}

/// All personas, ordered by label and then by ID.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PersonaList {
    /// The personas.
    pub personas: Vec<Persona>,
    /// The ID of the active persona.
    pub active: Option<String>,
}

/// The active persona.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ActivePersona {
    /// The ID of the active persona.
    pub active: Option<String>,
}

/// A persona after a change.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PersonaEvent {
    /// The persona.
    #[serde(flatten)]
    pub persona: Persona,
    /// Whether the persona was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl Personas {
    /// Creates a handle that reads and writes `store`, and sends changes to `events`.
    pub const fn new(
        store: Store,
        clock: Arc<dyn Clock>,
        events: broadcast::Sender<PersonaEvent>,
    ) -> Self {
        Self {
            store,
            clock,
            events,
        }
    }

    /// Lists all personas, ordered by label and then by ID.
    pub async fn list(&self) -> Result<PersonaList, VoiceError> {
        let read = self
            .store
            .read(|conn| Box::pin(async move { conn.list_voice_personas().await }));
        let rows: Result<Vec<VoicePersonaRow>, StoreError> = read.await;
        let personas: Result<Vec<_>, _> = rows?.into_iter().map(Persona::of).collect();
        let personas = personas?;
        let active = personas.iter().find(|persona| persona.active);
        Ok(PersonaList {
            active: active.map(|persona| persona.id.clone()),
            personas,
        })
    }

    pub async fn find(&self, id: &str) -> Result<Option<Persona>, VoiceError> {
        if !input::is_id(id) {
            return Ok(None);
        }
        let id = id.to_owned();
        let read = self
            .store
            .read(move |conn| Box::pin(async move { find(conn, &id).await }));
        read.await
    }

    /// Gets a persona, or returns `NotFound`.
    pub async fn get(&self, id: &str) -> Result<Persona, VoiceError> {
        let found = self.find(id).await?;
        found.ok_or(VoiceError::NotFound(NOUN))
    }

    /// Finds the active persona.
    pub async fn active(&self) -> Result<Option<Persona>, VoiceError> {
        let read = self
            .store
            .read(move |conn| Box::pin(async move { find_active(conn).await }));
        read.await
    }

    /// Creates a persona. Returns `Conflict` if its ID is taken.
    pub async fn create(&self, new: NewPersona) -> Result<Persona, VoiceError> {
        let (mut persona, is_chosen) = new.into_persona(self.clock.now())?;
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                if !is_chosen {
                    persona.id = free_id(conn, &persona.label).await?;
                }
                match conn.insert_voice_persona(&persona.row()?).await {
                    Ok(()) => Ok(persona),
                    Err(StoreError::Duplicate(_)) => Err(VoiceError::Conflict(
                        "A persona with this ID already exists.".to_owned(),
                    )),
                    Err(error) => Err(error.into()),
                }
            })
        });
        let persona = write.await?;
        self.publish(&persona, false);
        Ok(persona)
    }

    /// Updates a persona. The change applies to subsequent requests.
    pub async fn update(&self, changes: PersonaChanges) -> Result<Persona, VoiceError> {
        let changes = changes.read()?;
        let now = self.clock.now();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let mut persona = get(conn, &changes.id).await?;
                changes.apply(&mut persona)?;
                persona.updated_at = now;
                conn.update_voice_persona(&persona.row()?).await?;
                Ok::<_, VoiceError>(persona)
            })
        });
        let persona = write.await?;
        self.publish(&persona, false);
        Ok(persona)
    }

    /// Deletes a persona. If it was active, no persona is active afterwards.
    pub async fn delete(&self, id: &str) -> Result<(), VoiceError> {
        let id = id.to_owned();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let mut persona = get(conn, &id).await?;
                conn.delete_voice_persona(&id).await?;
                persona.active = false;
                Ok::<_, VoiceError>(persona)
            })
        });
        let persona = write.await?;
        self.publish(&persona, true);
        Ok(())
    }

    /// Activates a persona, or none.
    pub async fn set_active(&self, id: Option<&str>) -> Result<ActivePersona, VoiceError> {
        let active = id.map(str::to_owned);
        let wanted = active.clone();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let before = find_active(conn).await?;
                let after = match wanted {
                    None => None,
                    Some(id) => Some(get(conn, &id).await?),
                };
                let id = after.as_ref().map(|persona| persona.id.as_str());
                if !conn.update_active_voice_persona(id).await? {
                    return Err(VoiceError::NotFound(NOUN));
                }
                Ok((before, after))
            })
        });
        let (before, after) = write.await?;
        let id = |persona: &Option<Persona>| persona.as_ref().map(|one| one.id.clone());
        if id(&before) != id(&after) {
            for (persona, active) in [(before, false), (after, true)] {
                if let Some(mut persona) = persona {
                    persona.active = active;
                    self.publish(&persona, false);
                }
            }
        }
        Ok(ActivePersona { active })
    }

    fn publish(&self, persona: &Persona, deleted: bool) {
        let persona = persona.clone();
        // Having no subscribers is not an error.
        drop(self.events.send(PersonaEvent { persona, deleted }));
    }
}

async fn find(conn: &mut Conn, id: &str) -> Result<Option<Persona>, VoiceError> {
    let row = conn.find_voice_persona(id).await?;
    Ok(row.map(Persona::of).transpose()?)
}

async fn find_active(conn: &mut Conn) -> Result<Option<Persona>, VoiceError> {
    let row = conn.find_active_voice_persona().await?;
    Ok(row.map(Persona::of).transpose()?)
}

/// Does not query an invalid ID, because PostgreSQL rejects a NUL even in a query.
async fn get(conn: &mut Conn, id: &str) -> Result<Persona, VoiceError> {
    let missing = VoiceError::NotFound(NOUN);
    if !input::is_id(id) {
        return Err(missing);
    }
    find(conn, id).await?.ok_or(missing)
}

/// Returns the first free ID derived from this label.
async fn free_id(conn: &mut Conn, label: &str) -> Result<String, StoreError> {
    let rows = conn.list_voice_personas().await?;
    let taken: HashSet<String> = rows.into_iter().map(|row| row.id).collect();
    let is_free = |id: &String| input::is_id(id) && !taken.contains(id);
    let mut ids = (1..=taken.len() + 2).map(|number| input::id_after(label, number));
    // There are two more candidates than taken IDs, and `none` is the only candidate that is not a
    // valid ID. So one candidate is free.
    Ok(ids.find(is_free).unwrap_or_default())
}
