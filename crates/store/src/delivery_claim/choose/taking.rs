//! The state of a claim in one line.

use crate::delivery_claim::{DUE, DeliveryWork, Take};
use crate::delivery_queue::PAGE;
use crate::sql::{Query, query};
use gatehouse_domain::Timestamp;

/// A line from which a claim takes.
pub(in super::super) struct Taking<'w> {
    pub(super) take: &'w Take,
    /// Number of deliveries still to claim.
    pub(super) left: usize,
    /// Number of deliveries to read at once.
    pub(super) page: usize,
    /// Whether all due deliveries of the line have been read.
    pub(in super::super) is_read: bool,
    pub(in super::super) claimed: Vec<DeliveryWork>,
}

impl<'w> Taking<'w> {
    pub(in super::super) fn new(take: &'w Take) -> Self {
        Self {
            take,
            left: take.limit,
            page: take.limit.min(PAGE),
            is_read: take.limit == 0,
            claimed: Vec::new(),
        }
    }

    pub(super) fn due(&self, now: Timestamp) -> Query<'w> {
        query(DUE)
            .bind(&self.take.target)
            .bind(self.take.webhook_id.as_str())
            .bind(now.as_millis())
            .bind(i64::try_from(self.page).unwrap_or(i64::MAX))
    }

    pub(in super::super) const fn is_open(&self) -> bool {
        self.left > 0 && !self.is_read
    }
}
