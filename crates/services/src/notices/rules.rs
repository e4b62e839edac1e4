//! When a change of a delivery is worth a message. Pure: the caller has the clock.

use gatehouse_domain::{DeliveryId, DeliveryStatus, WebhookId};
use gatehouse_store::CANCELLED;
use gatehouse_webhooks::Delivery;
use std::collections::HashMap;

/// Failures of one webhook within this time after a message are in the next one, together.
pub(super) const TOGETHER_MS: u64 = 15 * 60_000;
/// Refusals in a row, without an accepted request, until a message.
pub(super) const REFUSALS: u32 = 10;
/// A webhook that still refuses is named again after this time.
pub(super) const AGAIN_MS: u64 = 24 * 3_600_000;

/// Something to tell the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    Failed {
        webhook: WebhookId,
        /// How many deliveries failed; the other fields are of the last one.
        count: u32,
        delivery: DeliveryId,
        /// What happened, as one line.
        summary: String,
        error: String,
    },
    Refuses {
        webhook: WebhookId,
        count: u32,
        /// Why the last request was refused.
        reason: String,
    },
}

/// The failures of a webhook.
#[derive(Debug)]
struct Failures {
    told_at: u64,
    /// What failed since then.
    waiting: Option<Notice>,
}

/// The refusals of a webhook since it last accepted a request.
#[derive(Debug, Default)]
struct Refusals {
    count: u32,
    told_at: Option<u64>,
}

/// What is known of each webhook. Lost at a restart.
#[derive(Debug, Default)]
pub(super) struct Rules {
    failures: HashMap<WebhookId, Failures>,
    refusals: HashMap<WebhookId, Refusals>,
}

impl Rules {
    /// Returns the message about a change, if one is due now. `now` is monotonic, in milliseconds.
    pub(super) fn of(&mut self, delivery: &Delivery, now: u64) -> Option<Notice> {
        match delivery.status {
            DeliveryStatus::Failed => self.failed(delivery, now),
            DeliveryStatus::Rejected => self.refused(delivery, now),
            // A request that was accepted. Replays are the owner's.
            DeliveryStatus::Queued if delivery.attempts == 0 && delivery.replay_of.is_none() => {
                self.refusals.remove(&delivery.webhook_id);
                None
            }
            _ => None,
        }
    }

    fn failed(&mut self, delivery: &Delivery, now: u64) -> Option<Notice> {
        let error = delivery.error.clone().unwrap_or_default();
        if error == CANCELLED {
            return None;
        }
        let notice = |count| Notice::Failed {
            webhook: delivery.webhook_id.clone(),
            count,
            delivery: delivery.id.clone(),
            summary: delivery.summary.clone().unwrap_or_default(),
            error,
        };
        let known = self.failures.get_mut(&delivery.webhook_id);
        let Some(known) = known.filter(|known| now < known.told_at.saturating_add(TOGETHER_MS))
        else {
            let told = Failures {
                told_at: now,
                waiting: None,
            };
            let before = self.failures.insert(delivery.webhook_id.clone(), told);
            let before = before.and_then(|before| before.waiting);
            return Some(notice(1 + before.map_or(0, |it| it.count())));
        };
        let count = known.waiting.as_ref().map_or(0, Notice::count);
        known.waiting = Some(notice(count.saturating_add(1)));
        None
    }

    fn refused(&mut self, delivery: &Delivery, now: u64) -> Option<Notice> {
        let known = self
            .refusals
            .entry(delivery.webhook_id.clone())
            .or_default();
        known.count = known.count.saturating_add(1);
        let is_again = known
            .told_at
            .is_none_or(|told_at| now >= told_at.saturating_add(AGAIN_MS));
        if known.count < REFUSALS || !is_again {
            return None;
        }
        known.told_at = Some(now);
        Some(Notice::Refuses {
            webhook: delivery.webhook_id.clone(),
            count: known.count,
            reason: delivery.error.clone().unwrap_or_default(),
        })
    }

    /// Returns the messages that waited long enough.
    pub(super) fn due(&mut self, now: u64) -> Vec<Notice> {
        let mut due = Vec::new();
        self.failures.retain(|_, known| {
            if now < known.told_at.saturating_add(TOGETHER_MS) {
                return true;
            }
            known.told_at = now;
            match known.waiting.take() {
                Some(notice) => due.push(notice),
                // Nothing failed meanwhile: the next failure is reported at once.
                None => return false,
            }
            true
        });
        due
    }
}

