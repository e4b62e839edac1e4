//! Removes the values of secrets from a server's answers.

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};
use serde_json::Value;
use std::fmt;

/// Removes the values of secrets from texts: unchanged, percent-encoded, escaped for Markdown, JSON or HTML, and as
/// parts of texts in Base64.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Pairs of a value and its placeholder.
    values: Vec<(String, String)>,
    /// Pairs of a part of a text in Base64 and the placeholder of the value that it encodes.
    encoded: Vec<(String, String)>,
}

/// Maximum length of the escaped form of one byte of a value, in bytes: a numeric character reference with leading
/// zeros, from `&` to `;`.
const LONGEST_ESCAPE: usize = 17;
/// Shorter parts of texts in Base64 are not removed, because other texts could contain them. The parts of a value of 8
/// bytes have this length.
const LEAST_ENCODED: usize = 10;

/// Shows nothing, as it contains the secrets.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// Takes pairs of a placeholder and the secret that it replaces.
    pub fn new<'v>(values: impl IntoIterator<Item = (String, &'v str)>) -> Self {
        let values = values.into_iter();
        let values: Vec<(String, String)> = values
            .map(|(place, value)| (value.to_owned(), place))
            .collect();
        let encoded = values.iter().flat_map(|(value, place)| {
            let parts = base64_parts(value).into_iter();
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

    /// Whether there are values to remove.
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

    /// Redacts a text that was cut off. Drops its end, which could be the beginning of a value.
    pub fn redact_cut(&self, text: String) -> String {
        let mut text = self.redact(text);
        // In Base64, a value is shorter than with the longest escapes.
        let longest = self.values.iter().map(|(value, _)| value.len()).max();
        let dropped = longest.unwrap_or(0).saturating_mul(LONGEST_ESCAPE);
        text.truncate(text.floor_char_boundary(text.len().saturating_sub(dropped)));
        text
    }
}

/// The parts that every text in Base64 has if it encodes a text with this value, for each position of the value modulo
/// 3. The character at each end of a part may also depend on what surrounds the value, and is left out.
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

/// The longest run of letters and digits. The other characters of Base64 are escaped in some texts: `\/` in JSON, `%2B`
/// in URLs, `\_` in Markdown.
fn never_escaped(part: &str) -> &str {
    let runs = part.split(|c: char| !c.is_ascii_alphanumeric());
    runs.max_by_key(|run| run.len()).unwrap_or_default()
}

/// The longest first: a value may contain another one.
fn sorted(mut values: Vec<(String, String)>) -> Vec<(String, String)> {
    values.sort_by(|(one, _), (two, _)| two.len().cmp(&one.len()).then_with(|| one.cmp(two)));
    values.dedup();
    values
}

/// Replaces a value in a text, also where its characters are escaped.
fn replace_escaped(text: String, value: &str, place: &str) -> String {
    // Backslashes are skipped, so a value of backslashes alone would match everywhere.
    if value.chars().all(|c| c == '\\') {
        return text;
    }
    let mut replaced = String::new();
    let mut rest = text.as_str();
    let found = |rest: &str| {
        let mut start = 0;
        loop {
            let from = rest.get(start..)?;
            // A value may itself look like a character reference.
            let is = |references| matched(from, value, references);
            if let Some(length) = is(false).or_else(|| is(true)) {
                return Some((start, length));
            }
            // A match would skip a run of backslashes, so one attempt is enough for all of it.
            let run = from.len() - after_backslashes(from).len();
            start += run.max(from.chars().next()?.len_utf8());
        }
    };
    while let Some((start, length)) = found(rest) {
        let (before, from) = rest.split_at(start);
        replaced.push_str(before);
        replaced.push_str(place);
        rest = from.split_at(length).1;
    }
    if replaced.is_empty() {
        return text;
    }
    replaced.push_str(rest);
    replaced
}

/// Returns the length of this value at the beginning of a text, in bytes. Backslashes are ignored in both, as escapes.
/// `references`: whether the text may contain character references of HTML.
fn matched(text: &str, value: &str, references: bool) -> Option<usize> {
    let mut at = 0;
    for expected in value.chars().filter(|c| *c != '\\') {
        // Not at the beginning: otherwise a long run of them is read again from each of its positions.
        while references
            && at > 0
            && let Some((length, '\\')) = reference(text.get(at..)?)
        {
            at += length;
        }
        let rest = text.get(at..)?;
        let referred = if references {
            reference(rest).filter(|(_, referred)| *referred == expected)
        } else {
            None
        };
        at += match referred {
            Some((length, _)) => length,
            None => one(rest, expected)?,
        };
    }
    Some(at)
}

/// The length of a character reference of HTML at the beginning of a text, and its character.
/// <https://html.spec.whatwg.org/multipage/syntax.html#character-references>
fn reference(text: &str) -> Option<(usize, char)> {
    let (name, _) = text
        .get(..text.floor_char_boundary(LONGEST_ESCAPE))?
        .strip_prefix('&')?
        .split_once(';')?;
    let character = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
        None => match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => return None,
        },
    };
    Some((name.len() + 2, character))
}

/// Returns the length of this character at the beginning of a text, in bytes: unchanged, percent-encoded, as `+` for a
/// space, as `\uXXXX`, or after backslashes (JSON, Markdown).
fn one(text: &str, expected: char) -> Option<usize> {
    let rest = after_backslashes(text);
    let skipped = text.len() - rest.len();
    if let Some(code) = rest.strip_prefix('u').and_then(|rest| rest.get(..4))
        && skipped > 0
        && u32::from_str_radix(code, 16) == Ok(u32::from(expected))
    {
        return Some(skipped + 5);
    }
    if rest.starts_with(expected) {
        return Some(skipped + expected.len_utf8());
    }
    if expected == ' ' && rest.starts_with('+') {
        return Some(skipped + 1);
    }
    let mut utf8 = [0; 4];
    let mut used = 0;
    for byte in expected.encode_utf8(&mut utf8).bytes() {
        let code = rest.get(used..)?.strip_prefix('%')?.get(..2)?;
        if u8::from_str_radix(code, 16) != Ok(byte) {
            return None;
        }
        used += 3;
    }
    Some(skipped + used)
}

fn after_backslashes(text: &str) -> &str {
    let mut rest = text;
    let forms = ["\\", "%5C", "%5c"];
    while let Some(after) = forms.iter().find_map(|it| rest.strip_prefix(it)) {
        rest = after;
    }
    rest
}

#[cfg(test)]
mod tests;
