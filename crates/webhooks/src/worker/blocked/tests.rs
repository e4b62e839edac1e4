use super::*;
use futures_util::FutureExt;

#[test]
fn only_a_delivery_that_may_run_wakes_the_worker() {
    let hooks = ["hook_a", "hook_b", "hook_c"].map(WebhookId::from_text);
    let [a, b, c] = &hooks;
    let signal = WorkerSignal::default();
    let wakes = |lines: &[(&WebhookId, &str)]| {
        signal.stored(lines.iter().copied());
        signal.wake.notified().now_or_never().is_some()
    };
    let block = |lines: &[(&str, &WebhookId)]| {
        let lines = lines
            .iter()
            .map(|(target, hook)| ((*target).to_owned(), (*hook).clone()));
        signal.blocked.replace(lines);
    };
    assert!(wakes(&[(a, "http:slow")]));
    block(&[("http:slow", a), ("", b)]);
    assert!(!wakes(&[(a, "http:slow")]));
    assert!(!wakes(&[(a, "http:slow"), (b, "")]));
    assert!(wakes(&[(a, "http:slow"), (a, "inbox")]));
    assert!(wakes(&[(b, "http:slow")]));
    assert!(wakes(&[(c, "")]));
    block(&[("inbox", a)]);
    assert!(wakes(&[(a, "http:slow")]));
    block(&[("http:slow", a)]);
    signal.blocked.clear();
    assert!(wakes(&[(a, "http:slow")]));
}
