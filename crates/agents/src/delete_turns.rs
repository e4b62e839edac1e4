//! Deletes turns of a session: the user's text and all messages in response.

use crate::error::AgentsError;
use crate::handle::Agents;
use crate::manage_sessions::find;
use gatehouse_domain::id::SessionId;
use gatehouse_store::Conn;

/// The turns to delete together with a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deleted {
    Alone,
    AndLater,
}

impl Agents {
    /// Deletes a turn. Returns `Conflict` while it waits or runs.
    pub async fn delete_turn(&self, session: &str, turn: &str) -> Result<(), AgentsError> {
        let (session, turn) = (session.to_owned(), turn.to_owned());
        let now = self.0.clock.now();
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let row = find(conn, &session).await?;
                let row = row.ok_or(AgentsError::NotFound("session"))?;
                delete_turns(conn, &row.id, &turn, Deleted::Alone).await?;
                conn.insert_change("sessions", now).await?;
                Ok::<_, AgentsError>(())
            })
        });
        write.await
    }
}

/// Deletes turns. Does not delete a turn that waits or runs, because it would store its answer
/// afterwards.
pub(crate) async fn delete_turns(
    conn: &mut Conn,
    session: &SessionId,
    turn: &str,
    which: Deleted,
) -> Result<(), AgentsError> {
    let gone = AgentsError::NotFound("turn");
    if turn.contains('\0') {
        return Err(gone);
    }
    let first = conn
        .find_chat_turn_number(session, turn)
        .await?
        .ok_or(gone)?;
    if conn.has_open_chat_turn(session, first).await? {
        return Err(AgentsError::TurnRuns);
    }
    let last = match which {
        Deleted::Alone => first,
        Deleted::AndLater => i64::MAX,
    };
    conn.delete_chat_messages(session, (first, last)).await?;
    Ok(())
}
