//! `pairing.*`: devices that connect to `/ws` with their own token, and people who write to agents through channels.

use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use gatehouse_auth::api::{Device, DevicePaired, PairDeviceRequest};
use gatehouse_channels::Pairing;
use gatehouse_domain::{DeviceId, ErrorCode, Problem, Scope, input};
use gatehouse_services::to_problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const CREATE: Method = method!(
    "pairing.create",
    "Pairs a device. Its token is shown only once.",
    Some(Scope::Pairing),
    create(PairDeviceRequest) -> DevicePaired,
    errors: [ConfirmationRequired],
    audit: Audit::Transaction("device.paired")
);

pub const LIST: Method = method!(
    "pairing.list",
    "Lists the paired devices.",
    Some(Scope::Pairing),
    list(PageParams) -> ListResult
);

pub const REVOKE: Method = method!(
    "pairing.revoke",
    "Revokes a device and closes its connections.",
    Some(Scope::Pairing),
    revoke(RevokeParams) -> Done,
    errors: [NotFound, Forbidden],
    audit: Audit::Transaction("device.revoked")
);

pub const PEOPLE: Method = method!(
    "pairing.people",
    "Lists the people who are paired with channels, and those who wait for approval.",
    Some(Scope::Pairing),
    people(PageParams) -> PeopleResult
);

pub const APPROVE: Method = method!(
    "pairing.approve",
    "Pairs the person who got this code from a channel. `trusted` requires operator.admin and a recent \
     confirmation.",
    Some(Scope::Pairing),
    approve(ApproveParams) -> Pairing,
    errors: [NotFound, Forbidden, ConfirmationRequired],
    audit: Audit::Transaction("channel.paired")
);

pub const TRUST: Method = method!(
    "pairing.trust",
    "Sets whether a paired person's messages count as the owner's. `trusted` requires operator.admin and a \
     recent confirmation.",
    Some(Scope::Pairing),
    trust(TrustParams) -> Pairing,
    errors: [NotFound, Forbidden, ConfirmationRequired],
    audit: Audit::Transaction("channel.trusted")
);

pub const UNPAIR: Method = method!(
    "pairing.unpair",
    "Ends a person's pairing with a channel, or refuses one that waits for approval.",
    Some(Scope::Pairing),
    unpair(UnpairParams) -> Done,
    errors: [NotFound],
    audit: Audit::Transaction("channel.unpaired")
);

/// Result of `pairing.people`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PeopleResult {
    /// The people, oldest first.
    pub people: Vec<Pairing>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of `pairing.approve`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApproveParams {
    /// The code that the person got.
    code: String,
    /// Whether the person's messages count as the owner's.
    #[serde(default, deserialize_with = "input::or_default")]
    trusted: bool,
}

/// Params of `pairing.trust`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrustParams {
    /// The ID in `pairing.people`.
    id: String,
    /// Whether the person's messages count as the owner's.
    trusted: bool,
}

/// Params of `pairing.unpair`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnpairParams {
    /// The ID in `pairing.people`.
    id: String,
}

/// Result of `pairing.list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListResult {
    /// The devices, oldest first.
    pub devices: Vec<Device>,
    /// The cursor of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Params of `pairing.revoke`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeParams {
    /// The device's ID.
    id: DeviceId,
    /// Whether to keep what the device created, which requires a session. By default, it ends with the device.
    #[serde(default, deserialize_with = "input::or_default")]
    keep_children: bool,
}

async fn create(call: Call, params: PairDeviceRequest) -> Result<DevicePaired, Problem> {
    let auth = &call.services.auth;
    auth.pair_device(&call.context, params)
        .await
        .map_err(to_problem)
}

async fn list(call: Call, params: PageParams) -> Result<ListResult, Problem> {
    let mut all = call
        .services
        .auth
        .list_devices()
        .await
        .map_err(to_problem)?
        .devices;
    all.sort_by(|a, b| a.id.cmp(&b.id));
    let (devices, next_cursor) = by_name(all, &params, |device| device.id.as_str())?;
    Ok(ListResult {
        devices,
        next_cursor,
    })
}

async fn revoke(call: Call, params: RevokeParams) -> Result<Done, Problem> {
    let auth = &call.services.auth;
    auth.revoke_device(&call.context, params.id, params.keep_children)
        .await
        .map_err(to_problem)?;
    Ok(DONE)
}

async fn people(call: Call, params: PageParams) -> Result<PeopleResult, Problem> {
    let all = call.services.channels.list_pairings().await;
    let (people, next_cursor) = by_name(all.map_err(to_problem)?, &params, |it| &it.id)?;
    Ok(PeopleResult {
        people,
        next_cursor,
    })
}

/// Checks the permission to trust a person, who can then do everything that the owner can do in a
/// conversation.
async fn may_trust(call: &Call, trusted: bool) -> Result<(), Problem> {
    if !trusted {
        return Ok(());
    }
    // The trust would remain after setup, for a person whom an unauthenticated caller chose.
    if call.identity.is_unauthenticated_remote() {
        return Err(Problem::new(
            ErrorCode::Forbidden,
            "A remote caller cannot trust a person while authentication is disabled. Complete setup first.",
        ));
    }
    let auth = &call.services.auth;
    auth.require_scope(&call.identity, Scope::Admin)?;
    auth.require_step_up(&call.identity).await
}

async fn approve(call: Call, params: ApproveParams) -> Result<Pairing, Problem> {
    may_trust(&call, params.trusted).await?;
    let channels = &call.services.channels;
    channels
        .approve_pairing(&call.actor(), &params.code, params.trusted)
        .await
        .map_err(to_problem)
}

async fn trust(call: Call, params: TrustParams) -> Result<Pairing, Problem> {
    may_trust(&call, params.trusted).await?;
    let channels = &call.services.channels;
    channels
        .trust_pairing(&call.actor(), &params.id, params.trusted)
        .await
        .map_err(to_problem)
}

async fn unpair(call: Call, params: UnpairParams) -> Result<Done, Problem> {
    let channels = &call.services.channels;
    let ended = channels.unpair(&call.actor(), &params.id).await;
    ended.map_err(to_problem)?;
    Ok(DONE)
}
