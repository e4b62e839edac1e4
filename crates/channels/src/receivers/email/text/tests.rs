//! Tests of the parent module.

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
        // No text of the sender is above the header.
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
    // Three fields are not removed, although they may be from another person.
    let three = "Book it.\nName: Ann\nMail: a@a.example\nTown: C\nThanks.";
    assert_eq!(reply(three), (three.to_owned(), false));
}
