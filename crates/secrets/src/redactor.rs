//! Removes the values of secrets from a server's responses.

mod escaped;

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};
use escaped::replace_escaped;
use serde_json::Value;
use std::fmt;

/// Removes the values of secrets from texts. Finds a value that is unchanged, percent-encoded, or escaped for
/// Markdown, JSON or HTML. Also finds a value within a longer text in Base64 or hexadecimal digits.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Pairs of a value and its placeholder.
    values: Vec<(String, String)>,
    /// Pairs of encoded text and placeholder. The encoded text is a part of a value in Base64 or hexadecimal
    /// digits.
    encoded: Vec<(String, String)>,
}

/// Maximum length of the escaped form of one byte of a value, in bytes: a numeric character reference with leading
/// zeros, from `&` to `;`.
const LONGEST_ESCAPE: usize = 17;
/// Maximum number of times that a character is percent-encoded. The result is shorter than [`LONGEST_ESCAPE`].
const PERCENT_DEPTH: usize = 3;
/// The minimum length of an encoded part that is removed. Shorter parts could occur in other texts. The parts in
/// Base64 of a value of 8 bytes have this length.
const LEAST_ENCODED: usize = 10;

/// Prints no fields, because they contain the secrets.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// Creates a redactor from pairs of a placeholder and the secret that it replaces.
    pub fn new<'v>(values: impl IntoIterator<Item = (String, &'v str)>) -> Self {
        let values = values.into_iter();
        let values: Vec<(String, String)> = values
            .map(|(place, value)| (value.to_owned(), place))
            .collect();
        let encoded = values.iter().flat_map(|(value, place)| {
            let parts = base64_parts(value).into_iter().chain(hex(value));
            parts.map(move |part| (part, place.clone()))
        });
        Self {
            encoded: sorted(encoded.collect()),
            values: sorted(values),
        }
    }

    /// Combines two redactors.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            values: sorted([self.values.clone(), other.values.clone()].concat()),
            encoded: sorted([self.encoded.clone(), other.encoded.clone()].concat()),
        }
    }

    /// Redacts the texts of a JSON value, including the names of members.
    pub fn redact_json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact(text)),
            Value::Array(items) => items.into_iter().map(|it| self.redact_json(it)).collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(name, value)| (self.redact(name), self.redact_json(value)))
                .collect(),
            other => other,
        }
    }

    /// Returns whether there are values to remove.
    pub const fn is_needed(&self) -> bool {
        !self.values.is_empty()
    }

    pub fn redact(&self, mut text: String) -> String {
        for (value, place) in &self.values {
            text = replace_escaped(text, value, place);
        }
        for (part, place) in &self.encoded {
            // Most texts contain no value, and this search is faster than the replacement.
            if text.contains(never_escaped(part)) {
                text = replace_escaped(text, part, place);
            }
        }
        text
    }

    /// Redacts a truncated text. Removes its end, which could be the beginning of a value.
    pub fn redact_cut(&self, text: String) -> String {
        let mut text = self.redact(text);
        // An encoded value is shorter than a value with the longest escapes.
        let longest = self.values.iter().map(|(value, _)| value.len()).max();
        let dropped = longest.unwrap_or(0).saturating_mul(LONGEST_ESCAPE);
        text.truncate(text.floor_char_boundary(text.len().saturating_sub(dropped)));
        text
    }
}

/// Returns the parts that are in any Base64 text that encodes a text with this value. There is one part for each
/// position of the value modulo 3. The first and the last character of an encoded value can depend on its
/// surroundings and are omitted.
fn base64_parts(value: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for encoding in [&BASE64_NOPAD, &BASE64URL_NOPAD] {
        for before in 0..3 {
            let mut bytes = vec![0; before];
            bytes.extend(value.bytes());
            let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
            let text = encoding.encode(&bytes);
            let part = text.get(start..end).map(str::to_owned);
            parts.extend(part.filter(|part| part.len() >= LEAST_ENCODED));
        }
    }
    parts
}

/// Returns the value in hexadecimal digits.
fn hex(value: &str) -> impl Iterator<Item = String> {
    let texts = [&HEXLOWER, &HEXUPPER].map(|encoding| encoding.encode(value.as_bytes()));
    texts.into_iter().filter(|text| text.len() >= LEAST_ENCODED)
}

/// Returns the longest run of letters and digits. The other characters of Base64 are escaped in some texts: `\/` in
/// JSON, `%2B` in URLs, `\_` in Markdown.
fn never_escaped(part: &str) -> &str {
    let runs = part.split(|c: char| !c.is_ascii_alphanumeric());
    runs.max_by_key(|run| run.len()).unwrap_or_default()
}

/// Sorts the longest values first, because a value may contain another one.
fn sorted(mut values: Vec<(String, String)>) -> Vec<(String, String)> {
    values.sort_by(|(one, _), (two, _)| two.len().cmp(&one.len()).then_with(|| one.cmp(two)));
    values.dedup();
    values
}

#[cfg(test)]
mod tests;
