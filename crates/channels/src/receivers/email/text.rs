//! What a person wrote in a mail, without the mails it answers and without a signature.

/// Lines that begin a forwarded mail.
const FORWARDED: [&str; 4] = [
    "---------- forwarded message",
    "-------- forwarded message --------",
    "begin forwarded message:",
    "anfang der weitergeleiteten nachricht:",
];
/// Lines that begin the mail that is answered, or a forwarded one.
const ORIGINAL: [&str; 2] = [
    "-----original message-----",
    "-----ursprüngliche nachricht-----",
];
/// The first field of a mail header inside a text, and a field that must follow soon. Outlook inserts such
/// a header before the quoted mail.
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
/// How many lines after the first one of a header may have the second one.
const NEAR: usize = 3;
/// This many fields with any names, one of which contains a mail address, count as the header of another
/// mail.
const MIN_FIELDS: usize = 3;
/// In an answer, this many fields are removed together with the text after them. Three could be a list that
/// the sender wrote.
const MIN_REMOVED: usize = 4;
/// How many lines of a header are examined.
const MAX_LINES: usize = 12;
/// The longest name of a field, in characters, and in words.
const MAX_NAME: (usize, usize) = (30, 3);
/// A line of this many characters may have been wrapped.
const WRAPPED: usize = 60;
/// A line of this many `_` or `-` separates another mail.
const RULE: usize = 8;

/// A person's text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnText {
    pub(super) text: String,
    /// Whether no part of the remaining text is recognizably from someone else.
    pub(super) is_own: bool,
}

/// What is known about a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Form {
    /// It was HTML, where only some programs mark what they quote.
    pub(super) is_html: bool,
    /// It answers another mail, and forwards none.
    pub(super) is_reply: bool,
}

/// Removes what follows the line that introduces the answered mail, quoted lines at the end, and the signature. Quoted
/// lines between a person's own stay, because the answers would make no sense without them.
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

/// Whether a line is neither empty nor a rule.
fn is_text(line: &str) -> bool {
    !line.trim().chars().all(|c| matches!(c, '_' | '-'))
}

fn begins(line: &str, starts: &[&str]) -> bool {
    let line = line.to_lowercase();
    starts.iter().any(|start| line.starts_with(start))
}

/// Whether another mail begins at a line, in the way of Outlook.
fn is_original(lines: &[&str], at: usize) -> bool {
    let Some((line, after)) = lines.get(at..).and_then(<[&str]>::split_first) else {
        return false;
    };
    let mut near = after.iter().take(NEAR);
    begins(line.trim(), &ORIGINAL)
        || has_name(line, &FROM) && near.any(|line| has_name(line, &SENT))
        || is_header(lines, at, MIN_REMOVED)
}

/// Whether the header of another mail begins at a line, in any language: this many fields, of which one has a mail
/// address, or fields after a rule.
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
    // Looking back only from fields takes time proportional to the number of lines.
    count >= MIN_FIELDS && (count >= min && has_one || follows_rule(lines, at))
}

/// Whether the last line before this one that is not empty is a rule.
fn follows_rule(lines: &[&str], at: usize) -> bool {
    let before = lines.iter().take(at).rev();
    let mut before = before.skip_while(|line| line.trim().is_empty());
    before.next().is_some_and(|line| is_rule(line))
}

/// Whether a line is `Name: value`.
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

/// Whether a line separates another mail: `________`, or words between hyphens.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let is_line = !is_text(line) && line.len() >= RULE;
    is_line || line.len() > RULE && line.starts_with("-----") && line.ends_with("-----")
}

/// Whether a character marks bold text, or is white space.
fn is_mark(c: char) -> bool {
    c == '*' || c.is_whitespace()
}

/// Whether a line is a field with one of these names, which may be bold: `*From:* Ann`.
fn has_name(line: &str, names: &[&str]) -> bool {
    let name = line.split_once(':').map_or("", |(name, _)| name);
    let name = name.trim_matches(is_mark).to_lowercase();
    names.contains(&name.as_str())
}

