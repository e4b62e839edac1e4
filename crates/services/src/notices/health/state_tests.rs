//! Tests of the parent module.

use super::*;

const MINUTE: i64 = 60_000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + ms)
}

fn fine(id: &'static str) -> Check {
    Check::fine(id, "fine")
}

fn bad(id: &'static str) -> Check {
    Check::bad(id, "bad", "hint")
}

/// Returns a failed check of senders.
fn silent(names: &[&str]) -> Check {
    let subject = |name: &&str| Subject {
        id: format!("wh_{name}"),
        name: (*name).to_owned(),
        message: format!("{name} is silent."),
    };
    bad("senders").about(names.iter().map(subject).collect())
}

/// A node's state and settings.
struct Node {
    state: State,
    name: Option<&'static str>,
    targets: Vec<&'static str>,
}

impl Node {
    fn alone() -> Self {
        Self {
            state: State::new(),
            name: None,
            targets: vec!["inbox"],
        }
    }

    /// Returns the messages after these results, as `target: headline details`.
    fn messages(&mut self, checks: &[Check], ms: i64) -> Vec<String> {
        let look = Look {
            checks: checks.to_vec(),
            node: self.name.map(str::to_owned),
            targets: self.targets.iter().map(|it| (*it).to_owned()).collect(),
            now: at(ms),
        };
        let messages = advance(&mut self.state, &look).into_iter();
        messages
            .map(|(target, it)| format!("{target}: {} {}", it.headline, it.details.join(" ")))
            .collect()
    }
}

#[test]
fn a_failure_that_lasts_is_reported_once_and_so_is_its_end() {
    let mut node = Node::alone();
    let (failed, passes) = ([bad("queue")], [fine("queue")]);
    assert!(node.messages(&failed, 0).is_empty());
    assert!(node.messages(&failed, SETTLED_MS - 1).is_empty());
    assert_eq!(
        node.messages(&failed, SETTLED_MS),
        ["inbox: The health check queue failed. bad hint"]
    );
    assert!(node.messages(&failed, SETTLED_MS + 1).is_empty());
    assert_eq!(
        node.messages(&passes, SETTLED_MS + 2),
        ["inbox: The health check queue passes again. fine"]
    );
    assert!(node.messages(&passes, SETTLED_MS + 3).is_empty());
    assert!(node.state.is_empty());
}

/// A run without changes writes nothing to the database.
#[test]
fn checks_that_did_not_change_leave_the_state_as_it_is() {
    for name in [None, Some("a")] {
        let mut node = Node {
            name,
            ..Node::alone()
        };
        let checks = [fine("queue"), bad("disk"), silent(&["x"])];
        for changed in [0, SETTLED_MS] {
            node.messages(&checks, changed);
            let state = node.state.clone();
            assert!(node.messages(&checks, changed + MINUTE).is_empty());
            assert_eq!(node.state, state, "{name:?}");
        }
        // A node without failures stores nothing.
        node.state.clear();
        assert!(node.messages(&[fine("queue")], SETTLED_MS).is_empty());
        assert!(node.state.is_empty());
    }
}

#[test]
fn a_short_failure_is_not_reported() {
    let mut node = Node::alone();
    assert!(node.messages(&[bad("queue")], 0).is_empty());
    assert!(node.messages(&[fine("queue")], MINUTE).is_empty());
    assert!(node.messages(&[bad("queue")], SETTLED_MS).is_empty());
}

#[test]
fn each_sender_is_reported_when_it_stops_and_when_it_sends_again() {
    let mut node = Node::alone();
    node.messages(&[silent(&["a", "b"])], 0);
    assert_eq!(
        node.messages(&[silent(&["a", "b"])], SETTLED_MS),
        ["inbox: The health check senders failed. a is silent. b is silent. hint"]
    );
    assert!(
        node.messages(&[silent(&["a", "b", "c"])], 6 * MINUTE)
            .is_empty()
    );
    assert_eq!(
        node.messages(&[silent(&["a", "b", "c"])], 11 * MINUTE),
        ["inbox: The health check senders failed. c is silent. hint"]
    );
    assert_eq!(
        node.messages(&[silent(&["b"])], 12 * MINUTE),
        ["inbox: The health check senders passes again for a, c. It still fails: bad"]
    );
    assert_eq!(
        node.messages(&[fine("senders")], 13 * MINUTE),
        ["inbox: The health check senders passes again. fine"]
    );
    // The sender can stop a second time.
    node.messages(&[silent(&["a"])], 14 * MINUTE);
    assert_eq!(node.messages(&[silent(&["a"])], 19 * MINUTE).len(), 1);
}

