//! Responses about devices.

use gatehouse_domain::{Cidr, DeviceId, ScopeSet, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// `pairing.create`.
#[derive(Serialize, JsonSchema)]
pub struct DevicePaired {
    pub id: DeviceId,
    /// The token to send as `auth.device_token` of `connect`. Returned only once.
    pub token: String,
    /// What the device may do.
    pub scopes: ScopeSet,
}

/// One paired device.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Device {
    pub id: DeviceId,
    /// A name chosen by the owner.
    pub label: String,
    /// What the device may do.
    pub scopes: ScopeSet,
    /// Whether the device has an open socket on the answering node.
    pub online: bool,
    /// When the device was last connected.
    pub last_seen_at: Option<Timestamp>,
    /// When the device was paired.
    pub created_at: Timestamp,
    /// When the device's access expires; absent if never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The networks from which the device may connect; absent if unrestricted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_cidrs: Option<Vec<Cidr>>,
    /// The methods that the device may call; absent if unrestricted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// Who paired the device, as in the audit log. Absent for devices paired before this field
    /// existed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
}

/// Every paired device, newest first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DeviceList {
    pub devices: Vec<Device>,
}
