//! Tests of the parent module.

use super::*;

#[test]
fn a_listener_hears_what_comes_after_it() {
    let bus = EventBus::default();
    bus.publish(
        "auth.changed",
        &AuthChangedParams { what: "setup" },
        Scope::Read,
    );
    let mut listener = bus.subscribe();
    assert!(listener.try_recv().is_err());
    bus.publish(
        "auth.changed",
        &AuthChangedParams { what: "password" },
        Scope::Read,
    );
    let event = listener.try_recv().unwrap();
    assert!(
        event.frame.contains(r#""params":{"what":"password"}"#),
        "{}",
        event.frame
    );
}

#[test]
fn remembered_approvals_and_subscribed_browsers_have_an_event() {
    assert_eq!(Records::of("allowed_calls"), Some(Records::Approvals));
    assert_eq!(Records::of("push"), Some(Records::Push));
}

#[test]
fn an_event_is_encoded_once_for_all_listeners() {
    let bus = EventBus::default();
    let mut listeners = [bus.subscribe(), bus.subscribe(), bus.subscribe()];
    bus.publish_records(Records::Inbox);
    let events = listeners.each_mut().map(|one| one.try_recv().unwrap());
    assert!(events[0].frame.contains("inbox"), "{}", events[0].frame);
    assert!(events.iter().all(|event| Arc::ptr_eq(event, &events[0])));
}

#[test]
fn a_subscriber_is_marked_as_lagging_at_1025_events_and_not_at_1024() {
    for (count, lagged) in [(1024, false), (1025, true)] {
        let bus = EventBus::default();
        let mut listener = bus.subscribe();
        for _ in 0..count {
            bus.publish(
                "auth.changed",
                &AuthChangedParams { what: "setup" },
                Scope::Read,
            );
        }
        assert_eq!(listener.try_recv().is_err(), lagged, "{count}");
    }
}
