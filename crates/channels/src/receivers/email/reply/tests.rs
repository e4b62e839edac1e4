//! Tests of the parent module.

use super::*;

fn of(text: &str) -> Reply {
    let text = format!("{text}\r\n\r\n");
    Reply::of(&Header::read(text.as_bytes()).unwrap(), text.as_bytes())
}

#[test]
fn an_answer_names_what_it_answers() {
    let reply = of(
        "Message-ID: <3@x>\r\nReferences: <1@x>\r\n <2@x>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
    );
    assert_eq!(reply.to.as_deref(), Some("<3@x>"));
    assert_eq!(reply.references, ["<1@x>", "<2@x>", "<3@x>"]);
    assert_eq!(reply.subject, "Re: Grüße");
    let stored = reply.encode().unwrap();
    assert!(stored.bytes().all(|byte| byte.is_ascii_graphic()));
    assert_eq!(Reply::decode(&stored), Some(reply));
    assert_eq!(
        of("In-Reply-To: <1@x>\r\nMessage-ID: <2@x>").references,
        ["<1@x>", "<2@x>"]
    );
    for (subject, expected) in [
        ("RE: x", "RE: x"),
        ("Aw: x", "Aw: x"),
        ("", "Re:"),
        ("Rex", "Re: Rex"),
    ] {
        assert_eq!(of(&format!("Subject: {subject}")).subject, expected);
    }
    assert_eq!(
        of("X: y"),
        Reply {
            subject: "Re:".to_owned(),
            ..Reply::default()
        }
    );
}

#[test]
fn the_stored_form_is_bounded_and_checked() {
    let id = |n: usize| format!("<{n}{}@b>", "x".repeat(240));
    let ids: Vec<String> = (0..40).map(id).collect();
    let ids = ids.join("\r\n ");
    let subject = "ä".repeat(5_000);
    let reply = of(&format!(
        "Message-ID: {}\r\nReferences: {}\r\nSubject: {subject}",
        id(99),
        ids
    ));
    assert_eq!(reply.references.len(), MAX_REFERENCES);
    assert_eq!(reply.references.first(), Some(&id(0)));
    assert_eq!(reply.references.last(), Some(&id(99)));
    assert!(reply.encode().unwrap().len() <= 4096);
    let odd = |to: &str, subject: &str| {
        let reply = Reply {
            to: Some(to.to_owned()),
            references: vec![],
            subject: subject.to_owned(),
        };
        Reply::decode(&reply.encode().unwrap())
    };
    assert!(odd("<a@b>", "x").is_some());
    assert!(odd("<a@b>", "x\r\nBcc: y").is_none() && odd("<a@b>\r\nBcc: y", "x").is_none());
    assert_eq!(Reply::decode("%"), None);
}

#[test]
fn subjects_of_answers_and_forwarded_mails() {
    for answer in [
        "Re: x",
        "AW: x",
        "RE : x",
        "[EXT] Re: x",
        "re:",
        "Odp: x",
        "Re[2]: x",
        "回复\u{ff1a}x",
        "Antwort: x",
        "Re: https://x.y",
        "RE: 12:30",
    ] {
        assert!(is_reply(answer) && !is_forwarded(answer), "{answer}");
    }
    for forwarded in [
        "Fwd: x",
        "WG: x",
        "[EXT] FW: x",
        "PD: x",
        "Vl: x",
        "转发\u{ff1a}x",
        "ΠΡΘ: x",
        "İLT: x",
        "x: Fwd: y",
    ] {
        assert!(
            is_forwarded(forwarded) && !is_reply(forwarded),
            "{forwarded}"
        );
    }
    for both in [
        "Re: Fwd: x",
        "AW: Re: WG: x",
        "Re: [EXT] Fwd: x",
        "Odp: PD: x",
        "Re[2]: Enc: x",
    ] {
        assert!(is_forwarded(both) && is_reply(both), "{both}");
    }
    for neither in [
        "Regarding",
        "äh",
        "Forward x",
        "",
        "[a",
        "Re",
        "12:30",
        "Meeting: y",
        "To do: y",
        "https://x.y",
        ": x",
    ] {
        assert!(!is_forwarded(neither) && !is_reply(neither), "{neither}");
    }
}
