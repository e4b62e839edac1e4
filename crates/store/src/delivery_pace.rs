//! Rate limits of claims: how many deliveries of a webhook may start, and when the remaining ones become due.

use crate::{Conn, StoreError};
use gatehouse_domain::{Timestamp, WebhookId};
use std::time::Duration;

/// The `error` of a delivery that waits for its webhook's rate.
pub const WAITS_FOR_RATE: &str = "Waits for the webhook's rate limit.";

const WINDOW: Duration = Duration::from_mins(1);
/// Maximum number of windows by which a delivery is postponed. Its rate limit is checked again at the new time.
const MAX_WINDOWS: u32 = 10;

/// The current rate limit of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    pub webhook_id: WebhookId,
    /// Number of deliveries that may start now.
    pub room: u32,
    /// When the next delivery may start after `room` is used up.
    pub next_at: Timestamp,
    /// Maximum number of starts in any minute, at least 1.
    pub per_minute: u32,
}

/// The rate limits of the webhooks in one claim, and the number of deliveries that the claim has postponed.
pub(crate) struct Paces {
    each: Vec<(Pace, u32)>,
}

impl Paces {
    pub(crate) fn new(paced: &[Pace]) -> Self {
        Self {
            each: paced.iter().map(|pace| (pace.clone(), 0)).collect(),
        }
    }

    /// Takes a permit for a delivery of a webhook. If there is no permit, returns the time of the next check as the
    /// error.
    pub(crate) fn take(&mut self, webhook_id: &str) -> Result<(), Timestamp> {
        let found = self
            .each
            .iter_mut()
            .find(|(pace, _)| pace.webhook_id.as_str() == webhook_id);
        let Some((pace, put_off)) = found else {
            return Ok(());
        };
        if pace.room > 0 {
            pace.room -= 1;
            return Ok(());
        }
        let windows = (*put_off / pace.per_minute.max(1)).min(MAX_WINDOWS);
        *put_off = put_off.saturating_add(1);
        Err(pace.next_at.after(WINDOW.saturating_mul(windows)))
    }
}

impl Conn {
    /// Postpones a delivery. Keeps the error of an earlier attempt.
    pub(crate) fn put_off(&mut self, id: &str, until: Timestamp) -> Result<(), StoreError> {
        let update = "UPDATE webhook_deliveries SET next_attempt_at = $2,
                 error = CASE WHEN attempts = 0 THEN $3 ELSE error END
             WHERE id = $1 AND status IN ('received', 'queued')";
        let values = vec![id.into(), until.as_millis().into(), WAITS_FOR_RATE.into()];
        self.run_later(update, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_off_is_spread_over_the_minutes_that_follow() {
        let at = Timestamp::from_millis;
        let mut paces = Paces::new(&[Pace {
            webhook_id: WebhookId::from_text("a"),
            room: 1,
            next_at: at(1000),
            per_minute: 2,
        }]);
        assert_eq!(paces.take("a"), Ok(()));
        let put_off: Vec<_> = (0..5).map(|_| paces.take("a").unwrap_err()).collect();
        let minutes = [0, 0, 1, 1, 2].map(|minutes| at(1000 + minutes * 60_000));
        assert_eq!(put_off, minutes);
        assert_eq!(paces.take("b"), Ok(()), "it has no pace");
        for _ in 0..100 {
            assert!(paces.take("a").unwrap_err() <= at(1000 + 600_000));
        }
    }
}