#[test]
fn new_targets_get_what_fails_once_and_the_others_nothing() {
    let mut node = Node::alone();
    let failed = [bad("queue"), silent(&["a"])];
    node.messages(&failed, 0);
    assert_eq!(node.messages(&failed, SETTLED_MS).len(), 2);
    node.targets = vec!["inbox", "slack"];
    assert_eq!(
        node.messages(&failed, 6 * MINUTE),
        [
            "slack: The health check queue failed. bad hint",
            "slack: The health check senders failed. a is silent. hint",
        ]
    );
    assert!(node.messages(&failed, 7 * MINUTE).is_empty());
    node.targets = vec!["slack"];
    assert!(node.messages(&failed, 8 * MINUTE).is_empty());
    assert_eq!(
        node.messages(&[fine("queue"), silent(&["a"])], 9 * MINUTE),
        ["slack: The health check queue passes again. fine"]
    );
    // A target that is removed and added again gets the message, like a new target.
    node.targets = vec!["inbox", "slack"];
    let messages = node.messages(&[fine("queue"), silent(&["a"])], 10 * MINUTE);
    assert_eq!(
        messages,
        ["inbox: The health check senders failed. a is silent. hint"]
    );
}

#[test]
fn the_only_node_of_a_database_may_get_another_name() {
    let failing = |is_sent| Failing {
        since: at(0),
        is_sent,
        targets: BTreeSet::new(),
        name: None,
        seen: None,
    };
    // The stored form of an earlier version.
    let mut node = Node::alone();
    node.state = State::from([("disk@old".to_owned(), failing(true))]);
    assert!(node.messages(&[bad("disk")], MINUTE).is_empty());
    assert_eq!(node.state.keys().collect::<Vec<_>>(), ["disk"]);
    assert_eq!(
        node.messages(&[fine("disk")], 2 * MINUTE),
        ["inbox: The health check disk passes again. fine"]
    );
}

#[test]
fn the_disk_of_another_node_is_another_disk_until_that_node_is_gone() {
    let mut one = Node::alone();
    one.name = Some("n1");
    one.messages(&[bad("disk")], 0);
    assert_eq!(
        one.messages(&[bad("disk")], SETTLED_MS),
        ["inbox: The health check disk@n1 failed. bad hint"]
    );
    let mut two = Node {
        state: one.state.clone(),
        name: Some("n2"),
        targets: vec!["inbox"],
    };
    assert!(two.messages(&[fine("disk")], SETTLED_MS).is_empty());
    assert_eq!(two.state.keys().collect::<Vec<_>>(), ["disk@n1"]);
    // The other node still runs its checks.
    one.state = two.state;
    one.messages(&[bad("disk")], 40 * MINUTE);
    two.state = one.state;
    two.messages(&[fine("disk")], 90 * MINUTE);
    assert_eq!(two.state.len(), 1);
    assert!(two.messages(&[fine("disk")], 100 * MINUTE).is_empty());
    assert!(two.state.is_empty());
}

#[test]
fn a_failure_of_one_node_in_a_check_of_all_is_not_ended_by_the_others() {
    let of_node = || bad("backup").of_this_node();
    let mut state = State::new();
    let mut look = |name: &'static str, check: Check, ms: i64| {
        let mut node = Node {
            state: std::mem::take(&mut state),
            name: Some(name),
            targets: vec!["inbox"],
        };
        let messages = node.messages(&[fine("database"), check], ms);
        state = node.state;
        messages
    };
    // The other node has the directory.
    for minute in 0..5 {
        assert!(look("n1", of_node(), minute * MINUTE).is_empty());
        assert!(look("n2", fine("backup"), minute * MINUTE).is_empty());
    }
    assert_eq!(
        look("n1", of_node(), SETTLED_MS),
        ["inbox: The health check backup@n1 failed. bad hint"]
    );
    assert!(look("n2", fine("backup"), SETTLED_MS).is_empty());
    assert_eq!(
        look("n1", fine("backup"), SETTLED_MS + MINUTE),
        ["inbox: The health check backup@n1 passes again. fine"]
    );
    // A failed backup is reported once.
    assert!(look("n1", bad("backup"), 10 * MINUTE).is_empty());
    assert!(look("n2", bad("backup"), 14 * MINUTE).is_empty());
    assert_eq!(
        look("n2", bad("backup"), 15 * MINUTE),
        ["inbox: The health check backup failed. bad hint"]
    );
    assert!(look("n1", bad("backup"), 15 * MINUTE).is_empty());
    assert_eq!(
        look("n1", fine("backup"), 16 * MINUTE),
        ["inbox: The health check backup passes again. fine"]
    );
}

