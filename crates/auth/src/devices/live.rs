//! A paired device in memory, and whether it is connected.

use crate::live_credential::{Live, TokenHash, Usage, from_hex, is_within};
use crate::only::Only;
use gatehouse_domain::{Cidr, DeviceId, ScopeSet, Timestamp};
use gatehouse_store::{DeviceRow, StoreError};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A device in memory.
pub struct LiveDevice {
    id: DeviceId,
    hash: TokenHash,
    scopes: ScopeSet,
    expires_at: Option<Timestamp>,
    allowed_cidrs: Option<Vec<Cidr>>,
    only: Option<Only>,
    dies_at_setup: bool,
    usage: Usage,
    sockets: AtomicUsize,
}

impl fmt::Debug for LiveDevice {
    /// Omits the hash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LiveDevice").field(&self.id).finish()
    }
}

impl LiveDevice {
    pub(crate) fn from_row(row: &DeviceRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.clone(),
            hash: from_hex(&row.token_hash, "hash of a device token")?,
            scopes: row.scopes,
            expires_at: row.expires_at,
            allowed_cidrs: row.allowed_cidrs.clone(),
            only: Only::from_row(row.only.as_deref(), "device")?,
            dies_at_setup: row.dies_at_setup,
            usage: Usage::new(row.last_seen_at.map_or(0, Timestamp::as_millis)),
            sockets: AtomicUsize::new(0),
        })
    }

    pub const fn id(&self) -> &DeviceId {
        &self.id
    }

    pub const fn scopes(&self) -> ScopeSet {
        self.scopes
    }

    pub const fn expires_at(&self) -> Option<Timestamp> {
        self.expires_at
    }

    /// Returns the networks from which the device may connect; `None` is any.
    pub(crate) fn allowed_cidrs(&self) -> Option<&[Cidr]> {
        self.allowed_cidrs.as_deref()
    }

    /// Returns the methods that the device may call; `None` is all.
    pub(crate) const fn only(&self) -> Option<&Only> {
        self.only.as_ref()
    }

    /// Returns whether the device may connect from this address.
    pub(crate) fn may_be_used_from(&self, client: IpAddr) -> bool {
        is_within(self.allowed_cidrs(), client)
    }

    /// Returns whether the device has an open socket on this node.
    pub(crate) fn is_online(&self) -> bool {
        self.sockets.load(Ordering::Relaxed) > 0
    }

    /// Returns when the device was last connected.
    pub(crate) fn last_seen_at(&self) -> Option<Timestamp> {
        self.usage.last()
    }

    pub(crate) const fn dies_at_setup(&self) -> bool {
        self.dies_at_setup
    }
}

impl Live for LiveDevice {
    fn hash(&self) -> &TokenHash {
        &self.hash
    }

    fn usage(&self) -> &Usage {
        &self.usage
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| now >= end)
    }
}

/// An open socket of a device. Dropping this value marks the socket as closed.
#[derive(Debug)]
pub struct DevicePresence(Arc<LiveDevice>);

impl DevicePresence {
    pub(crate) fn begin(device: Arc<LiveDevice>) -> Self {
        device.sockets.fetch_add(1, Ordering::Relaxed);
        Self(device)
    }

    pub fn device(&self) -> &LiveDevice {
        &self.0
    }
}

impl Drop for DevicePresence {
    fn drop(&mut self) {
        self.0.sockets.fetch_sub(1, Ordering::Relaxed);
    }
}
