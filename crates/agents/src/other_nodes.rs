//! Turns that run on other nodes of a shared database: which sessions have one, and how one is stopped.

use crate::error::AgentsError;
use crate::handle::{Agents, Inner};
use crate::session::Session;
use gatehouse_domain::id::{SessionId, TurnId};
use gatehouse_store::{ChatSessionRow, ChatTurnRow};

/// The subject of a change that stops a turn, before the id of the turn. The id keeps a change that is read late
/// from stopping a later turn of the session.
const ABORT: &str = "chat_abort:";
/// The subject of a change that stops the speech of a session, before the id of the session.
const QUIET: &str = "chat_quiet:";

impl Agents {
    /// Applies a change of any node: stops the turn or the speech that it names, if that runs here. Ignores other
    /// subjects.
    pub fn apply_change(&self, subject: &str) {
        if let Some(turn) = subject.strip_prefix(ABORT) {
            self.0.lanes.cancel_turn(&TurnId::from_text(turn));
        }
        if let Some(session) = subject.strip_prefix(QUIET) {
            let session = SessionId::from_text(session);
            self.0.speeches.cancel_session(&session);
        }
    }
}

impl Inner {
    /// Notifies the nodes that run a turn of this session or speak its answer, so that they stop.
    pub(crate) async fn abort_elsewhere(&self, session: SessionId) -> Result<(), AgentsError> {
        if !self.store.engine().is_shared() {
            return Ok(());
        }
        let id = session.clone();
        let read = self
            .store
            .read(move |conn| Box::pin(async move { conn.list_running_chat_turns(&id).await }));
        let mut turns: Vec<ChatTurnRow> = read.await?;
        turns.retain(|turn| turn.node != self.node);
        let now = self.clock.now();
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                conn.insert_change(&format!("{QUIET}{session}"), now)
                    .await?;
                for turn in turns {
                    conn.insert_change(&format!("{ABORT}{}", turn.id), now)
                        .await?;
                }
                Ok::<_, AgentsError>(())
            })
        });
        write.await
    }

    /// Sessions as callers see them, with the turns of all nodes.
    pub(crate) async fn shown_on_all_nodes(
        &self,
        rows: Vec<ChatSessionRow>,
    ) -> Result<Vec<Session>, AgentsError> {
        let elsewhere: Vec<String> = if self.store.engine().is_shared() {
            let (node, now) = (self.node.clone(), self.clock.now());
            let read = self.store.read(move |conn| {
                Box::pin(async move { conn.list_sessions_of_other_nodes(&node, now).await })
            });
            read.await?
        } else {
            Vec::new()
        };
        let shown = rows.into_iter().map(|row| {
            let runs_elsewhere = elsewhere.iter().any(|id| id == row.id.as_str());
            let session = self.shown(row);
            Session {
                running: session.running || runs_elsewhere,
                ..session
            }
        });
        Ok(shown.collect())
    }
}
