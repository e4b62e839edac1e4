//! Finds the position of a member in a TOML text, for messages.

use toml::de::{DeTable, DeValue};

/// Returns the line of an offset, from 1.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    let before = text.bytes().take(offset);
    before.filter(|byte| *byte == b'\n').count() + 1
}

/// Returns the line of the member at this path of names and numbers, such as `verify.headers.0`. If the member is
/// absent, returns the line of its last existing ancestor.
pub(super) fn line_of(text: &str, path: &str) -> usize {
    let Ok(document) = DeTable::parse(text) else {
        return 1;
    };
    let mut line = 1;
    let mut parts = path.split('.');
    let Some((key, value)) = parts
        .next()
        .and_then(|part| document.get_ref().get_key_value(part))
    else {
        return line;
    };
    line = line_at(text, key.span().start);
    let mut value = value.get_ref();
    for part in parts {
        let next = match value {
            DeValue::Table(table) => table.get_key_value(part).map(|(key, value)| {
                line = line_at(text, key.span().start);
                value
            }),
            DeValue::Array(items) => part.parse().ok().and_then(|at: usize| {
                let item = items.get(at)?;
                line = line_at(text, item.span().start);
                Some(item)
            }),
            _ => None,
        };
        match next {
            Some(next) => value = next.get_ref(),
            None => break,
        }
    }
    line
}
