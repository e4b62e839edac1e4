//! Turns of processes that died. Each gets a last message, with the answer so far and `stop: "interrupted"`.

use crate::error::AgentsError;
use crate::handle::{Agents, Inner};
use crate::message::Role;
use crate::one_off::delete_lost_one_off;
use crate::origin::MessageOrigin;
use crate::retention;
use crate::stop::Stop;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::MessageId;
use gatehouse_store::{ChatMessageRow, ChatTurnRow, Conn, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// How long a turn counts as alive after its node said so. Longer than any stop of a node takes.
const LEASE_MS: i64 = 5 * 60 * 1000;
/// How often a node says so.
const RENEWAL: Duration = Duration::from_mins(1);

impl Agents {
    /// Ends the turns that a process left behind when it died. Until shutdown it keeps doing so on a shared
    /// database, and deletes old conversations and audio. Call it once in a process that serves, before it accepts texts.
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
    /// Until when a turn of this node counts as alive, from now on.
    pub(crate) fn alive_until(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now().as_millis().saturating_add(LEASE_MS))
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
            let lost: Vec<ChatTurnRow> = read.await?;
            if lost.is_empty() {
                return Ok(());
            }
            let now = self.clock.now();
            let new_id = || MessageId::generate(&*self.clock, &*self.random);
            let lost: Vec<_> = lost.into_iter().map(|turn| (turn, new_id())).collect();
            let write = self.store.write(move |conn| {
                Box::pin(async move {
                    for (turn, id) in lost {
                        end_lost(conn, &turn, id, now).await?;
                    }
                    Ok::<_, StoreError>(())
                })
            });
            write.await?;
        }
    }
}

/// Ends a turn that its process did not end. Does nothing if it did after all.
pub(crate) async fn end_lost(
    conn: &mut Conn,
    turn: &ChatTurnRow,
    id: MessageId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Some(turn) = conn.delete_chat_turn(&turn.id).await? else {
        return Ok(());
    };
    if delete_lost_one_off(conn, &turn.session_id, now).await? {
        return Ok(());
    }
    let (role, origin) = (Role::Assistant.as_str(), MessageOrigin::Model.as_str());
    let row = ChatMessageRow {
        turn_no: turn.turn_no,
        content: turn.text,
        model: turn.model,
        stop: Some(Stop::Interrupted.as_str().to_owned()),
        ..ChatMessageRow::new(turn.session_id, turn.id, id, role, origin, now)
    };
    conn.insert_chat_message(&row).await?;
    Ok(())
}

/// Keeps the turns of this node alive in a shared database, and ends those of nodes that are gone.
async fn watch(inner: Arc<Inner>) {
    loop {
        let sleep = tokio::time::sleep(RENEWAL);
        if inner.stopping.run_until_cancelled(sleep).await.is_none() {
            return;
        }
        if let Err(error) = renew(&inner).await {
            tracing::warn!(%error, "running turns could not be renewed");
        }
    }
}

async fn renew(inner: &Inner) -> Result<(), AgentsError> {
    if inner.lanes.is_in_use() {
        let (node, until) = (inner.node.clone(), inner.alive_until());
        let write = inner
            .store
            .write(move |conn| Box::pin(async move { conn.renew_chat_turns(&node, until).await }));
        write.await?;
    }
    inner.end_lost_turns().await
}
