//! The results of one run of the health checks.

use crate::doctor::check::{Check, Subject};
use gatehouse_domain::Timestamp;
use std::collections::BTreeSet;

/// Checks whose result differs between nodes.
const OF_NODE: [&str; 7] = [
    "disk",
    "clock",
    "certificate",
    "channels",
    "audit_export",
    "profiles",
    "schedules",
];

/// Checks that do not run if a setting turns their subject off.
const OPTIONAL: [&str; 7] = [
    "certificate",
    "backup",
    "backup_drill",
    "backup_encrypted",
    "audit_export",
    "profiles",
    "schedules",
];

/// The results of the checks.
pub(in super::super) struct Look {
    pub(in super::super) checks: Vec<Check>,
    /// The name of this node if others may share the database.
    pub(in super::super) node: Option<String>,
    /// The channels that get messages.
    pub(in super::super) targets: BTreeSet<String>,
    pub(in super::super) now: Timestamp,
}

/// A key: `check`, `check/subject`, `check@node` or `check/subject@node`. Checks and subjects contain neither `/`
/// nor `@`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    pub(super) check: &'a str,
    pub(super) subject: Option<&'a str>,
    pub(super) node: Option<&'a str>,
}

impl<'a> Key<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let (rest, node) = match text.split_once('@') {
            Some((rest, node)) => (rest, Some(node)),
            None => (text, None),
        };
        let (check, subject) = match rest.split_once('/') {
            Some((check, subject)) => (check, Some(subject)),
            None => (rest, None),
        };
        Self {
            check,
            subject,
            node,
        }
    }

    pub(super) fn text(self) -> String {
        let subject = self.subject.map(|subject| format!("/{subject}"));
        let node = self.node.map(|node| format!("@{node}"));
        let (subject, node) = (subject.unwrap_or_default(), node.unwrap_or_default());
        format!("{}{subject}{node}", self.check)
    }

    /// Returns the name of the check for messages.
    pub(super) fn label(self) -> String {
        Key {
            subject: None,
            ..self
        }
        .text()
    }
}

impl Look {
    /// Returns the node in the keys of a check. For other checks, [`Check::is_of_node`] adds the node to the keys
    /// of a failure.
    pub(super) fn node_of(&self, check: &str) -> Option<&str> {
        self.node.as_deref().filter(|_| OF_NODE.contains(&check))
    }

    pub(super) fn find(&self, check: &str) -> Option<&Check> {
        self.checks.iter().find(|it| it.id == check)
    }

    /// Returns the failures of a check: one per subject, or a single one.
    pub(super) fn failures<'a>(&'a self, check: &'a Check) -> Vec<(Key<'a>, Option<&'a Subject>)> {
        let key = |subject: Option<&'a Subject>| Key {
            check: check.id,
            subject: subject.map(|subject| subject.id.as_str()),
            node: if check.is_of_node {
                self.node.as_deref()
            } else {
                self.node_of(check.id)
            },
        };
        if check.ok {
            return Vec::new();
        }
        if check.subjects.is_empty() {
            return vec![(key(None), None)];
        }
        let subjects = check.subjects.iter().map(Some);
        subjects.map(|subject| (key(subject), subject)).collect()
    }

    /// Returns the keys of the subjects that currently fail a check, if the given key has no subject. Earlier
    /// versions reported the check as a whole.
    pub(super) fn subjects_of(&self, key: Key<'_>) -> Option<Vec<String>> {
        let check = self.find(key.check)?;
        let is_whole = key.subject.is_none() && key.node == self.node_of(key.check);
        let has_subjects = !check.ok && !check.subjects.is_empty();
        let keys = || self.failures(check).into_iter().map(|(key, _)| key.text());
        (is_whole && has_subjects).then(|| keys().collect())
    }

    /// Returns whether this run of the checks proves that the failure has ended.
    pub(super) fn ends(&self, key: Key<'_>) -> bool {
        let is_of_other = key.node.is_some() && key.node != self.node.as_deref();
        if is_of_other {
            return false;
        }
        if let Some(check) = self.find(key.check) {
            let failures = self.failures(check);
            // A failure that affects only this node hides whether the check of the installation would pass.
            let is_hidden = key.node.is_none() && failures.iter().any(|(it, _)| it.node.is_some());
            return !is_hidden && !failures.iter().any(|(other, _)| *other == key);
        }
        // Other nodes may have the setting.
        let is_own = self.node.is_none() || key.node.is_some();
        let is_known = self.find("database").is_some_and(|database| database.ok);
        is_own && is_known && OPTIONAL.contains(&key.check)
    }
}
