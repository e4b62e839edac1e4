//! `inbox.*`: messages sent to the inbox.

use super::page::{PageParams, rows};
use crate::method::{Audit, Call, DONE, Done, Method, method};
use gatehouse_channels::{InboxMessage, InboxPage};
use gatehouse_domain::id::InboxMessageId;
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const LIST: Method = method!(
    "inbox.list",
    "Lists the messages in the inbox, newest first.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

pub const MARK_READ: Method = method!(
    "inbox.mark_read",
    "Marks a message as read.",
    Some(Scope::Write),
    mark_read(MarkReadParams) -> Done,
    errors: [NotFound],
    audit: Audit::Unnoted("conversation")
);

/// Result of `inbox.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The messages, newest first.
    pub messages: Vec<InboxMessage>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of `inbox.mark_read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkReadParams {
    /// The message's id.
    id: InboxMessageId,
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let limit = rows(params.limit)?;
    let channels = &call.services.channels;
    let InboxPage {
        messages,
        next_cursor,
    } = channels
        .list_inbox(limit, params.cursor.as_deref())
        .await
        .map_err(to_problem)?;
    Ok(ListResult {
        messages,
        next_cursor,
    })
}

async fn mark_read(call: Call, params: MarkReadParams) -> Result<Done, Problem> {
    let channels = &call.services.channels;
    channels.mark_read(&params.id).await.map_err(to_problem)?;
    Ok(DONE)
}
