//! A request in the process of being queued.

use crate::handle::Inner;
use crate::live::LiveWebhook;
use gatehouse_domain::{Actor, DeliveryId, Timestamp};
use std::sync::Arc;

/// When a request is verified.
#[derive(Debug)]
pub(super) enum Phase {
    /// While the sender waits for the response.
    Live,
    /// After the vault is unlocked. Until then the request is stored encrypted.
    Hold,
    /// Now, after the vault was unlocked. The sender has already received a response with this ID.
    Release(DeliveryId),
}

/// A request whose webhook exists and is enabled and whose client IP address is allowed. Its body has not
/// been read yet.
#[derive(Debug)]
pub struct Intake {
    pub(super) inner: Arc<Inner>,
    pub(super) webhook: Arc<LiveWebhook>,
    pub(super) from: Actor,
    pub(super) received_at: Timestamp,
    pub(super) phase: Phase,
}
