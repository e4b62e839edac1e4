//! Finds values that are escaped or encoded in a text.

use super::{LONGEST_ESCAPE, PERCENT_DEPTH};

/// The encoding that is assumed for a text. There are several, because a value may itself look like a character
/// reference or percent-encoded text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A `%` in the value is unchanged.
    Plain,
    /// Like [`Self::Plain`], but character references of HTML are also decoded.
    References,
    /// A `%` in the value is percent-encoded once, plus this many times.
    Percent(usize),
}

/// Replaces a value in a text, including where its characters are escaped.
pub(super) fn replace_escaped(text: String, value: &str, place: &str) -> String {
    // Backslashes are skipped, so a value that consists only of backslashes would match everywhere.
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
            // A match skips a run of backslashes, so one attempt per run is enough.
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

/// Returns the length in bytes of this value at the beginning of a text. Backslashes are ignored in both, because
/// they may be escapes.
fn matched(text: &str, value: &str, form: Form) -> Option<usize> {
    let references = form == Form::References;
    let mut at = 0;
    for expected in value.chars().filter(|c| *c != '\\') {
        // References are not skipped at the beginning. Otherwise a long run of them would be read again from each
        // of its positions.
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

/// Returns the length of an HTML character reference at the beginning of a text, and its character.
/// <https://html.spec.whatwg.org/multipage/syntax.html#character-references>
pub(super) fn reference(text: &str) -> Option<(usize, char)> {
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

/// Returns the length in bytes of this character at the beginning of a text. The character may be unchanged,
/// percent-encoded up to [`PERCENT_DEPTH`] times, a `+` for a space, `\uXXXX`, or preceded by backslashes (JSON,
/// Markdown).
fn one(text: &str, expected: char, form: Form) -> Option<usize> {
    if expected == '%'
        && let Form::Percent(depth) = form
    {
        return percent_encoded(text, expected, depth);
    }
    // Checked before percent-encoding, because a value may itself look percent-encoded.
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
    // A URL in the query of another URL is encoded twice.
    let encoded = (0..PERCENT_DEPTH).find_map(|depth| percent_encoded(rest, expected, depth));
    Some(skipped + encoded?)
}

/// Returns the length in bytes of this percent-encoded character at the beginning of a text. Its percent signs may
/// be encoded `depth` more times.
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
