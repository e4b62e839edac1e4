//! Decides which node receives the messages of an account. Stores received messages until their answers are sent.
//!
//! If several nodes share a database, one node receives the messages. It renews the lease before each request. Another
//! node takes over if the lease has not changed for longer than a request can take, measured by the other node's own
//! monotonic clock.

use crate::handle::Channels;
use crate::pairings::CHANGED;
use gatehouse_domain::Timestamp;
use gatehouse_store::{ReceivedMessageRow, StoreError};

/// The node that receives the messages of an account, and its lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollHolder {
    pub node: String,
    pub lease: i64,
}

/// The state of receiving for one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Poll {
    /// This node receives.
    Own {
        /// The position at which receiving continues, in the vendor's format.
        position: Option<String>,
        /// When `position` was stored.
        received_at: Timestamp,
        /// Why receiving fails, if it does.
        error: Option<String>,
    },
    /// Another node receives.
    Other(PollHolder),
}

impl Channels {
    /// Makes this node the receiver of an account, or renews its lease. `stale` is another node whose lease has not
    /// been renewed for too long. Writes nothing if only one process can use the database.
    pub async fn claim_poll(
        &self,
        account_id: &str,
        node: &str,
        stale: Option<PollHolder>,
    ) -> Result<Poll, StoreError> {
        let (id, node) = (account_id.to_owned(), node.to_owned());
        let store = &self.0.store;
        if !store.engine().is_shared() {
            let account = id.clone();
            let read = store
                .read(move |conn| Box::pin(async move { conn.find_channel_poll(&account).await }));
            if let Some(row) = read.await? {
                return Ok(Poll::Own {
                    position: row.position,
                    received_at: row.received_at,
                    error: row.error,
                });
            }
        }
        let write = store.write(move |conn| {
            Box::pin(async move {
                conn.insert_channel_poll(&id).await?;
                let found = conn.find_channel_poll(&id).await?;
                let row = found.ok_or(StoreError::Damaged {
                    what: "state of receiving",
                })?;
                let holder = PollHolder {
                    node: row.node,
                    lease: row.lease,
                };
                let is_free = holder.node.is_empty() || holder.node == node;
                if !is_free && Some(&holder) != stale.as_ref() {
                    return Ok(Poll::Other(holder));
                }
                if holder.node != node {
                    conn.adopt_inbound_messages(&id).await?;
                }
                conn.update_channel_poll_lease(&id, &node).await?;
                Ok::<_, StoreError>(Poll::Own {
                    position: row.position,
                    received_at: row.received_at,
                    error: row.error,
                })
            })
        });
        write.await
    }

    /// Releases the lease, so that another node can receive the messages of an account.
    pub async fn release_poll(&self, account_id: &str, node: &str) -> Result<(), StoreError> {
        if !self.0.store.engine().is_shared() {
            return Ok(());
        }
        let (id, node) = (account_id.to_owned(), node.to_owned());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let found = conn.find_channel_poll(&id).await?;
                if found.is_some_and(|row| row.node == node) {
                    conn.update_channel_poll_lease(&id, "").await?;
                }
                Ok(())
            })
        });
        write.await
    }

    /// Stores why receiving fails, or `None` if it works.
    pub async fn set_poll_error(
        &self,
        account_id: &str,
        error: Option<String>,
    ) -> Result<(), StoreError> {
        let id = account_id.to_owned();
        let now = self.0.clock.now();
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                conn.update_channel_poll_error(&id, error.as_deref())
                    .await?;
                conn.insert_change(CHANGED, now).await
            })
        });
        write.await
    }

    /// Returns the messages of an account that wait for an answer, oldest first.
    pub async fn list_waiting_messages(
        &self,
        account_id: &str,
    ) -> Result<Vec<ReceivedMessageRow>, StoreError> {
        let id = account_id.to_owned();
        self.0
            .store
            .read(move |conn| Box::pin(async move { conn.list_received_messages(&id).await }))
            .await
    }

    /// Stores the text to send as the answer to a message.
    pub async fn set_message_answer(
        &self,
        message: &ReceivedMessageRow,
        answer: String,
    ) -> Result<(), StoreError> {
        let (id, message) = (message.account_id.clone(), message.message_id.clone());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move { conn.update_received_answer(&id, &message, &answer).await })
        });
        write.await
    }

    /// Ends a message whose answer was sent or is not wanted. If the vendor delivers the message again, it is not
    /// stored again.
    pub async fn end_message(&self, message: &ReceivedMessageRow) -> Result<(), StoreError> {
        let now = self.0.clock.now();
        let (id, message) = (message.account_id.clone(), message.message_id.clone());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move { conn.end_received_message(&id, &message, now).await })
        });
        write.await
    }
}
