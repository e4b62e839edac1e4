//! Turns of processes that died. Each gets a last message, with the answer so far and `stop: "interrupted"`.

use crate::error::AgentsError;
use crate::event::{AgentEvent, Done};
use crate::handle::{Agents, Inner};
use crate::message::{Message, Role};
use crate::one_off::delete_lost_one_off;
use crate::origin::MessageOrigin;
use crate::retention;
use crate::stop::Stop;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{MessageId, SessionId};
use gatehouse_models::Usage;
use gatehouse_store::{ChatMessageRow, ChatTurnRow, Conn, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// How long a turn counts as alive after its node last reported it.
const LEASE_MS: i64 = 60 * 1000;
/// How often a node reports its turns.
const RENEWAL: Duration = Duration::from_secs(15);
/// Renewals between two searches for turns of nodes that are gone.
const ROUNDS_PER_SEARCH: u64 = 4;

impl Agents {
    /// Ends the turns that a process left behind when it died. On a shared database, repeats this until shutdown. Also
    /// deletes old conversations and audio. Call it once in a process that serves, before it accepts texts.
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
    /// Returns the new end of the lease of this node's turns.
    pub(crate) fn alive_until(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now().as_millis().saturating_add(LEASE_MS))
    }

    /// Renews the turns of this node in a shared database. They count as alive for `longer` than usual.
    pub(crate) async fn keep_turns_alive(&self, longer: Duration) {
        let turns = self.lanes.turn_ids();
        if !self.has_other_nodes() || turns.is_empty() {
            return;
        }
        let (node, until) = (self.node.clone(), self.alive_until().after(longer));
        let write = self.store.write(move |conn| {
            Box::pin(async move { conn.renew_chat_turns(&turns, &node, until).await })
        });
        let renewed: Result<(), StoreError> = write.await;
        if let Err(error) = renewed {
            tracing::warn!(%error, "running turns could not be renewed");
        }
    }

    /// Ends the turns of the processes that are gone. On SQLite, there is only this process, and it has just
    /// started. In a shared database, a process is gone when it has not renewed its turns.
    async fn end_lost_turns(&self) -> Result<(), AgentsError> {
        let before = if self.store.engine().is_shared() {
            self.clock.now()
        } else {
            Timestamp::from_millis(i64::MAX)
        };
        loop {
            let read = self
                .store
                .read(move |conn| Box::pin(async move { conn.list_lost_chat_turns(before).await }));
            let lost = self.gone_among(read.await?);
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
                        ended.extend(end_lost(conn, &turn, id, now).await?);
                    }
                    Ok::<_, StoreError>(ended)
                })
            });
            self.publish_ended(write.await?);
        }
    }

    /// Returns the turns whose processes are gone. On SQLite, these are all.
    fn gone_among(&self, mut turns: Vec<ChatTurnRow>) -> Vec<ChatTurnRow> {
        if self.has_other_nodes() {
            self.gone.keep_only(&turns);
            turns.retain(|turn| self.gone.is_gone(turn, &*self.clock));
        }
        turns
    }

    /// Ends the turns of `gone` with lower numbers in a session, unless they were renewed. Returns whether others of
    /// other nodes are left.
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
                    ended.extend(end_lost(conn, &turn, id, now).await?);
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
    turn: &ChatTurnRow,
    id: MessageId,
    now: Timestamp,
) -> Result<Option<ChatMessageRow>, StoreError> {
    let Some(turn) = conn.delete_chat_turn(&turn.id).await? else {
        return Ok(None);
    };
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
        inner.keep_turns_alive(Duration::ZERO).await;
        if round.is_multiple_of(ROUNDS_PER_SEARCH)
            && let Err(error) = inner.end_lost_turns().await
        {
            tracing::warn!(%error, "turns of nodes that are gone could not be ended");
        }
    }
}
