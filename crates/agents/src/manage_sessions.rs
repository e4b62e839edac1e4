//! `sessions.*`: managing sessions.

mod list;

use crate::error::AgentsError;
use crate::handle::{Agents, Inner};
use crate::line::is_line;
use crate::presets::choose_agent;
use crate::session::{Session, Source};
use crate::tags::stored_tags;
use gatehouse_domain::Actor;
use gatehouse_domain::id::SessionId;
use gatehouse_store::{AuditEntry, ChatSessionRow, Conn, StoreError};
pub use list::{SessionPage, SessionQuery};
use serde_json::json;
use std::sync::Arc;

/// The longest label.
pub(crate) const MAX_LABEL_CHARACTERS: usize = 200;

/// Changes to a session. `None` keeps the stored value.
#[derive(Clone, Debug, Default)]
pub struct SessionChanges {
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    /// Replaces all tags.
    pub tags: Option<Vec<String>>,
}

/// The label of a new session without messages. The first message replaces it.
pub(crate) const NEW_LABEL: &str = "New session";

pub(crate) fn check_label(label: &str) -> Result<(), AgentsError> {
    if is_line(label, MAX_LABEL_CHARACTERS) {
        return Ok(());
    }
    let reason = format!("one line of 1 to {MAX_LABEL_CHARACTERS} characters");
    Err(AgentsError::invalid("label", reason))
}

impl Agents {
    /// Finds a session by ID or key.
    pub async fn get_session(&self, name: &str) -> Result<Session, AgentsError> {
        let row = self.0.session_row(name).await?;
        let shown = self.0.shown_on_all_nodes(vec![row]).await?;
        shown
            .into_iter()
            .next()
            .ok_or(AgentsError::NotFound("session"))
    }

    /// Returns the source of the session with this key, or `None` if there is no such session.
    pub async fn session_source(&self, key: &str) -> Result<Option<Source>, AgentsError> {
        if key.contains('\0') {
            return Ok(None);
        }
        let key = key.to_owned();
        let read = self
            .0
            .store
            .read(move |conn| Box::pin(async move { conn.find_chat_session_by_key(&key).await }));
        let row: Option<ChatSessionRow> = read.await?;
        Ok(row.map(|row| Source::of(&row.source)))
    }

