//! `channels.*`: accounts that send messages. Secrets are accepted but never returned.

mod params;

use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, NoParams, method};
use gatehouse_agents::AgentsError;
use gatehouse_channels::{Account, AccountChange, ChannelType, ChannelsError, NewAccount};
use gatehouse_domain::{Problem, Scope};
use gatehouse_services::to_problem;
pub use params::{CreateParams, DeleteParams, SendParams, TestParams, UpdateParams};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

pub const LIST: Method = method!(
    "channels.list",
    "Lists the channels. Their secrets are masked.",
    Some(Scope::Read),
    list(PageParams) -> ListResult
);

pub const TYPES: Method = method!(
    "channels.types",
    "Lists the types of channels, their fields, and the targets that are currently available.",
    Some(Scope::Read),
    types(NoParams) -> TypesResult
);

pub const CREATE: Method = method!(
    "channels.create",
    "Creates a channel. Setting a URL or a mail server requires operator.admin and a recent \
     confirmation.",
    Some(Scope::Write),
    create(CreateParams) -> Account,
    errors: [Forbidden, ConfirmationRequired, Conflict, VaultSealed],
    audit: Audit::Transaction("channel.created")
);

pub const UPDATE: Method = method!(
    "channels.update",
    "Changes a channel. Absent fields are kept, and null removes a field. Setting a URL, a mail server or a field \
     that decides which mail is accepted requires operator.admin and a recent confirmation. Stored secrets are not \
     sent to a different address until they are re-entered.",
    Some(Scope::Write),
    update(UpdateParams) -> Account,
    errors: [NotFound, Forbidden, ConfirmationRequired, Conflict, VaultSealed],
    audit: Audit::Transaction("channel.updated")
);

pub const DELETE: Method = method!(
    "channels.delete",
    "Deletes a channel with its secrets. Requires `force` while deliveries wait for it or \
     webhooks use it.",
    Some(Scope::Write),
    delete(DeleteParams) -> Done,
    errors: [NotFound, Conflict],
    audit: Audit::Transaction("channel.deleted")
);

pub const TEST: Method = method!(
    "channels.test",
    "Sends a test message.",
    Some(Scope::Write),
    test(TestParams) -> Done,
    errors: [NotFound, ProviderFailed, VaultSealed],
    audit: Audit::row("channel.tested", &["id"], &[]).outside()
);

pub const SEND: Method = method!(
    "channels.send",
    "Sends a text to a channel, once; a failed message is not retried.",
    Some(Scope::Write),
    send(SendParams) -> Done,
    errors: [ProviderFailed, VaultSealed],
    audit: Audit::row("channel.sent", &["target"], &[]).outside()
);

/// Result of `channels.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The channels, by ID.
    pub channels: Vec<Account>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Result of `channels.types`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TypesResult {
    /// The available types.
    pub types: Vec<ChannelType>,
}

/// Checks whether the caller may set an address that Gatehouse calls. This requires `operator.admin` and a recent
/// confirmation.
async fn may_name_addresses(call: &Call) -> Result<(), Problem> {
    let auth = &call.services.auth;
    auth.require_scope(&call.identity, Scope::Admin)?;
    auth.require_step_up(&call.identity).await
}

/// Maps the error. If an administrator is refused, the only possible reason is a missing
/// confirmation.
fn refused(call: &Call, allowed: Result<(), Problem>, error: ChannelsError) -> Problem {
    match (error, allowed) {
        (ChannelsError::NeedsAdmin, Err(problem)) if call.identity.allows(Scope::Admin) => problem,
        (error, _) => to_problem(error),
    }
}

/// Refuses an unknown agent in the field for the agent that answers received messages.
async fn check_agent(call: &Call, fields: &Map<String, Value>) -> Result<(), Problem> {
    let named = fields.get("agent_id").and_then(Value::as_str);
    let Some(id) = named.map(str::trim).filter(|id| !id.is_empty()) else {
        return Ok(());
    };
    match call.services.agents.get_agent(id).await {
        Ok(_) => Ok(()),
        Err(AgentsError::NotFound(_)) => {
            let reason = "the agent does not exist";
            Err(Problem::invalid_params("agent_id", reason))
        }
        Err(error) => Err(to_problem(error)),
    }
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let all = call.services.channels.list().await.map_err(to_problem)?;
    let (channels, next_cursor) = by_name(all, &params, |account| &account.id)?;
    Ok(ListResult {
        channels,
        next_cursor,
    })
}

async fn types(call: Call, _: NoParams) -> Result<TypesResult, Problem> {
    let types = call.services.channels.types().await.map_err(to_problem)?;
    Ok(TypesResult { types })
}

async fn create(call: Call, params: CreateParams) -> Result<Account, Problem> {
    check_agent(&call, &params.fields).await?;
    let new = NewAccount {
        kind: params.kind,
        label: params.label,
        fields: params.fields,
        id: params.id,
        enabled: params.enabled.unwrap_or(true),
    };
    let (channels, allowed) = (&call.services.channels, may_name_addresses(&call).await);
    channels
        .create(&call.actor(), allowed.is_ok(), new)
        .await
        .map_err(|error| refused(&call, allowed, error))
}

async fn update(call: Call, params: UpdateParams) -> Result<Account, Problem> {
    if let Some(fields) = &params.fields {
        check_agent(&call, fields).await?;
    }
    let change = AccountChange {
        label: params.label,
        fields: params.fields.unwrap_or_default(),
        enabled: params.enabled,
    };
    let (channels, allowed) = (&call.services.channels, may_name_addresses(&call).await);
    channels
        .update(&call.actor(), allowed.is_ok(), &params.id, change)
        .await
        .map_err(|error| refused(&call, allowed, error))
}

async fn delete(call: Call, params: DeleteParams) -> Result<Done, Problem> {
    let webhooks = &call.services.webhooks;
    webhooks
        .delete_channel(&call.actor(), &params.id, params.force)
        .await
        .map_err(to_problem)?;
    Ok(DONE)
}

async fn test(call: Call, params: TestParams) -> Result<Done, Problem> {
    let channels = &call.services.channels;
    channels
        .test(&params.id, params.text.as_deref())
        .await
        .map_err(to_problem)?;
    Ok(DONE)
}

async fn send(call: Call, params: SendParams) -> Result<Done, Problem> {
    let channels = &call.services.channels;
    channels
        .send_text(&params.target, &params.text, &call.actor().name)
        .await
        .map_err(to_problem)?;
    Ok(DONE)
}
