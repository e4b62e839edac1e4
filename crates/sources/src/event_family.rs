//! Families of event types.

/// Returns whether an event type equals `family` or starts with it and a dot.
pub(crate) fn in_family(event: &str, family: &str) -> bool {
    event
        .strip_prefix(family)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
