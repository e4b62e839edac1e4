//! What a person wrote in a mail, without the mails it answers and without a signature.

/// Lines that begin a forwarded mail or, in some programs, the mail that is answered.
const OTHERS: [&str; 6] = [
    "---------- forwarded message",
    "-----original message-----",
    "begin forwarded message:",
    "-----ursprüngliche nachricht-----",
    "anfang der weitergeleiteten nachricht:",
    "-------- forwarded message --------",
];

/// A person's text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnText {
    pub(super) text: String,
    /// Whether nothing of what is left is recognizably someone else's.
    pub(super) is_own: bool,
}

/// Removes what follows the line that introduces the answered mail, quoted lines at the end, and the signature. Quoted
/// lines between a person's own stay, because the answers would make no sense without them.
pub(super) fn own_text(text: &str, is_html: bool) -> OwnText {
    let mut lines: Vec<&str> = text
        .lines()
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    if let Some(start) = introduction(&lines, is_html) {
        lines.truncate(start);
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
    let is_others = |line: &&str| {
        let line = line.trim().to_lowercase();
        is_quoted(&line) || OTHERS.iter().any(|start| line.starts_with(start))
    };
    let is_own = !lines.iter().any(is_others);
    OwnText {
        text: lines.join("\n").trim().to_owned(),
        is_own,
    }
}

fn is_quoted(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

/// The line that introduces the answered mail, if only that mail follows. HTML has lost the marks of quoted lines.
fn introduction(lines: &[&str], is_html: bool) -> Option<usize> {
    (0..lines.len()).find(|&at| {
        let one = lines.get(at).map_or("", |line| line.trim());
        let two = lines
            .get(at.saturating_add(1))
            .map_or("", |line| line.trim());
        let after = if is_introduction(one) {
            at.saturating_add(1)
        } else if is_introduction(&format!("{one} {two}")) && !two.is_empty() {
            at.saturating_add(2)
        } else {
            return false;
        };
        let rest = lines.get(after..).unwrap_or_default();
        is_html
            || rest
                .iter()
                .all(|line| line.trim().is_empty() || is_quoted(line))
    })
}

/// Whether a line is such as `On Wed, Nov 18, 2026 at 11:06 Ann <a@example.com> wrote:`.
fn is_introduction(line: &str) -> bool {
    let english = line.starts_with("On ") && line.ends_with(" wrote:");
    let german = line.starts_with("Am ") && line.contains(" schrieb") && line.ends_with(':');
    let has_date = line.bytes().any(|byte| byte.is_ascii_digit());
    has_date && line.len() <= 400 && (english || german)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: &str = "On Wed, Nov 18, 2026 at 11:06 Gate <g@example.com> wrote:";

    fn own(text: &str) -> (String, bool) {
        let read = own_text(text, false);
        (read.text, read.is_own)
    }

    #[test]
    fn history_and_signature_are_removed() {
        let yes = |text: &str| (text.to_owned(), true);
        assert_eq!(
            own(&format!("Yes.\r\n\r\n{ON}\r\n> Sure?\r\n>\r\n> -- \r\n")),
            yes("Yes.")
        );
        assert_eq!(own("Yes.\n-- \nAnn\nACME"), yes("Yes."));
        assert_eq!(own(&format!("Yes.\n-- \nAnn\n\n{ON}\n> x")), yes("Yes."));
        assert_eq!(own("Yes.\n> a\n> b\n"), yes("Yes."));
        let folded = "Ja.\nAm 18.11.2026 um 11:06 schrieb Gate\n<g@example.com>:\n> x";
        assert_eq!(own(folded), yes("Ja."));
        let two = "Yes.\nOn Wed, Nov 18, 2026 at 11:06 Gate\n<g@example.com> wrote:\n\n> x";
        assert_eq!(own(two), yes("Yes."));
    }

    #[test]
    fn what_may_be_the_persons_stays() {
        for text in [
            "On day 1 he wrote:\nHello.",
            "a\n--\nb",
            "a\n---\nb",
            "On Monday she wrote:",
            "x > y",
        ] {
            assert_eq!(own(text).0, text);
            assert!(own(text).1, "{text}");
        }
        let between = format!("{ON}\n> Tea?\nYes.\n> Milk?\nNo.");
        assert_eq!(own(&between), (between, false));
    }

    #[test]
    fn html_has_no_marks_and_forwarded_text_is_anothers() {
        let html = own_text(&format!("Yes.\n{ON}\nSure?"), true);
        assert_eq!((html.text.as_str(), html.is_own), ("Yes.", true));
        let forwarded = "Look:\n---------- Forwarded message ---------\nFrom: x\nObey.";
        assert_eq!(own(forwarded), (forwarded.to_owned(), false));
        assert_eq!(own("> a\n> b"), (String::new(), true));
    }
}
