//! Continues a conversation from one of its turns in a new session.

use crate::error::AgentsError;
use crate::handle::Agents;
use crate::manage_sessions::{check_label, find};
use crate::session::{Session, Source};
use gatehouse_domain::id::SessionId;
use gatehouse_store::ChatSessionRow;
use std::sync::Arc;

impl Agents {
    /// Creates a session with copies of the messages up to and including a turn. Without `label`, the branch has the
    /// label of the original. Returns `Conflict` while the turn waits or runs.
    ///
    /// The copies keep their origins. The session keeps the source, the taint and the privacy of the original, so a
    /// branch permits no tool that the original does not. Remembered approvals and recordings are not copied.
    pub async fn branch_session(
        &self,
        name: &str,
        turn: &str,
        label: Option<&str>,
    ) -> Result<Session, AgentsError> {
        let label = label.map(|label| label.trim().to_owned());
        if let Some(label) = &label {
            check_label(label)?;
        }
        let gone = AgentsError::NotFound("turn");
        if turn.contains('\0') {
            return Err(gone);
        }
        let (name, turn, inner) = (name.to_owned(), turn.to_owned(), Arc::clone(&self.0));
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let found = find(conn, &name).await?;
                let from = found.ok_or(AgentsError::NotFound("session"))?;
                let last = conn.find_chat_turn_number(&from.id, &turn).await?;
                let last = last.ok_or(gone)?;
                if conn.has_open_chat_turn_up_to(&from.id, last).await? {
                    return Err(AgentsError::TurnRuns);
                }
                let id = SessionId::generate(&*inner.clock, &*inner.random);
                let label = label.unwrap_or_else(|| from.label.clone());
                let source = Source::of(&from.source);
                let new = ChatSessionRow {
                    agent_id: from.agent_id.clone(),
                    tainted: from.tainted,
                    ..inner.new_session(id, None, label, source)
                };
                conn.insert_chat_session(&new).await?;
                conn.insert_chat_branch(&from.id, &new.id, last).await?;
                conn.insert_change("sessions", new.created_at).await?;
                let stored = conn.find_chat_session(&new.id).await?;
                stored.ok_or(AgentsError::NotFound("session"))
            })
        });
        let row: ChatSessionRow = write.await?;
        Ok(self.0.shown(row))
    }
}
