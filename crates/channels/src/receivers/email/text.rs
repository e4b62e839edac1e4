//! Extracts the text that a person wrote in an email: without quoted emails and without a signature.

mod introduction;

use introduction::introduction;

/// Lines that precede a forwarded email.
const FORWARDED: [&str; 4] = [
    "---------- forwarded message",
    "-------- forwarded message --------",
    "begin forwarded message:",
    "anfang der weitergeleiteten nachricht:",
];
/// Lines that precede the answered email or a forwarded one.
const ORIGINAL: [&str; 2] = [
    "-----original message-----",
    "-----ursprüngliche nachricht-----",
];
/// The first field of an email header inside a text. Outlook inserts such a header before the quoted email. Another
/// field must follow soon.
const FROM: [&str; 5] = ["from", "von", "de", "da", "van"];
const SENT: [&str; 10] = [
    "sent",
    "date",
    "gesendet",
    "datum",
    "envoyé",
    "enviado",
    "fecha",
    "inviato",
    "data",
    "verzonden",
];
/// Maximum distance in lines from the first field of a quoted header to the second.
const NEAR: usize = 3;
/// The number of fields that count as the header of another email. Their names do not matter, but one field must
/// contain an email address.
const MIN_FIELDS: usize = 3;
/// The number of fields in an answer that are removed together with the text after them. Three fields could be a list
/// that the sender wrote.
const MIN_REMOVED: usize = 4;
/// The maximum number of header lines that are examined.
const MAX_LINES: usize = 12;
/// The longest name of a field, in characters and in words.
const MAX_NAME: (usize, usize) = (30, 3);
/// The minimum number of characters of a line that may have been wrapped.
const WRAPPED: usize = 60;
/// The minimum number of `_` or `-` in a line that separates another email.
const RULE: usize = 8;

/// A person's text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnText {
    pub(super) text: String,
    /// Whether no part of the remaining text is recognizably from another person.
    pub(super) is_own: bool,
}

/// Properties of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Form {
    /// Whether the text was HTML. Only some programs mark quotes in HTML.
    pub(super) is_html: bool,
    /// Whether the email answers another one and forwards none.
    pub(super) is_reply: bool,
}

/// Removes the text after the line that introduces the answered email, the quoted lines at the end, and the signature.
/// Quoted lines between the person's own lines are kept, because the answers depend on them.
pub(super) fn own_text(text: &str, form: Form) -> OwnText {
    let mut lines: Vec<&str> = text
        .lines()
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    let is_unmarked = form.is_html && !lines.iter().any(|line| is_quoted(line));
    if let Some(start) = introduction(&lines, is_unmarked) {
        lines.truncate(start);
    }
    if form.is_reply
        && let Some(start) = (0..lines.len()).find(|at| is_original(&lines, *at))
        && lines.iter().take(start).any(|line| is_text(line))
    {
        lines.truncate(start);
        while lines.last().is_some_and(|line| !is_text(line)) {
            lines.pop();
        }
    }
    while lines
        .last()
        .is_some_and(|line| is_quoted(line) || line.trim().is_empty())
    {
        lines.pop();
    }
    // Quoted lines can follow a signature.
    if let Some(signature) = lines.iter().rposition(|line| *line == "-- ") {
        lines.truncate(signature);
    }
    let is_others = |at: usize| {
        let line = lines.get(at).map_or("", |line| line.trim());
        is_quoted(line)
            || begins(line, &FORWARDED)
            || is_original(&lines, at)
            || is_header(&lines, at, MIN_FIELDS)
    };
    let is_own = !(0..lines.len()).any(is_others);
    OwnText {
        text: lines.join("\n").trim().to_owned(),
        is_own,
    }
}

fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

/// Returns whether a line is neither empty nor a separator.
fn is_text(line: &str) -> bool {
    !line.trim().chars().all(|c| matches!(c, '_' | '-'))
}

fn begins(line: &str, starts: &[&str]) -> bool {
    let line = line.to_lowercase();
    starts.iter().any(|start| line.starts_with(start))
}

/// Returns whether another email begins at this line in Outlook's format.
fn is_original(lines: &[&str], at: usize) -> bool {
    let Some((line, after)) = lines.get(at..).and_then(<[&str]>::split_first) else {
        return false;
    };
    let mut near = after.iter().take(NEAR);
    begins(line.trim(), &ORIGINAL)
        || has_name(line, &FROM) && near.any(|line| has_name(line, &SENT))
        || is_header(lines, at, MIN_REMOVED)
}

/// Returns whether the header of another email begins at this line, in any language: at least `min` fields, one of them
/// with an email address, or fields after a separator.
fn is_header(lines: &[&str], at: usize, min: usize) -> bool {
    let (mut count, mut has_one) = (0, false);
    let mut may_fold = false;
    for line in lines.iter().skip(at).take(MAX_LINES) {
        if is_field(line) {
            count += 1;
        } else if !(may_fold && is_text(line) && !is_quoted(line)) {
            break;
        }
        may_fold = line.chars().count() >= WRAPPED;
        has_one |= has_address(line);
    }
    // The backward search starts only at fields, so the time stays proportional to the number of
    // lines.
    count >= MIN_FIELDS && (count >= min && has_one || follows_rule(lines, at))
}

/// Returns whether the last non-empty line before this one is a separator.
fn follows_rule(lines: &[&str], at: usize) -> bool {
    let before = lines.iter().take(at).rev();
    let mut before = before.skip_while(|line| line.trim().is_empty());
    before.next().is_some_and(|line| is_rule(line))
}

/// Returns whether a line is `Name: value`.
fn is_field(line: &str) -> bool {
    let Some((name, value)) = line.split_once([':', '\u{ff1a}']) else {
        return false;
    };
    let name = name.trim_matches(is_mark);
    let is_plain = |c: char| !c.is_ascii() || c.is_ascii_alphabetic() || " -._'".contains(c);
    let (length, words) = MAX_NAME;
    (1..=length).contains(&name.chars().count())
        && name.chars().all(is_plain)
        && name.split_whitespace().count() <= words
        && !value.trim_matches(is_mark).is_empty()
        && !value.starts_with("//")
}

fn has_address(line: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || "<>()[],;:\"'*|".contains(c);
    line.split(is_end).any(|word| {
        word.split_once('@')
            .is_some_and(|(local, domain)| !local.is_empty() && domain.contains('.'))
    })
}

/// Returns whether a line separates another email: `________`, or words between hyphens.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let is_line = !is_text(line) && line.len() >= RULE;
    is_line || line.len() > RULE && line.starts_with("-----") && line.ends_with("-----")
}

/// Returns whether a character marks bold text, or is white space.
fn is_mark(c: char) -> bool {
    c == '*' || c.is_whitespace()
}

/// Returns whether a line is a field with one of these names, which may be bold: `*From:* Ann`.
fn has_name(line: &str, names: &[&str]) -> bool {
    let name = line.split_once(':').map_or("", |(name, _)| name);
    let name = name.trim_matches(is_mark).to_lowercase();
    names.contains(&name.as_str())
}

#[cfg(test)]
mod tests;
