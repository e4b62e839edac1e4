//! Table `inbox_messages`: messages stored in the gateway instead of being sent to a vendor.

use crate::letter_case::lower_case;
use crate::sql::{Value, columns, query};
use crate::{Conn, StoreError};
use gatehouse_domain::Timestamp;
use gatehouse_domain::id::{DeliveryId, InboxMessageId, WebhookId};

/// Maximum total size of all messages as counted by [`InboxMessageRow::bytes`]: 64 MiB.
pub const INBOX_MAX_BYTES: i64 = 64 * 1024 * 1024;

/// Number of bytes that each message counts in addition to its texts.
const ROW_BYTES: usize = 256;

/// A row of `inbox_messages`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxMessageRow {
    /// Ascending position, assigned by the table.
    pub seq: i64,
    pub id: InboxMessageId,
    /// The account the message was sent to.
    pub channel: String,
    pub text: String,
    /// The sender, such as a webhook's name.
    pub source: String,
    pub at: Timestamp,
    pub read: bool,
    /// The webhook whose delivery the message reports.
    pub webhook_id: Option<WebhookId>,
    pub delivery_id: Option<DeliveryId>,
}

/// How many messages there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboxCounts {
    pub unread: i64,
    pub read: i64,
}

/// Filter and range of a listing.
#[derive(Clone, Debug)]
pub struct InboxMessagePage {
    /// Only messages before this position.
    pub before_seq: i64,
    pub only_unread: bool,
    /// Only messages whose text or sender contains this text.
    pub q: Option<String>,
    /// Start of the period, inclusive.
    pub from: Option<Timestamp>,
    /// End of the period, exclusive.
    pub until: Option<Timestamp>,
    /// Maximum number of messages.
    pub limit: i64,
}

impl InboxMessageRow {
    /// Returns the values of [`INSERT`].
    fn values(&self) -> Vec<Value<'_>> {
        vec![
            self.id.as_str().into(),
            (&self.channel).into(),
            (&self.text).into(),
            (&self.source).into(),
            self.at.as_millis().into(),
            i64::from(self.read).into(),
            self.webhook_id.as_ref().map(WebhookId::as_str).into(),
            self.delivery_id.as_ref().map(DeliveryId::as_str).into(),
            self.bytes().into(),
        ]
    }

    /// Returns the message's share of [`INBOX_MAX_BYTES`].
    pub fn bytes(&self) -> i64 {
        let texts = self.text.len().saturating_add(self.source.len());
        i64::try_from(texts.saturating_add(ROW_BYTES)).unwrap_or(i64::MAX)
    }
}

columns! { InboxMessageRow: seq, id, channel, text, source, at, read, webhook_id, delivery_id }

columns! { InboxCounts: unread("unread_messages"), read("read_messages") }

/// Inserts a message. `start_bytes` is the total size of all earlier messages, including deleted ones.
const INSERT: &str = "INSERT INTO inbox_messages
         (seq, id, channel, text, source, at, read, webhook_id, delivery_id, bytes, start_bytes)
     VALUES ((SELECT COALESCE(MAX(seq), 0) + 1 FROM inbox_messages),
             $1, $2, $3, $4, $5, $6, $7, $8, $9,
             COALESCE((SELECT start_bytes + bytes FROM inbox_messages
                       ORDER BY seq DESC LIMIT 1), 0))";

impl Conn {
    /// Adds messages in this order, ignoring their `seq`, and deletes the oldest beyond `keep` messages or
    /// [`INBOX_MAX_BYTES`]. The last of the new messages is always kept.
    pub fn insert_inbox_messages(
        &mut self,
        rows: &[InboxMessageRow],
        keep: i64,
    ) -> Result<(), StoreError> {
        self.lock_inbox()?;
        let values: Vec<_> = rows.iter().map(InboxMessageRow::values).collect();
        self.run_each_later(INSERT, &values)?;
        // The sizes of messages that the user has deleted still count. This holds until the messages would have
        // been deleted here.
        let old =
            "DELETE FROM inbox_messages WHERE seq <= (SELECT MAX(seq) FROM inbox_messages) - $1";
        self.run_later(old, vec![keep.into()])?;
        let over = "DELETE FROM inbox_messages
             WHERE start_bytes < (SELECT start_bytes + bytes FROM inbox_messages
                                  ORDER BY seq DESC LIMIT 1) - $1
               AND seq < (SELECT MAX(seq) FROM inbox_messages)";
        self.run_later(over, vec![INBOX_MAX_BYTES.into()])
    }

