//! Suggests the known name that an unknown one was probably meant to be.

use crate::alias;
use crate::key::ID;
use crate::key_table::describe;
use crate::nearest::nearest;
use std::collections::BTreeSet;

/// The closest setting.
pub(crate) fn key(name: &str) -> Option<String> {
    let keys: Vec<String> = describe()
        .iter()
        .flat_map(|spec| {
            let other = alias::other_spelling(spec.key);
            std::iter::once(with_id_of(name, spec.key)).chain(other)
        })
        .collect();
    nearest(name, keys.iter().map(String::as_str))
}

/// The closest section.
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
    nearest(name, sections)
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
