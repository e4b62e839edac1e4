//! The walks that a filter needs. Each walk reads one index.

use super::{DeliveryFilter, event_condition, event_value};
use crate::delivery_counts::{first_id_at, last_id_at};
use crate::delivery_search::contains;
use crate::delivery_waits::{HAS_NO_PLACE, WAITS_FOR_OWNER};
use crate::delivery_walk::Walk;
use crate::dialect::Engine;
use crate::status_conditions::{is_not_done, is_open};
use gatehouse_domain::{DeliveryStatus, WebhookId};

/// The index that a walk reads.
#[derive(Debug)]
pub(super) enum Index {
    /// Parked deliveries.
    Parked,
    /// Deliveries that ended with one status other than completed. Only deliveries of the filter's webhook if it
    /// has one.
    Ended(DeliveryStatus),
    /// Running deliveries. Their number is about the number of the workers' slots.
    Running,
    /// Open deliveries. Used if there are few of them.
    Open,
    Event(String),
    /// The deliveries of the filter's webhook, or all.
    Webhook,
}

/// A filter as conditions.
pub(super) struct Listing<'f> {
    pub(super) filter: &'f DeliveryFilter,
    pub(super) engine: Engine,
    /// Whether deliveries of deleted webhooks are stored.
    pub(super) has_removals: bool,
}

impl Listing<'_> {
    /// Returns the walk over the deliveries of an index that match the filter and have one of the statuses. Without
    /// statuses, any status matches.
    pub(super) fn walk(&self, index: &Index, statuses: &[DeliveryStatus]) -> Walk {
        let filter = self.filter;
        let mut walk = self.walk_of(index);
        let webhook = filter.webhook.as_ref().map(WebhookId::as_str);
        if let (Some(webhook), Index::Parked | Index::Running | Index::Open | Index::Event(_)) =
            (webhook, index)
        {
            let place = walk.value(webhook);
            walk.check(format!("webhook_id || '' = ${place}"));
        }
        if let Some(event) = &filter.event
            && !matches!(index, Index::Event(_))
        {
            let place = walk.value(event_value(event));
            walk.check(event_condition("event_type || ''", event, place));
        }
        if !statuses.is_empty() && !matches!(index, Index::Ended(_) | Index::Running) {
            let names: Vec<String> = statuses.iter().map(|one| format!("'{one}'")).collect();
            walk.check(format!("status || '' IN ({})", names.join(", ")));
        }
        for (operator, at) in [(">=", filter.from), ("<", filter.until)] {
            if let Some(at) = at {
                let place = walk.value(at.as_millis().to_string());
                let at = format!("CAST(CAST(${place} AS TEXT) AS BIGINT)");
                walk.check(format!("received_at {operator} {at}"));
            }
        }
        if self.has_removals {
            walk.check("webhook_id || '' NOT IN (SELECT webhook_id FROM webhook_removals)");
        }
        if let Some(text) = &filter.text {
            contains(&mut walk, self.engine, text);
        }
        walk
    }

    /// Returns the walk over all deliveries of an index in the period of the filter.
    fn walk_of(&self, index: &Index) -> Walk {
        let filter = self.filter;
        // `dem` sorts after every ID in any collation.
        let before = filter.before.clone().unwrap_or_else(|| "dem".to_owned());
        let before = match filter.until {
            Some(until) => before.min(last_id_at(until)),
            None => before,
        };
        let from = filter.from.map(first_id_at).unwrap_or_default();
        let mut walk = Walk::new(before, from);
        // SQLite uses a partial index only if the query repeats its condition literally.
        match index {
            Index::Parked => {
                walk.with_index(HAS_NO_PLACE);
                walk.check(WAITS_FOR_OWNER.as_str());
            }
            Index::Ended(status) => {
                walk.with_index(is_not_done!());
                walk.with_index(format!("status = '{status}'"));
            }
            Index::Running => {
                walk = walk.at_once();
                // Running deliveries have a lease. With this condition, SQLite prefers the index of the leases.
                walk.with_index("lease_until IS NOT NULL AND status = 'processing'");
            }
            Index::Open => {
                walk = walk.at_once();
                walk.with_index(is_open!());
            }
            Index::Event(event) => {
                let place = walk.value(event);
                walk.with_index(format!("event_type = ${place}"));
            }
            Index::Webhook => {}
        }
        if let (Some(webhook), Index::Ended(_) | Index::Webhook) = (&filter.webhook, index) {
            let place = walk.value(webhook.as_str());
            walk.with_index(format!("webhook_id = ${place}"));
        }
        walk
    }
}
