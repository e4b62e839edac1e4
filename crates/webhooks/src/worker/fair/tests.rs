//! Tests of the parent module.

use super::*;
use gatehouse_domain::Timestamp;

const LIMITS: Limits = Limits {
    agent: 4,
    send: 16,
    per_webhook: 8,
    per_account: 8,
};

fn candidate(target: &str, webhook: &str) -> Candidate {
    Candidate {
        line: DeliveryLine {
            target: target.to_owned(),
            webhook_id: WebhookId::from_text(webhook),
            due: Timestamp::from_millis(0),
        },
        account: Some(Arc::from(target)).filter(|_| target.starts_with("http")),
        is_local: target == "inbox",
        room: usize::MAX,
    }
}

fn shares(takes: &[Take]) -> Vec<(&str, &str, usize)> {
    takes
        .iter()
        .map(|take| (take.target.as_str(), take.webhook_id.as_str(), take.limit))
        .collect()
}

#[test]
fn one_line_gets_what_its_limits_allow() {
    let of = |candidate| plan(&[candidate], LIMITS, Load::default(), &Served::default());
    assert_eq!(shares(&of(candidate("", "a"))), [("", "a", 4)]);
    assert_eq!(shares(&of(candidate("http:x", "a"))), [("http:x", "a", 8)]);
    assert_eq!(shares(&of(candidate("inbox", "a"))), [("inbox", "a", 16)]);
    let probe = Candidate {
        room: 1,
        ..candidate("http:x", "a")
    };
    assert_eq!(shares(&of(probe)), [("http:x", "a", 1)]);
    let probes = ["a", "b"].map(|webhook| Candidate {
        room: 1,
        ..candidate("http:x", webhook)
    });
    let takes = plan(&probes, LIMITS, Load::default(), &Served::default());
    assert_eq!(
        shares(&takes),
        [("http:x", "a", 1)],
        "one probe for the account"
    );
}

#[test]
fn neither_pool_takes_from_the_other_and_no_line_from_its_neighbours() {
    let lines = [
        candidate("", "a"),
        candidate("http:x", "a"),
        candidate("http:x", "b"),
        candidate("http:y", "c"),
    ];
    let takes = plan(&lines, LIMITS, Load::default(), &Served::default());
    let expected = [
        ("", "a", 4),
        ("http:x", "a", 4),
        ("http:x", "b", 4),
        ("http:y", "c", 8),
    ];
    assert_eq!(
        shares(&takes),
        expected,
        "the account x takes 8, the webhook a too"
    );
}

#[test]
fn what_runs_counts() {
    let load = Load {
        agent: 4,
        send: 15,
        webhooks: HashMap::from([(WebhookId::from_text("b"), 8)]),
        accounts: HashMap::from([(Arc::from("http:x"), 8)]),
    };
    let lines = [
        candidate("", "a"),
        candidate("http:x", "a"),
        candidate("http:y", "b"),
        candidate("http:y", "c"),
        candidate("inbox", "d"),
    ];
    let takes = plan(&lines, LIMITS, load, &Served::default());
    assert_eq!(shares(&takes), [("http:y", "c", 1)]);
}

#[test]
fn with_more_lines_than_slots_each_has_its_turn() {
    let names = ["a", "b", "c", "d", "e"];
    let lines = names.map(|name| candidate("", name));
    let limits = Limits { agent: 2, ..LIMITS };
    let (mut served, mut order) = (Served::default(), Vec::new());
    for _ in 0..5 {
        let takes = plan(&lines, limits, Load::default(), &served);
        order.extend(takes.iter().map(|take| take.webhook_id.as_str().to_owned()));
        let last = takes.last().unwrap();
        served.note(&last.target, &last.webhook_id);
        served.note("http:x", &WebhookId::from_text("z"));
    }
    assert_eq!(order, ["a", "b", "c", "d", "e", "a", "b", "c", "d", "e"]);
}
