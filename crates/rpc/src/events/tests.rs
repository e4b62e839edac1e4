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
