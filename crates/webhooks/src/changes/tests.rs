//! Tests of the parent module.

use super::*;
use gatehouse_domain::Timestamp;
use gatehouse_store::NewDelivery;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::broadcast::error::TryRecvError;

const BURST: u32 = 5_000;

fn new_delivery(number: u32, status: DeliveryStatus, error: Option<&str>) -> NewDelivery {
    NewDelivery {
        id: DeliveryId::from_text(format!("del_{number}")),
        webhook_id: WebhookId::from_text(format!("hook_{}", number % 2)),
        status,
        event_type: None,
        entity_key: None,
        delivery_key: None,
        unique_key: None,
        bytes_key: None,
        duplicate_of: None,
        replay_of: None,
        redelivery: None,
        session_key: String::new(),
        received_at: Timestamp::from_millis(1),
        next_attempt_at: None,
        headers: "{}".to_owned(),
        body_size: 2,
        body_preview: String::new(),
        payload: None,
        config: None,
        target: None,
        error: error.map(str::to_owned),
        summary: None,
    }
}

/// Publishes a change. Returns whether its event was built.
fn publish(changes: &Changes, number: u32, status: DeliveryStatus, error: Option<&str>) -> bool {
    let row = new_delivery(number, status, error);
    let is_built = Cell::new(false);
    let change = Changed {
        id: &row.id,
        webhook_id: &row.webhook_id,
        status,
        error,
    };
    changes.publish(&change, || {
        is_built.set(true);
        (&row).into()
    });
    is_built.get()
}

fn accept_many(changes: &Changes) {
    for number in 0..BURST {
        publish(changes, number, DeliveryStatus::Queued, None);
    }
}

#[test]
fn a_failure_among_thousands_of_accepted_deliveries_is_kept() {
    let changes = Changes::default();
    assert!(changes.condition.set(Box::new(|| true)).is_ok());
    let (mut last, mut all) = (changes.failed.subscribe(), changes.events.subscribe());
    accept_many(&changes);
    publish(&changes, 9_001, DeliveryStatus::Failed, Some("No."));
    accept_many(&changes);
    let behind = all.try_recv();
    assert!(matches!(behind, Err(TryRecvError::Lagged(_))), "{behind:?}");
    let taken = changes.take();
    let [failed] = taken.as_slice() else {
        panic!("{taken:?}");
    };
    assert_eq!(
        (failed.status, failed.count, failed.first.as_str()),
        (DeliveryStatus::Failed, 1, "del_9001")
    );
    assert_eq!(failed.first, failed.last);
    let last = last.borrow_and_update().clone().unwrap();
    assert_eq!(last.id, failed.last);
    assert!(changes.take().is_empty(), "each is taken once");
}

#[test]
fn an_event_is_built_only_while_it_is_needed() {
    let changes = Changes::default();
    let queued = |changes: &Changes| publish(changes, 1, DeliveryStatus::Queued, None);
    assert!(!queued(&changes), "no subscriber");
    let is_open = Arc::new(AtomicBool::new(false));
    let condition = Arc::clone(&is_open);
    changes
        .condition
        .get_or_init(|| Box::new(move || condition.load(Ordering::SeqCst)));
    let mut conditional = changes.events.subscribe();
    assert!(!queued(&changes), "the condition is false");
    assert!(conditional.try_recv().is_err());
    is_open.store(true, Ordering::SeqCst);
    assert!(queued(&changes));
    assert!(conditional.try_recv().is_ok());
    drop(conditional);
    assert!(!queued(&changes), "the receiver is gone");

    let failed = |changes: &Changes| publish(changes, 1, DeliveryStatus::Failed, None);
    assert!(!failed(&changes), "no follower of failures");
    let last = changes.failed.subscribe();
    assert!(failed(&changes));
    assert!(!queued(&changes));
    drop(last);
    assert!(!failed(&changes), "the follower is gone");
}

#[test]
fn failures_past_the_limit_are_counted_with_the_last_one_of_their_webhook() {
    let changes = Changes::default();
    let limit = u32::try_from(ONE_BY_ONE).unwrap();
    let refuse = |number| publish(&changes, number, DeliveryStatus::Rejected, Some("No."));
    for number in 0..limit {
        refuse(number);
    }
    assert_eq!(changes.waiting().len(), ONE_BY_ONE);
    refuse(limit);
    refuse(limit + 2);
    // Failures and refusals are counted separately.
    publish(&changes, limit, DeliveryStatus::Failed, Some("No."));
    publish(&changes, limit + 2, DeliveryStatus::Failed, Some("No."));
    let taken = changes.take();
    assert_eq!(taken.len(), ONE_BY_ONE + 1);
    let refused = &taken[ONE_BY_ONE - 2];
    assert_eq!(
        (refused.count, refused.first.as_str(), refused.last.as_str()),
        (3, "del_1022", "del_1026")
    );
    assert_eq!(taken[ONE_BY_ONE - 1].count, 1);
    assert_eq!(taken[ONE_BY_ONE].count, 2);
    let total: i64 = taken.iter().map(|it| it.count).sum();
    assert_eq!(total, i64::from(limit) + 4);
}

#[test]
fn a_delivery_that_the_owner_canceled_is_not_reported() {
    let changes = Changes::default();
    let mut last = changes.failed.subscribe();
    publish(&changes, 1, DeliveryStatus::Failed, Some(CANCELLED));
    publish(&changes, 2, DeliveryStatus::Queued, Some("No."));
    publish(&changes, 3, DeliveryStatus::Completed, None);
    assert!(changes.take().is_empty());
    assert!(last.borrow_and_update().is_none());
    // A refusal is kept, but it is not a failed delivery.
    publish(&changes, 4, DeliveryStatus::Rejected, Some("No."));
    assert_eq!(changes.take().len(), 1);
    assert!(last.borrow_and_update().is_none());
}
