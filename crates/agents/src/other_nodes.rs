//! Turns that run on other nodes of a shared database: finds their sessions, stops them, and lets the next turn wait
//! for them.

use crate::error::AgentsError;
use crate::handle::{Agents, Inner};
use crate::lanes::WaitingTurn;
use crate::session::Session;
use crate::shared_approvals::ANSWERED;
use gatehouse_domain::id::{SessionId, TurnId};
use gatehouse_store::{ChatSessionRow, ChatTurnRow, StoreError};
use std::time::Duration;

/// The subject of a change that stops a turn, before the ID of the turn. Because of the ID, a change that is read late
/// cannot stop a later turn of the session.
const ABORT: &str = "chat_abort:";
/// The subject of a change that stops the speech of a session, before the ID of the session.
const QUIET: &str = "chat_quiet:";
/// The interval at which a waiting turn reads the database, in addition to notifications.
const BETWEEN_LOOKS: Duration = Duration::from_millis(400);
/// The shortest pause between two reads. Without it, every change in the database would cause a
/// read.
const LEAST_PAUSE: Duration = Duration::from_millis(100);

impl Agents {
    /// Applies a change of any node. Stops the named turn or speech if it runs on this node, or reads the answers to
    /// waiting tool calls. `*` means that changes were missed. Ignores other subjects.
    pub async fn apply_change(&self, subject: &str) {
        if matches!(subject, ANSWERED | "*") {
            self.0.read_answers().await;
        }
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
    /// Returns whether other nodes may run turns on the same database.
    pub(crate) const fn has_other_nodes(&self) -> bool {
        self.store.engine().is_shared()
    }

    /// Returns this node's ID if other nodes may exist.
    pub(crate) fn node_among_others(&self) -> Option<String> {
        self.has_other_nodes().then(|| self.node.clone())
    }

    /// Notifies the nodes that speak an answer of this session, which then stop. Unless `was_here`, also notifies the
    /// node that runs its turn.
    pub(crate) async fn abort_elsewhere(
        &self,
        session: SessionId,
        was_here: bool,
    ) -> Result<(), AgentsError> {
        if !self.has_other_nodes() {
            return Ok(());
        }
        let (node, now) = (self.node.clone(), self.clock.now());
        let shared_now = self.shared_now().await;
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                conn.insert_change(&format!("{QUIET}{session}"), now)
                    .await?;
                if was_here {
                    return Ok(());
                }
                let running = conn.find_running_chat_turn(&session, shared_now).await?;
                if let Some(turn) = running.filter(|turn| turn.node != node) {
                    conn.insert_change(&format!("{ABORT}{}", turn.id), now)
                        .await?;
                }
                Ok::<_, AgentsError>(())
            })
        });
        write.await
    }

    /// Waits until no other node runs an earlier turn of the session. A session thereby runs one turn at a time on all
    /// nodes. Returns early if the turn is stopped.
    pub(crate) async fn wait_for_other_nodes(&self, turn: &WaitingTurn) {
        let mut notified = self.store.notified();
        let waiting = async {
            loop {
                match self.is_behind_other_nodes(turn).await {
                    Ok(false) => return,
                    Ok(true) => {}
                    Err(error) => tracing::debug!(%error, "turns of other nodes cannot be read"),
                }
                tokio::time::sleep(LEAST_PAUSE).await;
                drop(tokio::time::timeout(BETWEEN_LOOKS, notified.changed()).await);
            }
        };
        turn.cancel.run_until_cancelled(waiting).await;
    }

    /// Returns whether another node runs an earlier turn of the session. Ends turns of nodes that
    /// are gone.
    async fn is_behind_other_nodes(&self, turn: &WaitingTurn) -> Result<bool, StoreError> {
        let (session, number) = (turn.session.clone(), turn.number);
        let node = self.node.clone();
        let began_ms = self.clock.monotonic_ms();
        let read = self.store.read(move |conn| {
            Box::pin(async move { conn.list_chat_turns_before((&session, number), &node).await })
        });
        let before: Vec<ChatTurnRow> = read.await?;
        let is_behind = !before.is_empty();
        let gone = self.only_gone(before, began_ms);
        if gone.is_empty() {
            return Ok(is_behind);
        }
        self.end_lost_before((turn.session.clone(), number), gone)
            .await
    }

    /// Returns sessions as callers see them, with the turns of all nodes.
    pub(crate) async fn shown_on_all_nodes(
        &self,
        rows: Vec<ChatSessionRow>,
    ) -> Result<Vec<Session>, AgentsError> {
        let elsewhere: Vec<String> = if self.has_other_nodes() {
            let (node, now) = (self.node.clone(), self.shared_now().await);
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
