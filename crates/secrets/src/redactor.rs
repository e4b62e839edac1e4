//! Removes the values of secrets from what a server answers.

use serde_json::Value;
use std::fmt;

/// Removes the values of secrets from texts: as they are, percent-encoded, and escaped for Markdown, JSON or HTML.
#[derive(Clone, Default)]
pub struct Redactor(Vec<(String, String)>);

/// Shows nothing, as it contains the secrets.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// Takes pairs of a placeholder and the secret that it replaces.
    pub fn new<'v>(values: impl IntoIterator<Item = (String, &'v str)>) -> Self {
        let mut forms: Vec<(String, String)> = Vec::new();
        for (place, value) in values {
            for form in forms_of(value) {
                forms.push((form, place.clone()));
            }
        }
        Self(sorted(forms))
    }

    /// Combines two redactors.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(sorted([self.0.clone(), other.0.clone()].concat()))
    }

    /// Redacts the texts of a JSON value, also the names of members.
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

    /// Whether there are secrets to remove.
    pub const fn is_needed(&self) -> bool {
        !self.0.is_empty()
    }

    pub fn redact(&self, mut text: String) -> String {
        for (form, place) in &self.0 {
            text = replace_escaped(text, form, place);
        }
        text
    }
}

/// The longest first: a value may contain another one.
fn sorted(mut forms: Vec<(String, String)>) -> Vec<(String, String)> {
    forms.sort_by(|(one, _), (two, _)| two.len().cmp(&one.len()).then_with(|| one.cmp(two)));
    forms.dedup();
    forms
}

/// The value as it is, and as HTML and XML escape it.
fn forms_of(value: &str) -> [String; 3] {
    let tags = value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let quotes = tags.replace('"', "&quot;").replace('\'', "&#39;");
    [value.to_owned(), tags, quotes]
}

/// Replaces a form in a text, also where its characters are escaped.
fn replace_escaped(text: String, form: &str, place: &str) -> String {
    // Backslashes are skipped, so a form of backslashes alone would match everywhere.
    if form.chars().all(|c| c == '\\') {
        return text;
    }
    let mut replaced = String::new();
    let mut rest = text.as_str();
    let found = |rest: &str| {
        let mut start = 0;
        loop {
            let from = rest.get(start..)?;
            if let Some(length) = matched(from, form) {
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

/// How many bytes at the beginning of a text are this form. Backslashes are ignored in both, as escapes.
fn matched(text: &str, form: &str) -> Option<usize> {
    let mut at = 0;
    for expected in form.chars().filter(|c| *c != '\\') {
        at += one(text.get(at..)?, expected)?;
    }
    Some(at)
}

/// How many bytes at the beginning of a text are this character: as it is, percent-encoded, as `+` for a space, as
/// `\uXXXX`, or behind backslashes (JSON, Markdown).
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
mod tests {
    use super::*;

    #[test]
    fn escaped_forms_of_a_value_are_removed() {
        let value = "a_b/\"c\"&<d>\\é f";
        let redactor = Redactor::new([("{{secret:K}}".to_owned(), value)]);
        for text in [
            value,
            "a\\_b/\"c\"&\\<d>\\\\é f",
            "a_b\\/\\\"c\\\"\\u0026\\u003cd\\u003E\\\\\\u00e9 f",
            "a_b/\"c\"&amp;&lt;d&gt;\\é f",
            "a_b/&quot;c&quot;&amp;&lt;d&gt;\\é f",
            "a%5Fb%2F%22c%22%26%3Cd%3E%5C%C3%A9%20f",
            "a_b%2f%22c%22%26%3cd%3e%5c%c3%a9+f",
        ] {
            let around = format!("aä {text}{text} a");
            assert_eq!(
                redactor.redact(around),
                "aä {{secret:K}}{{secret:K}} a",
                "{text}"
            );
        }
        for other in ["a_b/\"c\" and a \\ b", "a%5", "a_b\\u00", "a_b%2"] {
            assert_eq!(redactor.redact(other.to_owned()), other);
        }
    }

    #[test]
    fn a_long_run_of_backslashes_is_read_once() {
        let redactor = Redactor::new([("{{secret:K}}".to_owned(), "long-value")]);
        let run = "\\".repeat(1 << 20);
        let redacted = redactor.redact(format!("{run}x{run}long-value"));
        assert_eq!(redacted, format!("{run}x{{{{secret:K}}}}"));
    }
}
