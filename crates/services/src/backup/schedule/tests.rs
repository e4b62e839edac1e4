//! Tests of the parent module.

use super::*;

#[test]
fn without_a_schedule_the_newest_backup_is_named() {
    let entry = |at: &str| Entry {
        path: "/backups/one".into(),
        created_at: at.parse().unwrap(),
        bytes: 1,
        is_encrypted: false,
    };
    let found = vec![entry("2026-01-02T00:00:00Z"), entry("2026-01-01T00:00:00Z")];
    for (listed, named) in [
        (Some(found), "of 2026-01-02T00:00:00"),
        (Some(Vec::new()), "contains none"),
        (None, "No backups are scheduled."),
    ] {
        let check = unscheduled(listed.as_deref());
        assert!(
            check.ok && check.hint.is_some() && check.message.contains(named),
            "{check:?}"
        );
    }
}

#[tokio::test]
async fn the_lease_is_renewed_until_the_work_is_done() {
    let renewals = std::cell::Cell::new(0);
    let work = std::future::poll_fn(|_| match renewals.get() {
        3 => std::task::Poll::Ready("done"),
        _ => std::task::Poll::Pending,
    });
    let renew = || async { renewals.set(renewals.get() + 1) };
    let done = while_renewing(Duration::from_millis(1), work, renew).await;
    assert_eq!((done, renewals.get()), ("done", 3));
}
