//! `push.*`: browsers that get notifications through their push service while no page is open.

use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use gatehouse_domain::{Problem, PushSubscriptionId, Scope};
use gatehouse_services::push::{NewSubscription, PushSubscription};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const SUBSCRIBE: Method = method!(
    "push.subscribe",
    "Sends notifications to a browser through its push service until the caller's session or device ends. Repeating the \
     call with the same keys by the same caller changes nothing.",
    Some(Scope::Write),
    subscribe(NewSubscription) -> SubscribeResult,
    errors: [Forbidden, Conflict],
    audit: Audit::Transaction("push.subscribed")
);

pub const UNSUBSCRIBE: Method = method!(
    "push.unsubscribe",
    "Ends the notifications of a browser. Requires operator.pairing for a browser that another caller subscribed.",
    Some(Scope::Write),
    unsubscribe(UnsubscribeParams) -> Done,
    errors: [Forbidden, NotFound],
    audit: Audit::Transaction("push.removed")
);

pub const LIST: Method = method!(
    "push.list",
    "Lists the browsers that get notifications, and returns the key to subscribe with.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

/// Result of `push.subscribe`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SubscribeResult {
    pub id: PushSubscriptionId,
}

/// Params of `push.unsubscribe`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnsubscribeParams {
    /// The ID in `push.list`.
    id: PushSubscriptionId,
}

/// Result of `push.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// `applicationServerKey` for `PushManager.subscribe`, as base64url.
    pub public_key: String,
    /// The caller's credential, as in `credential` of a subscription.
    pub credential: String,
    /// The browsers, oldest first.
    pub subscriptions: Vec<PushSubscription>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

async fn subscribe(call: Call, params: NewSubscription) -> Result<SubscribeResult, Problem> {
    let services = &call.services;
    let made = services.subscribe_push(call.actor(), &call.identity, params);
    let id = made.await.map_err(to_problem)?;
    Ok(SubscribeResult { id })
}

async fn unsubscribe(call: Call, params: UnsubscribeParams) -> Result<Done, Problem> {
    let services = &call.services;
    let ended = services.unsubscribe_push(call.actor(), &call.identity, params.id);
    ended.await.map_err(to_problem)?;
    Ok(DONE)
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let all = call.services.list_pushes().await.map_err(to_problem)?;
    let (subscriptions, next_cursor) = by_name(all, &params, |it| it.id.as_str())?;
    Ok(ListResult {
        public_key: call.services.push.public_key(),
        credential: call.identity.actor_name(),
        subscriptions,
        next_cursor,
    })
}
