//! Turns of processes that died. Each gets a last message, with the answer so far and `stop: "interrupted"`.

use crate::error::AgentsError;
use crate::event::{AgentEvent, Done};
use crate::handle::{Agents, Inner};
use crate::message::{Message, Role};
use crate::one_off::delete_lost_one_off;
use crate::origin::MessageOrigin;
use crate::retention;
use crate::stop::Stop;
use gatehouse_domain::id::{MessageId, SessionId, TurnId};
use gatehouse_domain::{ReadSpan, Timestamp};
use gatehouse_models::Usage;
use gatehouse_store::{ChatMessageRow, ChatTurnRow, Conn, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// How long a turn counts as alive after its node last renewed it.
pub(crate) const LEASE_MS: u64 = 60 * 1000;
/// How often a node renews its turns.
const RENEWAL: Duration = Duration::from_secs(15);
/// The number of renewals between two searches for turns of nodes that are gone. A turn that waits for another one
/// searches more often.
const ROUNDS_PER_SEARCH: u64 = 4;

impl Agents {
    /// Ends the turns that a dead process left behind. On a shared database, repeats this until shutdown. Also deletes
    /// old conversations and audio. Call this once in a serving process, before it accepts texts.
    pub async fn background(&self) {
        let inner = &self.0;
        if let Err(error) = inner.end_lost_turns().await {
            tracing::warn!(%error, "interrupted turns could not be marked; the next start does it");
        }
        inner.tasks.spawn(retention::serve(Arc::clone(inner)));
        if inner.store.engine().is_shared() {
            inner.tasks.spawn(watch(Arc::clone(inner)));
        }
    }
}

impl Inner {
    /// Returns the time by which the nodes of a database compare the leases of turns and the expiry of approvals.
    pub(crate) async fn shared_now(&self) -> Timestamp {
        self.store.shared_now(&self.clock).await
    }

    /// Returns the new end of the lease of this node's turns.
    pub(crate) async fn alive_until(&self) -> Timestamp {
        let now = self.shared_now().await;
        now.after(Duration::from_millis(LEASE_MS))
    }

    /// Renews the turns of this node in a shared database.
    async fn keep_turns_alive(&self) {
        let turns = self.lanes.turn_ids();
        if !self.has_other_nodes() || turns.is_empty() {
            return;
        }
        let (node, until) = (self.node.clone(), self.alive_until().await);
        let write = self.store.write(move |conn| {
            Box::pin(async move { conn.renew_chat_turns(&turns, &node, until).await })
        });
        let renewed: Result<(), StoreError> = write.await;
        if let Err(error) = renewed {
            tracing::warn!(%error, "running turns could not be renewed");
        }
    }

    /// Renews the turns of this node, immediately and then at intervals.
    pub(crate) async fn keep_turns_alive_on(&self) {
        loop {
            self.keep_turns_alive().await;
            tokio::time::sleep(RENEWAL).await;
        }
    }

    /// Ends the turns of processes that are gone. On SQLite, these are all turns, because this is the only process and
    /// it has just started. On a shared database, a process is gone if it does not renew its turns.
    async fn end_lost_turns(&self) -> Result<(), AgentsError> {
        loop {
            let node = self.node.clone();
            let began_ms = self.clock.monotonic_ms();
            let read = self.store.read(move |conn| {
                Box::pin(async move { conn.list_chat_turns_of_others(&node).await })
            });
            let lost = self.gone_among(read.await?, began_ms);
            if lost.is_empty() {
                return Ok(());
            }
            let now = self.clock.now();
            let new_id = || MessageId::generate(&*self.clock, &*self.random);
            let lost: Vec<_> = lost.into_iter().map(|turn| (turn, new_id())).collect();
            let write = self.store.write(move |conn| {
                Box::pin(async move {
                    let mut ended = Vec::new();
                    for (turn, id) in lost {
                        ended.extend(end_unrenewed(conn, &turn, id, now).await?);
                    }
                    Ok::<_, StoreError>(ended)
                })
            });
            self.publish_ended(write.await?);
        }
    }

    /// Returns the turns whose processes are gone. On SQLite, these are all turns. The read of the turns began at
    /// `began_ms` of the monotonic clock.
    fn gone_among(&self, turns: Vec<ChatTurnRow>, began_ms: u64) -> Vec<ChatTurnRow> {
        if !self.has_other_nodes() {
            return turns;
        }
        self.gone.keep_only(&turns);
        self.only_gone(turns, began_ms)
    }

    /// Returns the turns whose nodes are gone. The read of the turns began at `began_ms` of the monotonic clock.
    pub(crate) fn only_gone(&self, turns: Vec<ChatTurnRow>, began_ms: u64) -> Vec<ChatTurnRow> {
        let read = ReadSpan {
            began_ms,
            ended_ms: self.clock.monotonic_ms(),
        };
        let turns = turns.into_iter();
        turns.filter(|turn| self.gone.is_gone(turn, read)).collect()
    }

    /// Ends the turns of `gone` with lower numbers in a session, unless they were renewed. Returns whether other nodes
    /// still have earlier turns in the session.
    pub(crate) async fn end_lost_before(
        &self,
        (session, number): (SessionId, i64),
        gone: Vec<ChatTurnRow>,
    ) -> Result<bool, StoreError> {
        let (node, now) = (self.node.clone(), self.clock.now());
        let (clock, random) = (Arc::clone(&self.clock), Arc::clone(&self.random));
        let write = self.store.write(move |conn| {
            Box::pin(async move {
                let before = conn
                    .list_chat_turns_before((&session, number), &node)
                    .await?;
                let is_gone = |turn: &ChatTurnRow| {
                    let mut gone = gone.iter();
                    gone.any(|it| it.id == turn.id && it.alive_until == turn.alive_until)
                };
                let (lost, alive): (Vec<_>, Vec<_>) = before.into_iter().partition(is_gone);
                let mut ended = Vec::new();
                for turn in lost {
                    let id = MessageId::generate(&*clock, &*random);
                    ended.extend(end_unrenewed(conn, &turn, id, now).await?);
                }
                Ok::<_, StoreError>((ended, !alive.is_empty()))
            })
        });
        let (ended, are_left) = write.await?;
        self.publish_ended(ended);
        Ok(are_left)
    }

    fn publish_ended(&self, messages: Vec<ChatMessageRow>) {
        for row in messages {
            let (session, turn_id) = (row.session_id.clone(), row.turn_id.clone());
            self.publish(AgentEvent::Message(Arc::new(Message::from(row))));
            self.publish(AgentEvent::Done(Arc::new(Done {
                session,
                turn_id,
                usage: Usage::default(),
                stop: Stop::Interrupted,
                error: None,
                answered: None,
            })));
        }
    }
}

/// Ends a turn that its process did not end, and returns its last message. Does nothing if the turn has
/// already ended.
pub(crate) async fn end_lost(
    conn: &mut Conn,
    turn: &TurnId,
    id: MessageId,
    now: Timestamp,
) -> Result<Option<ChatMessageRow>, StoreError> {
    match conn.delete_chat_turn(turn).await? {
        Some(turn) => insert_last_message(conn, turn, id, now).await,
        None => Ok(None),
    }
}

/// Does the same as [`end_lost`], but only if the turn was not renewed after it was read: this process may have been
/// suspended in between.
async fn end_unrenewed(
    conn: &mut Conn,
    turn: &ChatTurnRow,
    id: MessageId,
    now: Timestamp,
) -> Result<Option<ChatMessageRow>, StoreError> {
    match conn.delete_unrenewed_chat_turn(turn).await? {
        Some(turn) => insert_last_message(conn, turn, id, now).await,
        None => Ok(None),
    }
}

/// Stores and returns the last message of a deleted turn. Returns `None` if the session is deleted with the turn.
async fn insert_last_message(
    conn: &mut Conn,
    turn: ChatTurnRow,
    id: MessageId,
    now: Timestamp,
) -> Result<Option<ChatMessageRow>, StoreError> {
    if delete_lost_one_off(conn, &turn.session_id, now).await? {
        return Ok(None);
    }
    let (role, origin) = (Role::Assistant.as_str(), MessageOrigin::Model.as_str());
    let row = ChatMessageRow {
        turn_no: turn.turn_no,
        content: turn.text,
        model: turn.model,
        stop: Some(Stop::Interrupted.as_str().to_owned()),
        ..ChatMessageRow::new(turn.session_id, turn.id, id, role, origin, now)
    };
    let seq = conn.insert_chat_message(&row).await?;
    Ok(seq.map(|seq| ChatMessageRow { seq, ..row }))
}

/// Renews the leases of this node's turns in a shared database, and ends the turns of nodes that are gone.
async fn watch(inner: Arc<Inner>) {
    for round in 1_u64.. {
        let sleep = tokio::time::sleep(RENEWAL);
        if inner.stopping.run_until_cancelled(sleep).await.is_none() {
            return;
        }
        inner.keep_turns_alive().await;
        if round.is_multiple_of(ROUNDS_PER_SEARCH)
            && let Err(error) = inner.end_lost_turns().await
        {
            tracing::warn!(%error, "turns of nodes that are gone could not be ended");
        }
    }
}
