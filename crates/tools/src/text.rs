//! Sanitizes untrusted text: limits its length and removes characters that control terminals or change the
//! text direction.

/// Returns at most `max` characters, and whether the text was cut.
pub(crate) fn cut(text: &str, max: usize) -> (&str, bool) {
    match text.char_indices().nth(max) {
        Some((end, _)) => (text.get(..end).unwrap_or_default(), true),
        None => (text, false),
    }
}

/// Returns whether the character is a control character or changes the text direction.
fn steers(c: char) -> bool {
    let bidi = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    bidi || c.is_control() && c != '\n' && c != '\t'
}

/// Removes the characters that control terminals or change the text direction, and tidies the lines like [`tidy`].
pub(crate) fn readable(text: &str) -> String {
    tidied(text, |c| !steers(c))
}

/// Normalizes line ends to `\n`, and collapses consecutive empty lines into one. Keeps all other characters.
pub(crate) fn tidy(text: &str) -> String {
    tidied(text, |_| true)
}

fn tidied(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut empty = 1;
    for line in text.lines() {
        let line: String = line.trim_end().chars().filter(|c| is_kept(*c)).collect();
        empty = if line.trim().is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            clean.push_str(line.trim_end());
            clean.push('\n');
        }
    }
    clean.truncate(clean.trim_end().len());
    clean
}

/// Returns one line of at most `max` characters, with `…` at the cut.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|c| !steers(*c)).collect();
    match cut(&line, max) {
        (all, false) => all.to_owned(),
        (_, true) => format!("{}…", cut(&line, max.saturating_sub(1)).0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters() {
        assert_eq!(cut("äöü", 3), ("äöü", false));
        assert_eq!(cut("äöü", 2), ("äö", true));
        assert_eq!(cut("👩‍👩‍👧", 1), ("👩", true));
        assert_eq!(cut("a", 0), ("", true));
        assert_eq!(cut("", 0), ("", false));
    }

    #[test]
    fn nothing_steers() {
        let hostile = "\u{1b}[31mred\u{202e}txt.exe\u{2066}\u{7}\r\n\n\n\nnext\tcell  \u{85}";
        assert_eq!(readable(hostile), "[31mredtxt.exe\n\nnext\tcell");
        assert_eq!(one_line(" a\n\u{202e}b\u{0}  c ", 9), "a b c");
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdefg", 6), "abcde…");
    }
}
