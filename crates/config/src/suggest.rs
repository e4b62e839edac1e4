//! Suggests the known name that an unknown one was probably meant to be.

use crate::alias;
use crate::key::{ID, describe};
use std::collections::BTreeSet;
use strsim::damerau_levenshtein;

/// The closest name.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .min_by_key(|known| distance(name, known))
        .map(str::to_owned)
}

/// The closest name within two edits, likely a typing error.
pub(crate) fn close<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, known).filter(|known| damerau_levenshtein(name, known) <= 2)
}

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

/// A correct name in the wrong section counts as closer than a wrong name.
fn distance(name: &str, known: &str) -> usize {
    let tail = |text: &str| {
        text.rsplit(['.', '/'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let moved = damerau_levenshtein(&tail(name), &tail(known)) + 2;
    damerau_levenshtein(name, known).min(moved)
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
