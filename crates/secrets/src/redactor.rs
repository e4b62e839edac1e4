//! Removes the values of secrets from a server's answers.

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};
use serde_json::Value;
use std::fmt;

/// Removes the values of secrets from texts: unchanged, percent-encoded, escaped for Markdown, JSON or HTML, and as
/// parts of texts in Base64 or hexadecimal digits.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Pairs of a value and its placeholder.
    values: Vec<(String, String)>,
    /// Pairs of a part of a text in Base64 or hexadecimal digits and the placeholder of the value that it encodes.
    encoded: Vec<(String, String)>,
}

/// Maximum length of the escaped form of one byte of a value, in bytes: a numeric character reference with leading
/// zeros, from `&` to `;`.
const LONGEST_ESCAPE: usize = 17;
/// How often a percent-encoded character may be encoded in all. Its escape is then shorter than [`LONGEST_ESCAPE`].
const PERCENT_DEPTH: usize = 3;
/// Shorter encoded parts are not removed, because other texts could contain them. The parts in Base64 of a value of 8
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
        // Encoded, a value is shorter than with the longest escapes.
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

/// The value in hexadecimal digits.
fn hex(value: &str) -> impl Iterator<Item = String> {
    let texts = [&HEXLOWER, &HEXUPPER].map(|encoding| encoding.encode(value.as_bytes()));
    texts.into_iter().filter(|text| text.len() >= LEAST_ENCODED)
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

/// What a text may be, because a value may itself look like a character reference or percent-encoded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A `%` of the value is unchanged.
    Plain,
    /// There may also be character references of HTML.
    References,
    /// A `%` of the value is percent-encoded once and this many times more.
    Percent(usize),
}

/// Replaces a value in a text, also where its characters are escaped.
fn replace_escaped(text: String, value: &str, place: &str) -> String {
    // Backslashes are skipped, so a value of backslashes alone would match everywhere.
    if value.chars().all(|c| c == '\\') {
        return text;
    }
    let depths = if value.contains('%') {
        PERCENT_DEPTH
    } else {
        0
    };
    let mut replaced = String::new();
    let mut rest = text.as_str();
    let found = |rest: &str| {
        let mut start = 0;
        loop {
            let from = rest.get(start..)?;
            let forms = [Form::Plain, Form::References].into_iter();
            let mut forms = forms.chain((0..depths).map(Form::Percent));
            if let Some(length) = forms.find_map(|form| matched(from, value, form)) {
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
fn matched(text: &str, value: &str, form: Form) -> Option<usize> {
    let references = form == Form::References;
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
            None => one(rest, expected, form)?,
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

/// Returns the length of this character at the beginning of a text, in bytes: unchanged, percent-encoded up to
/// [`PERCENT_DEPTH`] times, as `+` for a space, as `\uXXXX`, or after backslashes (JSON, Markdown).
fn one(text: &str, expected: char, form: Form) -> Option<usize> {
    if expected == '%'
        && let Form::Percent(depth) = form
    {
        return percent_encoded(text, expected, depth);
    }
    // Before the backslashes, because a value may itself look percent-encoded.
    if text.starts_with(expected) {
        return Some(expected.len_utf8());
    }
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
    // A URL in the query of another one is encoded again.
    let encoded = (0..PERCENT_DEPTH).find_map(|depth| percent_encoded(rest, expected, depth));
    Some(skipped + encoded?)
}

/// Returns the length of this character at the beginning of a text, percent-encoded, and its percent signs this many
/// times more.
fn percent_encoded(text: &str, expected: char, depth: usize) -> Option<usize> {
    let mut utf8 = [0; 4];
    let mut rest = text;
    for byte in expected.encode_utf8(&mut utf8).bytes() {
        rest = rest.strip_prefix('%')?;
        for _ in 0..depth {
            rest = rest.strip_prefix("25")?;
        }
        let code = rest.get(..2)?;
        if u8::from_str_radix(code, 16) != Ok(byte) {
            return None;
        }
        rest = rest.get(2..)?;
    }
    Some(text.len() - rest.len())
}

fn after_backslashes(text: &str) -> &str {
    let mut rest = text;
    let forms = ["\\", "%5C", "%5c", "%255C", "%255c", "%25255C", "%25255c"];
    while let Some(after) = forms.iter().find_map(|it| rest.strip_prefix(it)) {
        rest = after;
    }
    rest
}

#[cfg(test)]
mod tests;