    /// Takes the lock for assigning positions. Writers of two lanes assign positions, and each lane excludes only
    /// its own.
    fn lock_inbox(&mut self) -> Result<(), StoreError> {
        match self.engine().lock_inbox() {
            Some(sql) => self.plain_later(sql),
            None => Ok(()),
        }
    }

    /// Returns the messages of a page, newest first.
    pub async fn list_inbox_messages(
        &mut self,
        page: &InboxMessagePage,
    ) -> Result<Vec<InboxMessageRow>, StoreError> {
        let [text, source] = ["text", "source"].map(|column| self.engine().contains(column, 3, 4));
        let query = query(format!(
            "SELECT * FROM inbox_messages
             WHERE seq < $1 AND ($2 = 0 OR read = 0) AND ($3 = '' OR {text} OR {source})
               AND at >= $6 AND at < $7
             ORDER BY seq DESC LIMIT $5",
        ));
        let raw = page.q.as_deref().unwrap_or_default();
        let lower = lower_case(raw);
        let query = query
            .bind(page.before_seq)
            .bind(i64::from(page.only_unread));
        let from = page.from.map_or(i64::MIN, Timestamp::as_millis);
        let until = page.until.map_or(i64::MAX, Timestamp::as_millis);
        let query = query.bind(raw).bind(lower).bind(page.limit);
        self.list(query.bind(from).bind(until)).await
    }

    /// Counts all messages.
    pub async fn count_inbox_messages(&mut self) -> Result<InboxCounts, StoreError> {
        let query = query(
            "SELECT CAST(COALESCE(SUM(1 - read), 0) AS BIGINT) AS unread_messages,
                    CAST(COALESCE(SUM(read), 0) AS BIGINT) AS read_messages
             FROM inbox_messages",
        );
        self.find(query).await?.ok_or(StoreError::Damaged {
            what: "answer to a count",
        })
    }

    /// Marks a message as read; `false` if it does not exist.
    pub async fn update_inbox_message_read(
        &mut self,
        id: &InboxMessageId,
    ) -> Result<bool, StoreError> {
        let query = query("UPDATE inbox_messages SET read = 1 WHERE id = $1");
        Ok(self.run(query.bind(id.as_str())).await? > 0)
    }

    /// Marks every message as read. Returns how many were unread.
    pub async fn update_inbox_messages_read(&mut self) -> Result<u64, StoreError> {
        self.run(query("UPDATE inbox_messages SET read = 1 WHERE read = 0"))
            .await
    }

    /// Deletes at most `limit` messages that have been read, the oldest after this position first. Returns their
    /// positions, in no order.
    pub async fn delete_read_inbox_messages(
        &mut self,
        after_seq: i64,
        limit: i64,
    ) -> Result<Vec<i64>, StoreError> {
        self.lock_inbox()?;
        let query = query(
            "DELETE FROM inbox_messages WHERE seq IN
                 (SELECT seq FROM inbox_messages WHERE seq > $1 AND read = 1 ORDER BY seq LIMIT $2)
             RETURNING seq",
        );
        self.list(query.bind(after_seq).bind(limit)).await
    }

    /// Deletes a message; `false` if it does not exist.
    pub async fn delete_inbox_message(&mut self, id: &InboxMessageId) -> Result<bool, StoreError> {
        self.lock_inbox()?;
        let query = query("DELETE FROM inbox_messages WHERE id = $1");
        Ok(self.run(query.bind(id.as_str())).await? > 0)
    }
}
