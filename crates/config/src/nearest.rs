//! Finds the known name that is closest to an unknown one.

use strsim::damerau_levenshtein;

/// Returns the closest name.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .min_by_key(|known| distance(name, known))
        .map(str::to_owned)
}

/// Returns the closest name within two edits, which suggests a typing error.
pub(crate) fn close<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, known).filter(|known| damerau_levenshtein(name, known) <= 2)
}

/// Returns the number of edits. A correct name in the wrong section counts as closer than a wrong name.
pub(crate) fn distance(name: &str, known: &str) -> usize {
    let tail = |text: &str| {
        text.rsplit(['.', '/'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let moved = damerau_levenshtein(&tail(name), &tail(known)) + 2;
    damerau_levenshtein(name, known).min(moved)
}
