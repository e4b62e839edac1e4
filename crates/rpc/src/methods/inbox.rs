//! `inbox.*`: messages sent to the inbox.

use super::page::{rows, searched};
use crate::method_entry::{Audit, Call, DONE, Done, Method, NoParams, method};
use gatehouse_channels::{InboxFilter, InboxMessage, InboxPage};
use gatehouse_domain::id::InboxMessageId;
use gatehouse_domain::{Problem, Scope, Timestamp, input};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const LIST: Method = method!(
    "inbox.list",
    "Lists the messages in the inbox, newest first.",
    Some(Scope::Read),
    list(ListParams) -> ListResult
);

pub const MARK_READ: Method = method!(
    "inbox.mark_read",
    "Marks a message as read.",
    Some(Scope::Write),
    mark_read(IdParams) -> Done,
    errors: [NotFound],
    audit: Audit::Unrecorded("conversation")
);

pub const MARK_ALL_READ: Method = method!(
    "inbox.mark_all_read",
    "Marks every message as read.",
    Some(Scope::Write),
    mark_all_read(NoParams) -> MarkAllReadResult,
    audit: Audit::Unrecorded("conversation")
);

pub const DELETE: Method = method!(
    "inbox.delete",
    "Deletes a message.",
    Some(Scope::Write),
    delete(IdParams) -> Done,
    errors: [NotFound],
    audit: Audit::Unrecorded("conversation")
);

pub const DELETE_READ: Method = method!(
    "inbox.delete_read",
    "Deletes every message that has been read.",
    Some(Scope::Write),
    delete_read(NoParams) -> DeleteReadResult,
    audit: Audit::Unrecorded("conversation")
);

/// Params of `inbox.list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListParams {
    /// Only messages whose text or sender contains this text of at most 200 characters.
    #[schemars(length(max = 200))]
    q: Option<String>,
    /// Only unread messages.
    #[serde(default, deserialize_with = "input::or_default")]
    unread: bool,
    /// Only messages about events at this time or later.
    from: Option<Timestamp>,
    /// Only messages about events before this time.
    until: Option<Timestamp>,
    /// The maximum number of entries; 50 by default.
    #[schemars(range(min = 1, max = 500))]
    limit: Option<i64>,
    /// Return the entries after this cursor: `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Result of `inbox.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The messages, newest first.
    pub messages: Vec<InboxMessage>,
    /// How many messages are unread, on all pages and whatever the filter is.
    pub unread: u64,
    /// How many messages have been read, on all pages and whatever the filter is.
    pub read: u64,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params that name a message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdParams {
    /// The message's ID.
    id: InboxMessageId,
}

/// Result of `inbox.mark_all_read`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MarkAllReadResult {
    /// How many messages were unread.
    pub marked: u64,
}

/// Result of `inbox.delete_read`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeleteReadResult {
    /// How many messages were deleted.
    pub deleted: u64,
}

async fn list(call: Call, params: ListParams) -> Result<ListResult, Problem> {
    let limit = rows(params.limit)?;
    let channels = &call.services.channels;
    let filter = InboxFilter {
        only_unread: params.unread,
        q: searched(params.q)?,
        from: params.from,
        until: params.until,
    };
    let InboxPage {
        messages,
        unread,
        read,
        next_cursor,
    } = channels
        .list_inbox(&filter, limit, params.cursor.as_deref())
        .await
        .map_err(to_problem)?;
    Ok(ListResult {
        messages,
        unread,
        read,
        next_cursor,
    })
}

async fn mark_read(call: Call, params: IdParams) -> Result<Done, Problem> {
    let channels = &call.services.channels;
    channels.mark_read(&params.id).await.map_err(to_problem)?;
    Ok(DONE)
}

async fn mark_all_read(call: Call, _: NoParams) -> Result<MarkAllReadResult, Problem> {
    let channels = &call.services.channels;
    let marked = channels.mark_all_read().await.map_err(to_problem)?;
    Ok(MarkAllReadResult { marked })
}

async fn delete(call: Call, params: IdParams) -> Result<Done, Problem> {
    let channels = &call.services.channels;
    channels
        .delete_inbox(&params.id)
        .await
        .map_err(to_problem)?;
    Ok(DONE)
}

async fn delete_read(call: Call, _: NoParams) -> Result<DeleteReadResult, Problem> {
    let channels = &call.services.channels;
    let deleted = channels.delete_read().await.map_err(to_problem)?;
    Ok(DeleteReadResult { deleted })
}
