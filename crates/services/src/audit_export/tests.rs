//! Tests of the parent module.

use super::*;
use gatehouse_store::AUDIT_GREW;
use tokio::sync::broadcast;

#[test]
fn rows_are_read_after_this_process_has_appended_some_and_now_and_then_in_any_case() {
    let grown = broadcast::Sender::new(2);
    let mut polls = Polls::new(grown.subscribe());
    let report = |subject: &str| drop(grown.send(Arc::from(subject)));
    assert!(polls.is_due(false), "at the start");
    for _ in 1..POLLS_WHEN_IDLE {
        report("settings");
        assert!(!polls.is_due(false));
    }
    assert!(polls.is_due(false), "at the limit");
    report(AUDIT_GREW);
    report("settings");
    assert!(polls.is_due(false));
    assert!(!polls.is_due(false));
    assert!(polls.is_due(true), "rows wait");
    // There are more changes than the channel can buffer.
    for _ in 0..3 {
        report("settings");
    }
    assert!(polls.is_due(false));
    assert!(!polls.is_due(false));
}
