//! The known name that a mistaken one was probably meant to be.

use crate::alias;
use crate::key::{ID, describe};
use std::collections::BTreeSet;
use strsim::damerau_levenshtein;

/// The nearest of the names.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .min_by_key(|known| distance(name, known))
        .map(str::to_owned)
}

/// The nearest, when it is near enough to be a slip of the finger.
pub(crate) fn close<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, known).filter(|known| damerau_levenshtein(name, known) <= 2)
}

/// The nearest setting.
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

/// The nearest section.
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

/// The right name in the wrong section is nearer than a wrong name.
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

/// `models.providers.<id>.kind` with the id that the mistaken name already has.
fn with_id_of(name: &str, pattern: &str) -> String {
    let given = pattern
        .split_once(ID)
        .and_then(|(head, _)| name.strip_prefix(head))
        .and_then(|rest| rest.split('.').next())
        .filter(|id| !id.is_empty());
    given.map_or_else(|| pattern.to_owned(), |id| pattern.replace(ID, id))
}
