//! The stored state of failed health checks, and the messages that result from the next run of the checks. Does no I/O.

mod look;
mod message;

use super::Message;
use crate::doctor::check::{Check, Subject};
use gatehouse_domain::Timestamp;
use look::Key;
pub(super) use look::Look;
use message::{AllNews, ended_message, failed_message};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How long a failure must last before it is reported.
const SETTLED_MS: i64 = 5 * 60_000;
/// How long a node may not run its checks before its failures are dropped. It is then gone, or has a different name.
const GONE_MS: i64 = 3_600_000;
/// How often a node stores that it still runs its checks.
const SEEN_MS: i64 = 10 * 60_000;

/// The stored state of a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failing {
    since: Timestamp,
    /// Whether it was reported.
    #[serde(rename = "told")]
    is_sent: bool,
    /// The targets to which it was reported.
    #[serde(default)]
    targets: BTreeSet<String>,
    /// The display name of the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// When the node last ran the check. The error is up to [`SEEN_MS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen: Option<Timestamp>,
}

/// The failures by [`Key`]. Earlier versions read and write the same entries, but without subjects.
pub(super) type State = BTreeMap<String, Failing>;

/// Compares the checks with the stored state. Returns the messages that are due, with their targets.
pub(super) fn advance(state: &mut State, look: &Look) -> Vec<(String, Message)> {
    adopt(state, look);
    let mut news = AllNews::new();
    note_ended(state, look, &mut news);
    for check in &look.checks {
        for (key, subject) in look.failures(check) {
            note_failing(state, look, (key, subject, check), &mut news);
        }
    }
    let messages = news.into_iter().flat_map(|((target, label), news)| {
        let check = look.find(Key::parse(&label).check);
        let both = [
            failed_message(&label, &news, check),
            ended_message(&label, &news, check),
        ];
        let messages = both.into_iter().flatten();
        messages
            .map(|message| (target.clone(), message))
            .collect::<Vec<_>>()
    });
    messages.collect()
}

/// Adapts the entries of earlier versions, of changed targets and of earlier names of this node.
fn adopt(state: &mut State, look: &Look) {
    for (text, mut failing) in std::mem::take(state) {
        let key = Key::parse(&text);
        if failing.is_sent && failing.targets.is_empty() {
            failing.targets.clone_from(&look.targets);
        }
        // Other nodes may have other targets.
        if look.node.is_none() {
            failing.targets.retain(|it| look.targets.contains(it));
            failing.is_sent = !failing.targets.is_empty();
        }
        if let Some(keys) = look.subjects_of(key) {
            for key in keys {
                state.entry(key).or_insert_with(|| failing.clone());
            }
            continue;
        }
        if look.node.is_none() && key.node.is_some() {
            let alone = Key { node: None, ..key }.text();
            state.entry(alone).or_insert(failing);
            continue;
        }
        let own = look.node_of(key.check);
        if key.node.is_none() && own.is_some() {
            state
                .entry(Key { node: own, ..key }.text())
                .or_insert(failing);
            continue;
        }
        if key.node.is_some() && key.node != look.node.as_deref() {
            let seen = *failing.seen.get_or_insert(look.now);
            if age(seen, look.now) >= GONE_MS {
                continue;
            }
        }
        state.insert(text, failing);
    }
}

fn age(at: Timestamp, now: Timestamp) -> i64 {
    now.as_millis().saturating_sub(at.as_millis())
}

fn note_ended(state: &mut State, look: &Look, news: &mut AllNews) {
    state.retain(|text, failing| {
        let key = Key::parse(text);
        if !look.ends(key) {
            return true;
        }
        // A check that is turned off does not count as passed. If a check now has subjects, their failures are
        // reported instead.
        let check = look.find(key.check);
        let has_moved = key.subject.is_none() && check.is_some_and(|check| !check.ok);
        if check.is_none() || has_moved {
            return false;
        }
        for target in &failing.targets {
            let news = news.entry((target.clone(), key.label())).or_default();
            news.ended = true;
            news.names.extend(failing.name.clone());
        }
        false
    });
}

fn note_failing(
    state: &mut State,
    look: &Look,
    (key, subject, check): (Key<'_>, Option<&Subject>, &Check),
    news: &mut AllNews,
) {
    let failing = state.entry(key.text()).or_insert_with(|| Failing {
        since: look.now,
        is_sent: false,
        targets: BTreeSet::new(),
        name: None,
        seen: None,
    });
    failing.name = subject.map(|subject| subject.name.clone());
    let is_fresh = failing
        .seen
        .is_some_and(|seen| age(seen, look.now) < SEEN_MS);
    if key.node.is_some() && !is_fresh {
        failing.seen = Some(look.now);
    }
    if age(failing.since, look.now) < SETTLED_MS {
        return;
    }
    for target in &look.targets {
        if failing.targets.insert(target.clone()) {
            let text = subject.map_or(&check.message, |subject| &subject.message);
            let news = news.entry((target.clone(), key.label())).or_default();
            news.failed.push(text.clone());
        }
    }
    failing.is_sent = true;
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