#[test]
fn a_failure_of_all_is_reported_while_one_node_has_a_failure_of_its_own() {
    let mut state = State::new();
    let mut look = |name: &'static str, check: Check, ms: i64| {
        let mut node = Node {
            state: std::mem::take(&mut state),
            name: Some(name),
            targets: vec!["inbox"],
        };
        let messages = node.messages(&[fine("database"), check], ms);
        state = node.state;
        messages
    };
    for minute in 0..5 {
        assert!(look("n2", bad("backup"), minute * MINUTE).is_empty());
        assert!(look("n1", bad("backup").of_this_node(), minute * MINUTE).is_empty());
    }
    assert_eq!(
        look("n2", bad("backup"), SETTLED_MS),
        ["inbox: The health check backup failed. bad hint"]
    );
    assert_eq!(
        look("n1", bad("backup").of_this_node(), SETTLED_MS),
        ["inbox: The health check backup@n1 failed. bad hint"]
    );
    assert_eq!(
        look("n2", fine("backup"), SETTLED_MS + MINUTE),
        ["inbox: The health check backup passes again. fine"]
    );
    assert_eq!(
        look("n1", fine("backup"), SETTLED_MS + MINUTE),
        ["inbox: The health check backup@n1 passes again. fine"]
    );
}

#[test]
fn the_only_node_does_not_name_itself_in_a_failure_of_its_own() {
    let mut node = Node::alone();
    node.messages(&[bad("backup").of_this_node()], 0);
    let failed = node.messages(&[bad("backup").of_this_node()], SETTLED_MS);
    assert_eq!(failed, ["inbox: The health check backup failed. bad hint"]);
    let ended = node.messages(&[fine("backup")], SETTLED_MS + MINUTE);
    assert_eq!(ended, ["inbox: The health check backup passes again. fine"]);
}

#[test]
fn a_check_that_is_turned_off_is_forgotten_and_one_that_cannot_run_is_not() {
    let mut node = Node::alone();
    let failed = [fine("database"), bad("backup"), silent(&["a"])];
    node.messages(&failed, 0);
    assert_eq!(node.messages(&failed, SETTLED_MS).len(), 2);
    assert!(node.messages(&[bad("database")], 6 * MINUTE).is_empty());
    assert_eq!(node.state.len(), 3);
    assert!(node.messages(&[fine("database")], 7 * MINUTE).is_empty());
    assert_eq!(node.state.keys().collect::<Vec<_>>(), ["senders/wh_a"]);
    assert!(
        node.messages(&[silent(&["a"])], MINUTE + SETTLED_MS)
            .is_empty()
    );
    let ended = node.messages(&[fine("senders")], 2 * SETTLED_MS);
    assert_eq!(ended.len(), 1, "it was reported before: {ended:?}");
}

#[test]
fn nodes_with_different_targets_report_a_failure_once_each() {
    let mut one = Node {
        name: Some("one"),
        ..Node::alone()
    };
    assert!(one.messages(&[bad("queue")], 0).is_empty());
    assert_eq!(one.messages(&[bad("queue")], SETTLED_MS).len(), 1);
    let mut two = Node {
        state: one.state.clone(),
        name: Some("two"),
        targets: vec!["ops"],
    };
    assert_eq!(two.messages(&[bad("queue")], SETTLED_MS + MINUTE).len(), 1);
    one.state = two.state;
    assert!(
        one.messages(&[bad("queue")], SETTLED_MS + 2 * MINUTE)
            .is_empty()
    );
    let ended = one.messages(&[fine("queue")], SETTLED_MS + 3 * MINUTE);
    assert_eq!(ended.len(), 2, "both targets hear of the end: {ended:?}");
}

#[test]
fn an_entry_of_an_earlier_version_is_replaced_by_its_subjects() {
    let mut node = Node::alone();
    let stored = serde_json::json!({ "senders": { "since": at(0), "told": true } });
    node.state = serde_json::from_value(stored).unwrap();
    assert!(node.messages(&[silent(&["a"])], MINUTE).is_empty());
    assert_eq!(node.state.keys().collect::<Vec<_>>(), ["senders/wh_a"]);
}
