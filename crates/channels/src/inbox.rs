//! The inbox: messages stored in the gateway. Keeps the newest 10,000, at most 64 MiB.

mod list;

use crate::error::ChannelsError;
use crate::handle::{Channels, Inner};
use crate::outgoing::Outgoing;
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{DeliveryId, InboxMessageId, WebhookId};
use gatehouse_domain::trace::{self, SpanKind};
use gatehouse_store::{Conn, InboxMessageRow, StoreError};
pub use list::{InboxFilter, InboxPage};
use schemars::JsonSchema;
use serde::Serialize;

/// The channel type of the inbox.
pub(crate) const KIND: &str = "inbox";
/// Maximum number of messages kept.
pub(crate) const KEPT: i64 = 10_000;
/// The number of messages that [`Channels::delete_read`] deletes per transaction.
const DELETED_AT_ONCE: i64 = 500;

/// An inbox message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InboxMessage {
    pub id: InboxMessageId,
    /// The account it was sent to.
    pub channel: String,
    pub text: String,
    /// The sender, such as a webhook's name.
    pub source: String,
    /// When the reported event happened.
    pub at: Timestamp,
    /// Whether the message has been read.
    pub read: bool,
    /// The webhook whose delivery the message reports. The webhook may have been deleted since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook_id: Option<WebhookId>,
    /// The delivery that the message reports. It may have been deleted since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_id: Option<DeliveryId>,
}

impl From<InboxMessageRow> for InboxMessage {
    fn from(row: InboxMessageRow) -> Self {
        Self {
            id: row.id,
            channel: row.channel,
            text: row.text,
            source: row.source,
            at: row.at,
            read: row.read,
            webhook_id: row.webhook_id,
            delivery_id: row.delivery_id,
        }
    }
}

/// An inbox message that is not stored yet. Store it with [`PreparedInbox::insert_all`] in a transaction. Call
/// [`Channels::announce_inbox`] after the commit.
#[derive(Clone, Debug)]
pub struct PreparedInbox(InboxMessageRow);

impl PreparedInbox {
    /// Stores the messages in this order, then deletes the oldest messages beyond the limits of the inbox.
    pub fn insert_all(messages: Vec<Self>, conn: &mut Conn) -> Result<(), StoreError> {
        let rows: Vec<_> = messages.into_iter().map(|message| message.0).collect();
        conn.insert_inbox_messages(&rows, KEPT)
    }
}

impl Inner {
    /// Builds a message with a new ID.
    pub(crate) fn inbox_message(
        &self,
        account_id: &str,
        message: &Outgoing<'_>,
        text: &str,
    ) -> PreparedInbox {
        let of = message.delivery;
        PreparedInbox(InboxMessageRow {
            seq: 0,
            id: InboxMessageId::generate(&*self.clock, &*self.random),
            channel: account_id.to_owned(),
            // PostgreSQL rejects NUL in text. It accepts every other character.
            text: text.replace('\0', "\u{fffd}"),
            source: message.source.replace('\0', "\u{fffd}"),
            at: message.at,
            read: false,
            webhook_id: of.map(|of| of.webhook_id.clone()),
            delivery_id: of.map(|of| of.delivery_id.clone()),
        })
    }

    /// Notifies listeners. It is not an error if there are none.
    pub(crate) fn announce(&self, message: PreparedInbox) {
        drop(self.inbox.send(InboxMessage::from(message.0)));
    }
}

impl Channels {
    /// Prepares a message for an account of type `inbox`. Returns `None` if the target has a different type, or if the
    /// account cannot accept the message. [`Channels::send`] then sends the message or reports the reason.
    pub async fn prepare_inbox(
        &self,
        message: &Outgoing<'_>,
    ) -> Result<Option<PreparedInbox>, StoreError> {
        if message.target.split(':').next() != Some(KIND) {
            return Ok(None);
        }
        let mut span = trace::child("channel.send", SpanKind::Internal);
        span.set("gatehouse.channel.type", KIND);
        let account = self.find_target_account(message.target).await?;
        Ok(account
            .filter(|account| account.is_enabled)
            .map(|account| self.0.inbox_message(&account.id, message, message.text)))
    }

    /// Notifies listeners of a message that has been stored.
    pub fn announce_inbox(&self, message: PreparedInbox) {
        self.0.announce(message);
    }

    /// Marks every message as read. Returns the number of messages that were unread.
    pub async fn mark_all_read(&self) -> Result<u64, ChannelsError> {
        let now = self.0.clock.now();
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let marked = conn.update_inbox_messages_read().await?;
                if marked > 0 {
                    conn.insert_change("inbox", now).await?;
                }
                Ok(marked)
            })
        });
        write.await.map_err(ChannelsError::Store)
    }

    /// Deletes every message that has been read. Returns the number of deleted messages.
    pub async fn delete_read(&self) -> Result<u64, ChannelsError> {
        let (mut after_seq, mut deleted) = (0, 0);
        loop {
            let now = self.0.clock.now();
            let write = self.0.store.write(move |conn| {
                Box::pin(async move {
                    let deleting = conn.delete_read_inbox_messages(after_seq, DELETED_AT_ONCE);
                    let seqs = deleting.await?;
                    if !seqs.is_empty() {
                        conn.insert_change("inbox", now).await?;
                    }
                    Ok::<_, StoreError>(seqs)
                })
            });
            let seqs = write.await.map_err(ChannelsError::Store)?;
            deleted += seqs.len() as u64;
            match seqs.into_iter().max() {
                Some(last) => after_seq = last,
                None => return Ok(deleted),
            }
        }
    }

    pub async fn delete_inbox(&self, id: &InboxMessageId) -> Result<(), ChannelsError> {
        let (id, now) = (id.clone(), self.0.clock.now());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let was_there = conn.delete_inbox_message(&id).await?;
                if was_there {
                    conn.insert_change("inbox", now).await?;
                }
                Ok(was_there)
            })
        });
        if write.await.map_err(ChannelsError::Store)? {
            Ok(())
        } else {
            Err(ChannelsError::NotFound("message"))
        }
    }

    pub async fn mark_read(&self, id: &InboxMessageId) -> Result<(), ChannelsError> {
        let (id, now) = (id.clone(), self.0.clock.now());
        let write = self.0.store.write(move |conn| {
            Box::pin(async move {
                let is_there = conn.update_inbox_message_read(&id).await?;
                if is_there {
                    conn.insert_change("inbox", now).await?;
                }
                Ok(is_there)
            })
        });
        if write.await.map_err(ChannelsError::Store)? {
            Ok(())
        } else {
            Err(ChannelsError::NotFound("message"))
        }
    }
}
