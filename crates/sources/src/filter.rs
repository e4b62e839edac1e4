//! Filters deliveries by event type.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Allow and deny lists of event types. An entry ending in `.*` matches every type with that prefix:
/// `issues.*` matches `issues.opened` but not `issues`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventFilter {
    /// Event types to accept. Empty accepts all.
    #[serde(default)]
    pub allow: Vec<String>,
    /// Event types to reject. Takes precedence over `allow`.
    #[serde(default)]
    pub deny: Vec<String>,
}

impl EventFilter {
    /// Returns whether a delivery of this type is processed. An unknown type passes only if `allow` is empty;
    /// `deny` never matches it.
    pub fn admits(&self, event_type: Option<&str>) -> bool {
        let allowed = self.allow.is_empty() || Self::lists(&self.allow, event_type);
        allowed && !Self::lists(&self.deny, event_type)
    }

    fn lists(entries: &[String], event_type: Option<&str>) -> bool {
        event_type.is_some_and(|event| entries.iter().any(|entry| matches(entry, event)))
    }
}

fn matches(entry: &str, event: &str) -> bool {
    match entry.strip_suffix(".*") {
        // Requires the dot and at least one character after it.
        Some(family) => event
            .strip_prefix(family)
            .and_then(|rest| rest.strip_prefix('.'))
            .is_some_and(|action| !action.is_empty()),
        None => entry == event,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(allow: &[&str], deny: &[&str]) -> EventFilter {
        let list = |entries: &[&str]| entries.iter().map(|&entry| entry.to_owned()).collect();
        EventFilter {
            allow: list(allow),
            deny: list(deny),
        }
    }

    #[test]
    fn empty_lists_take_everything() {
        assert!(filter(&[], &[]).admits(Some("push")));
        assert!(filter(&[], &[]).admits(None));
    }

    #[test]
    fn an_allow_list_takes_what_is_on_it() {
        let filter = filter(&["push", "issues.*"], &[]);
        for event in ["push", "issues.opened", "issues.opened.again"] {
            assert!(filter.admits(Some(event)), "{event}");
        }
        for event in [
            "Push",
            "push.",
            "pushed",
            "issues",
            "issues.",
            "issues_x.opened",
            "",
        ] {
            assert!(!filter.admits(Some(event)), "{event}");
        }
        assert!(!filter.admits(None));
    }

    #[test]
    fn a_deny_list_comes_last() {
        let filter = filter(&["issues.*", "push"], &["issues.closed", "push"]);
        assert!(filter.admits(Some("issues.opened")));
        assert!(!filter.admits(Some("issues.closed")));
        assert!(!filter.admits(Some("push")));
    }

    #[test]
    fn a_deny_list_alone_takes_the_rest_and_what_is_not_known() {
        let filter = filter(&[], &["issues.*"]);
        assert!(filter.admits(Some("push")));
        assert!(!filter.admits(Some("issues.opened")));
        assert!(filter.admits(None));
    }

    #[test]
    fn a_star_elsewhere_is_a_character() {
        for entry in ["*", "iss*", "*.opened", "issues*", "**"] {
            assert!(
                !filter(&[entry], &[]).admits(Some("issues.opened")),
                "{entry}"
            );
        }
        assert!(filter(&["iss*"], &[]).admits(Some("iss*")));
        // `.*` alone matches only types that start with a dot.
        assert!(!filter(&[".*"], &[]).admits(Some("push")));
    }
}
