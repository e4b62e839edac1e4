//! `pairing.*`: devices that connect to `/ws` with their own token.

use super::page::{PageParams, by_name};
use crate::method_entry::{Audit, Call, DONE, Done, Method, method};
use gatehouse_auth::api::{Device, DevicePaired, PairDeviceRequest};
use gatehouse_domain::{DeviceId, Problem, Scope};
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
    errors: [NotFound],
    audit: Audit::Transaction("device.revoked")
);

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
    /// The device's id.
    id: DeviceId,
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
    let revoked = auth.revoke_device(&call.context, params.id).await;
    revoked.map_err(to_problem)?;
    Ok(DONE)
}
