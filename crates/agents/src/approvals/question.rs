//! A call that needs approval, and the calls that wait for it on this node.

use crate::event::Approval;
use crate::taint::{AskReason, Effect};
use gatehouse_domain::id::{ApprovalId, DeliveryId, SessionId, TurnId};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// A call that needs approval.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) agent: String,
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
    /// The message of a channel that the turn answers.
    pub(crate) message: Option<DeliveryId>,
    /// The delivery of a webhook that the turn processes.
    pub(crate) delivery: Option<DeliveryId>,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) reason: AskReason,
    pub(crate) effect: Effect,
}

/// The result of a request for approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Allowed,
    Denied,
    /// No person answered within this time.
    Expired(Duration),
}

impl Verdict {
    pub(super) const fn of(is_allowed: bool) -> Self {
        if is_allowed {
            Self::Allowed
        } else {
            Self::Denied
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Expired(_) => "expired",
        }
    }
}

/// The calls that wait for approval.
#[derive(Debug, Default)]
pub(crate) struct Approvals(Mutex<BTreeMap<ApprovalId, Waiting>>);

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) approval: Arc<Approval>,
    /// Identifies the call in links: 256 random bits as base64url.
    pub(super) token: String,
    pub(super) message: Option<DeliveryId>,
    pub(super) answer: oneshot::Sender<bool>,
}

impl Approvals {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<ApprovalId, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