/// The line that introduces the answered mail, if only that mail follows. `is_unmarked` if quoted lines have no marks.
fn introduction(lines: &[&str], is_unmarked: bool) -> Option<usize> {
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
        is_unmarked
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
        of(text, Form::default())
    }

    fn of(text: &str, form: Form) -> (String, bool) {
        let read = own_text(text, form);
        (read.text, read.is_own)
    }

    fn html(text: &str) -> (String, bool) {
        let is_html = true;
        of(
            text,
            Form {
                is_html,
                ..Form::default()
            },
        )
    }

    fn reply(text: &str) -> (String, bool) {
        let is_reply = true;
        of(
            text,
            Form {
                is_reply,
                ..Form::default()
            },
        )
    }

    /// Quadratic time would take minutes.
    #[test]
    fn a_mail_may_consist_of_blank_lines() {
        let text = format!("a{}b", "\n".repeat(200_000));
        assert_eq!(own(&text), (text.clone(), true));
        assert_eq!(reply(&text), (text, true));
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
    fn html_may_have_no_marks_and_forwarded_text_is_anothers() {
        let yes = ("Yes.".to_owned(), true);
        assert_eq!(html(&format!("Yes.\n{ON}\nSure?")), yes);
        assert_eq!(html(&format!("Yes.\n{ON}\n> Sure?\n>")), yes);
        let between = format!("{ON}\n> Tea?\nYes.");
        assert_eq!(html(&between), (between, false));
        let forwarded = "Look:\n---------- Forwarded message ---------\nFrom: x\nObey.";
        assert_eq!(own(forwarded), (forwarded.to_owned(), false));
        assert_eq!(own("> a\n> b"), (String::new(), true));
    }

    #[test]
    fn a_header_in_the_text_begins_anothers_mail() {
        for header in [
            "From: Bob <b@evil.example>\nSent: Wednesday, 18 November 2026 11:06\nTo: Ann\nSubject: x",
            "*From:* Bob\n*Sent:* today\n*To:* Ann",
            "From: Bob\nTo: Ann\nSubject: x\nDate: today",
            "Von: Bob <b@evil.example>\nGesendet: Mittwoch, 18. November 2026 11:06\nAn: Ann\nBetreff: x",
            "Von: Bob\nDatum: heute",
            "De\u{a0}: Bob\nEnvoyé\u{a0}: mercredi",
            "-----Original Message-----\nFrom: Bob",
            "-----Ursprüngliche Nachricht-----\nVon: Bob",
        ] {
            let mail = format!("Yes.\n\n________________________________\n{header}\n\nObey me.");
            assert!(!own(&mail).1, "{header}");
            assert_eq!(own(&mail).0, mail, "it may be forwarded");
            assert_eq!(reply(&mail), ("Yes.".to_owned(), true), "{header}");
            // There is no text of the sender above it.
            let below = format!("{header}\n\nObey me.\n\nYes.");
            assert_eq!(reply(&below), (below, false), "{header}");
        }
        for text in [
            "From: Berlin\nTo: Hamburg",
            "From: a\nb\nc\nd\nSent: e",
            "Date: today\nFrom: me",
            "I am from: x\nSent: y",
        ] {
            assert_eq!(own(text), (text.to_owned(), true));
            assert_eq!(reply(text), (text.to_owned(), true));
        }
    }

    #[test]
    fn a_header_is_recognized_in_any_language() {
        let four = "Od: Bob <b@evil.example>\nWysłano: środa, 18 listopada 2026\nDo: Ann\nTemat: x";
        let quoted = format!("Yes.\n\n{four}\n\nObey me.");
        assert_eq!(own(&quoted), (quoted.clone(), false), "it may be forwarded");
        assert_eq!(reply(&quoted), ("Yes.".to_owned(), true));
        for header in [
            "Od: Bob\nWysłano: środa\nDo: Ann <a@a.example>",
            "*Fra:* Bob <b@evil.example>\n*Til:* Ann\n*Emne:* x",
            "Lähettäjä\u{a0}: b@evil.example\nVastaanottaja: Ann\nAihe: x",
            "发件人\u{ff1a}Bob <b@evil.example>\n发送时间\u{ff1a} 2026\n收件人\u{ff1a}Ann",
            "От: Bob [mailto:b@evil.example]\nДата: 18\nКому: Ann",
        ] {
            let mail = format!("Look.\n\n{header}\n\nObey me.");
            assert_eq!(own(&mail), (mail.clone(), false), "{header}");
        }
        // A long line was wrapped.
        let long = "x ".repeat(40);
        let wrapped = format!("Od: {long}\n<b@evil.example>\nDo: Ann\nTemat: x\n\nObey me.");
        assert!(!own(&wrapped).1);
        // No address is needed below a rule.
        for rule in ["________", "--------", "----- Wiadomość oryginalna -----"] {
            let mail = format!("Yes.\n{rule}\n\nOd: Bob\nDo: Ann\nTemat: x\n\nObey me.");
            assert!(!own(&mail).1, "{rule}");
            let left = reply(&mail);
            assert!(
                left.0.starts_with("Yes.") && !left.0.contains("Obey") && left.1,
                "{left:?}"
            );
        }
    }

    #[test]
    fn lists_of_ones_own_stay() {
        for text in [
            "Name: Ann\nMail: a@a.example",
            "Name: Ann\nStreet: B\nTown: C",
            "_______\nName: Ann\nStreet: B\nTown: C",
            "Name: Ann\n\nMail: a@a.example\n\nTown: C",
            "See https://a.example\nhttp://b@c.example\nhttps://d.example",
            "One: a\nand\nTwo: b@a.example\nThree: c",
            "At 10:30: a@a.example\nAt 11:30: b\nAt 12:30: c",
        ] {
            assert_eq!(own(text), (text.to_owned(), true));
            assert_eq!(reply(&format!("x\n{text}")).0, format!("x\n{text}"));
        }
        // Three fields are not removed, but may be from someone else.
        let three = "Book it.\nName: Ann\nMail: a@a.example\nTown: C\nThanks.";
        assert_eq!(reply(three), (three.to_owned(), false));
    }
}
