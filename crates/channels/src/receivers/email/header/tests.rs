//! Tests of the parent module.

use super::*;

fn header(text: &str) -> Option<Header> {
    Header::read(format!("{text}\r\n\r\n").as_bytes())
}

#[test]
fn a_mail_has_one_sender_with_one_plain_address() {
    for (value, expected) in [
        ("a@example.com", "a@example.com"),
        ("A.B+c@Example.COM", "a.b+c@example.com"),
        ("Ann <a@example.com>", "a@example.com"),
        ("\"b@evil.example\" <a@example.com>", "a@example.com"),
        (
            "\"Ann, (B) <x@y.z>\" J. <a@example.com> (work)",
            "a@example.com",
        ),
        ("=?utf-8?q?=C3=84nn?= <a@example.com>", "a@example.com"),
        ("<a@example.com>", "a@example.com"),
    ] {
        assert_eq!(address(value).as_deref(), Some(expected), "{value}");
    }
    for value in [
        "",
        "a",
        "a@example.com, b@example.com",
        "Ann <a@example.com>, b@example.com",
        "Ann <a@example.com> <b@example.com>",
        "b@evil.example <a@example.com>",
        "Ann <a@example.com> b@evil.example",
        "people: a@example.com;",
        "<@evil.example:a@example.com>",
        "\"a\"@example.com",
        "a@[192.0.2.1]",
        "a @ example.com",
        "a(x)@example.com",
        "a..b@example.com",
        "a@example",
        "a@-x.com",
        "ä@example.com",
        "a@exämple.com",
        "a@example.com\\",
        "Ann (<a@example.com>",
        "a@example.com(.evil.example)",
        "<a@example.com>(.evil.example)",
        "a@b@example.com",
    ] {
        assert_eq!(address(value), None, "{value}");
    }
    let longest = format!("{}@{}.com", "x".repeat(64), "a.".repeat(92) + "b");
    assert!(address(&longest).is_some(), "{}", longest.len());
    assert!(address(&format!("{}@a.com", "x".repeat(65))).is_none());
    assert!(address(&format!("a@{}bb.com", "a.".repeat(93))).is_none());
    let two = "From: a@example.com\r\nfrom : b@example.com";
    assert_eq!(header(two).unwrap().sender(), None);
    let folded = "Subject: x\r\nFrom: Ann\r\n <a@example.com>";
    assert_eq!(
        header(folded).unwrap().sender().as_deref(),
        Some("a@example.com")
    );
}

#[test]
fn a_mail_is_to_the_addresses_of_one_to_and_one_cc() {
    let of = |text: &str| header(text).unwrap().recipients().join(" ");
    for (text, expected) in [
        ("To: a@x.com", "a@x.com"),
        (
            "To: Ann <A@x.com>, \"B, C\" <b@x.com>\r\nCC: c@x.com",
            "a@x.com b@x.com c@x.com",
        ),
        (
            "Cc: =?utf-8?q?=C3=84nn?= <a@x.com>,\r\n b@x.com",
            "a@x.com b@x.com",
        ),
        ("Bcc: a@x.com", ""),
        ("To: a@x.com\r\nTo: b@x.com", ""),
        ("To: a@x.com\r\nCc: b@x.com\r\nCc: c@x.com", ""),
        ("To: \"a@x.com\" <b@y.com>", "b@y.com"),
        ("To: a@x.com <b@y.com>, c@y.com", "c@y.com"),
        (
            "To: b@y.com (a@x.com) , (a@x.com) c@y.com",
            "b@y.com c@y.com",
        ),
        ("To: b@y.com (a@x.com), (a@x.com)", ""),
        ("To: undisclosed-recipients:;", ""),
        ("To: \"a@x.com", ""),
    ] {
        assert_eq!(of(text), expected, "{text}");
    }
}

#[test]
fn an_own_address_may_have_a_tag() {
    let own = ["gate@x.com".to_owned(), "me+gate@y.com".to_owned()];
    for good in [
        "gate@x.com",
        "gate+a@x.com",
        "gate+a+b@x.com",
        "me+gate@y.com",
    ] {
        assert!(is_one_of(good, &own), "{good}");
    }
    for bad in [
        "gateway@x.com",
        "gate@y.com",
        "me@y.com",
        "me+a@y.com",
        "+gate@x.com",
        "",
    ] {
        assert!(!is_one_of(bad, &own), "{bad}");
    }
    assert!(!is_one_of("a@x.com", &[String::new()]));
}

#[test]
fn lines_that_programs_read_differently_are_refused() {
    assert!(header("A: b").is_some() && header("").is_some());
    for odd in [
        "A: b\nFrom: x@y.z",
        "A: b\rFrom: x@y.z",
        "A: b\0",
        " A: b",
        "A: b\r\n \r\n c",
        "A b",
        ": b",
        "A b: c",
        "ä: b",
    ] {
        assert!(header(odd).is_none(), "{odd:?}");
    }
    assert!(Header::read(b"A: b\r\n").is_none(), "it does not end");
}

#[test]
fn automatic_mail_is_recognized() {
    for field in [
        "Auto-Submitted: auto-replied",
        "Auto-Submitted: auto-generated; owner-email=\"x\"",
        "Auto-Submitted: (odd) Auto-Notified",
        "Precedence: Bulk",
        "precedence : list",
        "Precedence: junk",
        "List-Id: <x.example.com>",
        "List-Unsubscribe: <mailto:x@y.z>",
        "Return-Path: <>",
        "Return-Path: < >",
        "Content-Type: multipart/report; report-type=delivery-status",
        "Content-Type: Multipart/Report;\r\n boundary=x",
        "X-Auto-Response-Suppress: All",
        "X-Autoreply: yes",
    ] {
        assert!(header(field).unwrap().is_automatic(), "{field}");
    }
    for field in [
        "Auto-Submitted: no",
        "Auto-Submitted: No (a person)",
        "Precedence: normal",
        "Return-Path: <a@example.com>",
        "Content-Type: multipart/mixed; boundary=x",
    ] {
        assert!(!header(field).unwrap().is_automatic(), "{field}");
    }
}

#[test]
fn ids_are_plain() {
    let header = header("References: <a@b> x <c@d>\r\n <e f@g>").unwrap();
    assert_eq!(header.ids("references"), ["<a@b>", "<c@d>"]);
    assert!(is_message_id(&format!("<{}@b>", "x".repeat(246))));
    assert!(!is_message_id(&format!("<{}@b>", "x".repeat(247))));
    for odd in ["a@b", "<a>", "<a@b", "<a@\u{e4}>", "<a@b>\r\nBcc: x"] {
        assert!(!is_message_id(odd), "{odd}");
    }
}
