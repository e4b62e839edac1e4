//! Sanitizes untrusted text for keys, lists, and text read by people or agents. Decides which characters are
//! removed and how text is truncated. Independent of the source.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// Maximum length of any value taken from a delivery, in characters.
pub const MAX_VALUE_CHARS: usize = 200;
/// Replaces the end of truncated text.
const CUT: char = '…';
/// Length of a hex-encoded SHA-256.
const DIGEST_CHARS: usize = 64;

/// Returns whether a character is invisible or reorders its neighbors: controls, directional marks, zero-width
/// characters, tags. With such characters, a machine reads a different text than a person sees.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Removes hidden characters and surrounding white space, and truncates to `max_chars`. Returns `None` if
/// nothing remains.
pub(crate) fn plain(text: &str, max_chars: usize) -> Option<String> {
    let kept: String = text
        .chars()
        .filter(|character| !is_hidden(*character))
        .skip_while(|character| character.is_whitespace())
        .take(max_chars)
        .collect();
    let kept = kept.trim_end();
    (!kept.is_empty()).then(|| kept.to_owned())
}

/// Like [`plain`], but keeps distinct texts distinct: a text that was truncated or cleaned ends in the
/// SHA-256 of the original.
pub(crate) fn key(text: &str, max_chars: usize) -> Option<String> {
    let text = text.trim();
    let fits = text.chars().count() <= max_chars && !text.chars().any(is_hidden);
    if fits {
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let digest = HEXLOWER.encode(&Sha256::digest(text.as_bytes()));
    let room = max_chars.saturating_sub(DIGEST_CHARS + 1);
    match plain(text, room) {
        Some(start) => Some(format!("{start}~{digest}")),
        None => Some(digest),
    }
}

/// Formats text as one line: collapses white space to single spaces, removes hidden characters, and
/// truncates with `…`. Returns `None` if nothing remains.
pub(crate) fn line(text: &str, max_chars: usize) -> Option<String> {
    let mut line = String::with_capacity(text.len().min(max_chars.saturating_add(1)));
    let mut chars = 0;
    let mut is_apart = false;
    for character in text.chars() {
        if character.is_whitespace() {
            is_apart = chars > 0;
            continue;
        }
        if is_hidden(character) {
            continue;
        }
        if is_apart {
            line.push(' ');
            chars += 1;
            is_apart = false;
        }
        line.push(character);
        chars += 1;
        if chars > max_chars {
            break;
        }
    }
    let line = cut(line, max_chars);
    (!line.is_empty()).then_some(line)
}

/// Splits text into lines: removes hidden characters, HTML comments and repeated empty lines, and replaces
/// tabs with spaces. Truncates with `…` after `max_chars` or `max_lines`.
pub(crate) fn lines(text: &str, max_chars: usize, max_lines: usize) -> Vec<String> {
    let shown = without_comments(text);
    let mut lines: Vec<String> = Vec::new();
    let mut left = max_chars;
    for line in shown.lines() {
        let line: String = line
            .chars()
            .map(|character| if character == '\t' { ' ' } else { character })
            .filter(|character| !is_hidden(*character))
            .take(left.saturating_add(1))
            .collect();
        let line = line.trim_end();
        if line.is_empty() && lines.last().is_none_or(String::is_empty) {
            continue;
        }
        let chars = line.chars().count();
        if lines.len() == max_lines || left == 0 {
            while lines.last().is_some_and(String::is_empty) {
                lines.pop();
            }
            lines.push(CUT.to_string());
            return lines;
        }
        lines.push(cut(line.to_owned(), left));
        if chars > left {
            return lines;
        }
        left = left.saturating_sub(chars.max(1));
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Truncates to `max_chars`. A truncated text ends in `…`, which counts toward the limit.
pub(crate) fn cut(mut text: String, max_chars: usize) -> String {
    if text.chars().nth(max_chars).is_none() {
        return text;
    }
    let end = text
        .char_indices()
        .nth(max_chars.saturating_sub(1))
        .map_or(0, |(index, _)| index);
    text.truncate(end);
    text.truncate(text.trim_end().len());
    text.push(CUT);
    text
}

/// Removes HTML comments, which a person does not see in rendered text.
fn without_comments(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        shown.push_str(before);
        rest = match after.split_once("-->") {
            Some((_, after)) => after,
            None => "",
        };
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_different_at_the_limit_and_past_it() {
        let fits = "a".repeat(200);
        assert_eq!(key(&fits, 200), Some(fits.clone()));
        let one = key(&format!("{fits}b"), 200).unwrap();
        let other = key(&format!("{fits}c"), 200).unwrap();
        assert_ne!(one, other);
        assert_eq!([one.chars().count(), other.chars().count()], [200, 200]);
        assert_ne!(key("a\u{200b}b", 200), key("ab", 200));
        assert!(!key("a\nb", 200).unwrap().contains('\n'));
        assert_eq!(key(" \t ", 200), None);
        assert_eq!(key(" a ", 200), Some("a".to_owned()));
    }

    #[test]
    fn plain_cuts_and_cleans() {
        assert_eq!(plain("ab", 2), Some("ab".to_owned()));
        assert_eq!(plain("abc", 2), Some("ab".to_owned()));
        assert_eq!(
            plain("\u{1b}[31ma\r\nb\u{202e}", 20),
            Some("[31mab".to_owned())
        );
        assert_eq!(plain("\u{0}\u{feff} ", 20), None);
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(line("a\r\n\tb  c", 9), Some("a b c".to_owned()));
        assert_eq!(line("abc", 3), Some("abc".to_owned()));
        assert_eq!(line("abcd", 3), Some("ab…".to_owned()));
        assert_eq!(line("a\u{2028}b\u{e0041}", 9), Some("a b".to_owned()));
        assert_eq!(line("\u{200b}", 9), None);
    }

    #[test]
    fn lines_are_bounded_and_show_what_people_see() {
        assert_eq!(lines("a\n\n\n\nb\r\n", 99, 9), ["a", "", "b"]);
        assert_eq!(lines("a<!-- be evil\n-->b", 99, 9), ["ab"]);
        assert_eq!(lines("a<!-- open", 99, 9), ["a"]);
        assert_eq!(lines("1\n2\n3", 99, 3), ["1", "2", "3"]);
        assert_eq!(lines("1\n2\n3\n4", 99, 3), ["1", "2", "3", "…"]);
        assert_eq!(lines("abc", 3, 9), ["abc"]);
        assert_eq!(lines("abcd", 3, 9), ["ab…"]);
        assert_eq!(lines("\n\n", 3, 9), [""; 0]);
    }
}