impl Notice {
    const fn count(&self) -> u32 {
        match self {
            Self::Failed { count, .. } | Self::Refuses { count, .. } => *count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::Timestamp;
    use std::collections::BTreeMap;

    fn delivery(number: u32, status: DeliveryStatus, error: Option<&str>) -> Delivery {
        Delivery {
            id: DeliveryId::from_text(format!("del_{number}")),
            webhook_id: WebhookId::from_text("hook_1"),
            status,
            event_type: None,
            entity_key: None,
            delivery_key: None,
            duplicate_of: None,
            replay_of: None,
            edited: Vec::new(),
            received_at: Timestamp::from_millis(0),
            started_at: None,
            finished_at: None,
            delivered_at: None,
            duration_ms: None,
            attempts: 0,
            next_attempt_at: None,
            input_tokens: None,
            output_tokens: None,
            headers: BTreeMap::new(),
            body_size: 0,
            body_preview: String::new(),
            session_id: None,
            session_key: None,
            error: error.map(str::to_owned),
            summary: None,
            outcome: None,
            target: None,
            failed_attempts: Vec::new(),
            response_actions: Vec::new(),
        }
    }

    fn failed(number: u32) -> Delivery {
        delivery(number, DeliveryStatus::Failed, Some("No."))
    }

    /// The number of deliveries and the last one.
    fn told(notice: Option<Notice>) -> Option<(u32, String)> {
        match notice? {
            Notice::Failed {
                count, delivery, ..
            } => Some((count, delivery.to_string())),
            Notice::Refuses { count, reason, .. } => Some((count, reason)),
        }
    }

    #[test]
    fn the_first_failure_is_told_at_once_and_the_next_ones_together() {
        let mut rules = Rules::default();
        let first = rules.of(&failed(1), 5);
        assert_eq!(told(first), Some((1, "del_1".to_owned())));
        assert_eq!(rules.of(&failed(2), 6), None);
        assert_eq!(rules.of(&failed(3), 4 + TOGETHER_MS), None);
        assert!(rules.due(4 + TOGETHER_MS).is_empty());
        let due = rules.due(5 + TOGETHER_MS).pop();
        assert_eq!(told(due), Some((2, "del_3".to_owned())));
        // The message about several starts the next period.
        assert_eq!(rules.of(&failed(4), 6 + TOGETHER_MS), None);
        let later = 5 + 2 * TOGETHER_MS;
        let next = rules.of(&failed(5), later);
        assert_eq!(told(next), Some((2, "del_5".to_owned())));
        // After a quiet period, a failure is reported at once again.
        assert!(rules.due(later + TOGETHER_MS).is_empty());
        let again = rules.of(&failed(6), later + TOGETHER_MS);
        assert_eq!(told(again), Some((1, "del_6".to_owned())));
    }

    #[test]
    fn a_delivery_that_the_owner_canceled_is_not_told() {
        let canceled = delivery(1, DeliveryStatus::Failed, Some(CANCELLED));
        assert_eq!(Rules::default().of(&canceled, 0), None);
    }

    #[test]
    fn the_tenth_refusal_in_a_row_is_told_once_a_day() {
        let mut rules = Rules::default();
        let refused = delivery(1, DeliveryStatus::Rejected, Some("wrong_signature"));
        for _ in 1..REFUSALS {
            assert_eq!(rules.of(&refused, 7), None);
        }
        let tenth = rules.of(&refused, 7);
        assert_eq!(told(tenth), Some((10, "wrong_signature".to_owned())));
        assert_eq!(rules.of(&refused, 6 + AGAIN_MS), None);
        let again = rules.of(&refused, 7 + AGAIN_MS);
        assert_eq!(told(again), Some((12, "wrong_signature".to_owned())));
    }

    #[test]
    fn an_accepted_request_ends_the_row_and_a_replay_does_not() {
        let mut rules = Rules::default();
        let refused = delivery(1, DeliveryStatus::Rejected, None);
        let mut accepted = delivery(2, DeliveryStatus::Queued, None);
        for _ in 1..REFUSALS {
            rules.of(&refused, 0);
        }
        accepted.replay_of = Some(DeliveryId::from_text("del_0"));
        rules.of(&accepted, 0);
        assert!(rules.of(&refused, 0).is_some());
        accepted.replay_of = None;
        rules.of(&accepted, 0);
        for _ in 1..REFUSALS {
            assert_eq!(rules.of(&refused, 0), None);
        }
    }
}
