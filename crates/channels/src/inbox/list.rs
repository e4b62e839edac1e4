//! Pages of the inbox.

use super::{InboxMessage, KEPT};
use crate::error::ChannelsError;
use crate::handle::Channels;
use gatehouse_domain::Timestamp;
use gatehouse_store::{InboxMessagePage, StoreError};

/// Which messages to list.
#[derive(Clone, Debug, Default)]
pub struct InboxFilter {
    pub only_unread: bool,
    /// Only messages whose text or sender contains this text.
    pub q: Option<String>,
    /// Only messages about events at this time or later.
    pub from: Option<Timestamp>,
    /// Only messages about events before this time.
    pub until: Option<Timestamp>,
}

/// A page of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxPage {
    /// The messages, newest first.
    pub messages: Vec<InboxMessage>,
    /// The number of unread messages in the whole inbox.
    pub unread: u64,
    /// The number of read messages in the whole inbox.
    pub read: u64,
    /// The cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
}

impl Channels {
    /// Lists messages, newest first. `cursor` is the `next_cursor` of the previous page.
    pub async fn list_inbox(
        &self,
        filter: &InboxFilter,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<InboxPage, ChannelsError> {
        let before_seq = match cursor.map(str::parse::<i64>) {
            None => i64::MAX,
            Some(Ok(seq)) if seq > 0 => seq,
            Some(_) => {
                return Err(ChannelsError::invalid(
                    "cursor",
                    "not a cursor of this list",
                ));
            }
        };
        let q = filter.q.as_deref().map(str::trim).filter(|q| !q.is_empty());
        let page = InboxMessagePage {
            before_seq,
            only_unread: filter.only_unread,
            // PostgreSQL rejects NUL in a parameter, and no stored text contains it.
            q: q.map(|q| q.replace('\0', "\u{fffd}")),
            from: filter.from,
            until: filter.until,
            limit: i64::try_from(limit).unwrap_or(KEPT).min(KEPT) + 1,
        };
        let read = self.0.store.read(move |conn| {
            Box::pin(async move {
                let rows = conn.list_inbox_messages(&page).await?;
                Ok::<_, StoreError>((rows, conn.count_inbox_messages().await?))
            })
        });
        let (mut rows, counts) = read.await.map_err(ChannelsError::Store)?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next_cursor = rows
            .last()
            .filter(|_| more)
            .map(|last| last.seq.to_string());
        Ok(InboxPage {
            messages: rows.into_iter().map(InboxMessage::from).collect(),
            unread: u64::try_from(counts.unread).unwrap_or(0),
            read: u64::try_from(counts.read).unwrap_or(0),
            next_cursor,
        })
    }
}
