//! Tests of the parent module.

use super::*;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn client(number: u32) -> Actor {
    let ip = IpAddr::V4(Ipv4Addr::from_bits(0xc000_0200 + number));
    Actor {
        name: "anonymous".into(),
        client_ip: Some(ip),
        client: ClientKey::of(ip),
    }
}

fn noted(first: bool) -> FailureRecord {
    FailureRecord {
        first,
        ended: Vec::new(),
    }
}

#[test]
fn a_minute_is_one_row_at_once_and_one_at_its_end() {
    let log = FailureLog::default();
    assert_eq!(log.note("login.failed", &client(1), at(5), 0), noted(true));
    for ms in [1, 59_999] {
        assert!(!log.note("login.failed", &client(1), at(6), ms).first);
    }
    assert!(
        log.note("login.failed", &client(2), at(6), 1).first,
        "another client"
    );
    assert!(
        log.note("connect.failed", &client(1), at(6), 1).first,
        "another kind"
    );
    assert!(log.take_ended(at(7), 59_999, false).is_empty());
    let ended = log.take_ended(at(7), 60_000, false);
    let expected = Summary {
        kind: "login.failed",
        actor: client(1),
        more: 2,
        since: at(5),
    };
    assert_eq!(ended, [expected]);
    assert!(log.note("login.failed", &client(1), at(7), 60_000).first);
}

#[test]
fn the_next_minute_returns_the_counts_of_the_last_one() {
    let log = FailureLog::default();
    log.note("k", &client(1), at(0), 0);
    log.note("k", &client(1), at(0), 1);
    let noted = log.note("k", &client(1), at(9), 60_000);
    assert!(noted.first);
    let more: Vec<_> = noted.ended.iter().map(|summary| summary.more).collect();
    assert_eq!(more, [1]);
    assert!(
        log.take_ended(at(9), 60_001, true).is_empty(),
        "nothing after the first"
    );
}

#[test]
fn beyond_a_hundred_rows_all_is_one() {
    let log = FailureLog::default();
    let firsts = (0..10_000).filter(|n| log.note("k", &client(*n), at(3), 0).first);
    assert_eq!(firsts.count(), 100);
    assert_eq!(log.lock().clients.len(), 100, "and few are remembered");
    log.note("k", &client(0), at(4), 1);
    let ended = log.take_ended(at(9), 60_000, false);
    let expected = Summary {
        kind: "k",
        actor: many_clients(),
        more: 9_901,
        since: at(3),
    };
    assert_eq!(ended, [expected]);
    assert!(log.note("k", &client(0), at(9), 60_001).first);
}

#[test]
fn the_counts_of_clients_are_rows_too() {
    let log = FailureLog::default();
    for number in 0..60 {
        log.note("k", &client(number), at(0), 0);
        log.note("k", &client(number), at(0), 0);
    }
    assert_eq!(log.take_ended(at(9), 60_000, false).len(), 60);
    let firsts = (0..60).filter(|n| log.note("k", &client(100 + n), at(9), 60_001).first);
    assert_eq!(firsts.count(), 40, "sixty of the hundred are taken");
    let stopped = log.take_ended(at(9), 60_002, true);
    let more: Vec<_> = stopped.iter().map(|summary| summary.more).collect();
    assert_eq!(more, [20], "nothing is lost at a stop");
}
