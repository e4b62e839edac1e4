//! Suggests the known name that is closest to an unknown name.

use crate::alias;
use crate::key::ID;
use crate::key_table::describe;
use crate::nearest::{distance, nearest};
use std::collections::BTreeSet;

/// Returns the closest setting.
pub(crate) fn key(name: &str) -> Option<String> {
    let keys: Vec<String> = describe()
        .iter()
        .flat_map(|spec| {
            let other = alias::other_spelling(spec.key);
            std::iter::once(with_id_of(name, spec.key)).chain(other)
        })
        .collect();
    nearest(name, keys.iter().map(String::as_str)).filter(|key| is_likely(name, key))
}

/// Returns the closest section.
pub(crate) fn section(name: &str) -> Option<String> {
    let aliases: Vec<String> = alias::tables()
        .map(|(section, _, alias)| format!("{section}.{alias}"))
        .collect();
    let sections: BTreeSet<&str> = describe()
        .iter()
        .flat_map(|spec| {
            spec.key
                .match_indices('.')
                .filter_map(|(at, _)| spec.key.get(..at))
        })
        .filter(|section| !section.ends_with(ID))
        .chain(aliases.iter().map(String::as_str))
        .collect();
    nearest(name, sections).filter(|section| is_likely(name, section))
}

/// Returns whether at most half of the name differs.
fn is_likely(name: &str, known: &str) -> bool {
    distance(name, known) <= name.chars().count().div_ceil(2).max(3)
}

/// Replaces `<id>` in a pattern such as `models.providers.<id>.kind` with the ID from the unknown
/// name.
fn with_id_of(name: &str, pattern: &str) -> String {
    let given = pattern
        .split_once(ID)
        .and_then(|(head, _)| name.strip_prefix(head))
        .and_then(|rest| rest.split('.').next())
        .filter(|id| !id.is_empty());
    given.map_or_else(|| pattern.to_owned(), |id| pattern.replace(ID, id))
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn only_likely_names_are_suggested() {
        let suggested = key("server.bnid");
        assert_eq!(suggested.as_deref(), Some("server.bind"));
        assert_eq!(key("srver"), None);
        assert_eq!(key("rqzxk"), None);
    }
}