    /// Creates an empty session.
    pub async fn create_session(
        &self,
        label: Option<&str>,
        agent: Option<String>,
    ) -> Result<Session, AgentsError> {
        let label = label.map_or(NEW_LABEL, str::trim);
        check_label(label)?;
        let id = SessionId::generate(&*self.0.clock, &*self.0.random);
        let mut row = self.0.new_session(id, None, label.to_owned(), Source::User);
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                row.agent_id = choose_agent(conn, agent, None).await?;
                conn.insert_chat_session(&row).await?;
                conn.insert_change("sessions", row.created_at).await?;
                Ok::<_, AgentsError>(row)
            })
        });
        let row: ChatSessionRow = write.await?;
        Ok(self.0.shown(row))
    }

    pub async fn rename_session(&self, name: &str, label: &str) -> Result<Session, AgentsError> {
        let label = label.trim().to_owned();
        check_label(&label)?;
        let (name, now) = (name.to_owned(), self.0.clock.now());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let mut row = find(conn, &name)
                    .await?
                    .ok_or(AgentsError::NotFound("session"))?;
                conn.update_chat_session_label(&row.id, &label).await?;
                conn.insert_change("sessions", now).await?;
                row.label = label;
                Ok::<_, AgentsError>(row)
            })
        });
        let row: ChatSessionRow = write.await?;
        Ok(self.0.shown(row))
    }

    /// Pins, archives or tags a session.
    pub async fn update_session(
        &self,
        name: &str,
        changes: SessionChanges,
    ) -> Result<Session, AgentsError> {
        let SessionChanges {
            pinned,
            archived,
            tags,
        } = changes;
        let tags = tags.as_deref().map(stored_tags).transpose()?;
        let (name, now) = (name.to_owned(), self.0.clock.now());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let found = find(conn, &name).await?;
                let mut row = found.ok_or(AgentsError::NotFound("session"))?;
                conn.update_chat_session_place(&row.id, (pinned, archived), tags.as_deref())
                    .await?;
                conn.insert_change("sessions", now).await?;
                row.pinned = pinned.unwrap_or(row.pinned);
                row.archived = archived.unwrap_or(row.archived);
                row.tags = tags.unwrap_or(row.tags);
                Ok::<_, AgentsError>(row)
            })
        });
        let row: ChatSessionRow = write.await?;
        Ok(self.0.shown(row))
    }

    /// Clears the taint of a session, for a person who has read its messages. Fails with `TurnRunning` while a turn
    /// waits or runs, because the turn may add text that the person has not read.
    pub async fn clear_taint(&self, actor: &Actor, name: &str) -> Result<Session, AgentsError> {
        let (name, actor) = (name.to_owned(), actor.clone());
        let (now, random) = (self.0.clock.now(), Arc::clone(&self.0.random));
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let found = find(conn, &name).await?;
                let mut row = found.ok_or(AgentsError::NotFound("session"))?;
                if !conn.clear_chat_session_taint(&row.id).await? {
                    return Err(AgentsError::TurnRunning);
                }
                let entry = AuditEntry {
                    kind: "session.taint_cleared",
                    actor: &actor,
                    detail: json!({ "session": row.id }),
                };
                conn.append_audit(&entry, now, &*random).await?;
                conn.insert_change("sessions", now).await?;
                row.tainted = false;
                Ok(row)
            })
        });
        let row: ChatSessionRow = write.await?;
        Ok(self.0.shown(row))
    }

    /// Deletes a session with its messages and its share, and stops its running and waiting turns.
    pub async fn delete_session(&self, name: &str) -> Result<(), AgentsError> {
        let (name, now) = (name.to_owned(), self.0.clock.now());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let row = find(conn, &name)
                    .await?
                    .ok_or(AgentsError::NotFound("session"))?;
                conn.delete_chat_session(&row.id).await?;
                conn.insert_change("sessions", now).await?;
                Ok::<_, AgentsError>(row.id)
            })
        });
        let id: SessionId = write.await?;
        // A turn that stores a message at this point finds no session and ends.
        self.0.lanes.cancel_session(&id);
        self.0.speeches.cancel_session(&id);
        Ok(())
    }

    /// Stops the running turn of a session, on any node, and keeps its messages. Waiting turns still run. Does nothing
    /// if no turn runs.
    pub async fn abort(&self, session: &str) -> Result<(), AgentsError> {
        let row = self.0.session_row(session).await?;
        let was_here = self.0.lanes.cancel_running(&row.id);
        self.0.speeches.cancel_session(&row.id);
        self.0.abort_elsewhere(row.id, was_here).await
    }
}

impl Inner {
    /// Returns a session as callers see it.
    pub(crate) fn shown(&self, row: ChatSessionRow) -> Session {
        let running = self.lanes.is_running(&row.id);
        Session {
            running,
            ..Session::from(row)
        }
    }

    /// Returns the session with this ID or key.
    pub(crate) async fn session_row(&self, name: &str) -> Result<ChatSessionRow, AgentsError> {
        let name = name.to_owned();
        let read = self
            .store
            .read(move |conn| Box::pin(async move { find(conn, &name).await }));
        let row: Option<ChatSessionRow> = read.await?;
        row.ok_or(AgentsError::NotFound("session"))
    }
}

/// Returns the session with this ID, or else with this key. PostgreSQL rejects queries with a NUL character.
pub(crate) async fn find(
    conn: &mut Conn,
    name: &str,
) -> Result<Option<ChatSessionRow>, StoreError> {
    if name.contains('\0') {
        return Ok(None);
    }
    match conn.find_chat_session(&SessionId::from_text(name)).await? {
        Some(row) => Ok(Some(row)),
        None => conn.find_chat_session_by_key(name).await,
    }
}

#[cfg(test)]
mod tests;
