//! Tests of the parent module.

use super::*;
use proptest::prelude::*;

/// Reads all events from these pieces. Also returns the unfinished event at the end.
fn read<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    max: usize,
) -> (Vec<Event>, Option<Event>, bool) {
    let mut stream = EventStream::new(max);
    let mut events = Vec::new();
    for mut piece in pieces {
        loop {
            match stream.next(&mut piece) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(TooLong) => return (events, None, true),
            }
        }
    }
    let rest = stream.end();
    (events, rest.unwrap_or(None), false)
}

fn event(name: &str, data: &str) -> Event {
    Event {
        name: name.to_owned(),
        data: data.to_owned(),
    }
}

#[test]
fn what_the_standard_says() {
    for (text, events, rest) in [
        ("data: a\n\n", vec![event("", "a")], None),
        ("data:a\r\n\r\n", vec![event("", "a")], None),
        (
            "data: a\r\rdata: b\r\r",
            vec![event("", "a"), event("", "b")],
            None,
        ),
        ("\u{feff}data: a\n\n", vec![event("", "a")], None),
        (": hello\n\n:\n\ndata: a\n\n", vec![event("", "a")], None),
        (
            "event: x\ndata: a\ndata:  b\n\n",
            vec![event("x", "a\n b")],
            None,
        ),
        ("event: x\n\ndata: a\n\n", vec![event("", "a")], None),
        (
            "event: x\nevent: y\ndata: a\n\n",
            vec![event("y", "a")],
            None,
        ),
        ("data\n\n", vec![event("", "")], None),
        ("data:\ndata:\n\n", vec![event("", "\n")], None),
        (
            "id: 1\nretry: 5\nnonsense\ndata: a\n\n",
            vec![event("", "a")],
            None,
        ),
        ("data: a\n", vec![], Some(event("", "a"))),
        ("data: a\ndata: b", vec![], Some(event("", "a\nb"))),
        ("datum: a\n\n", vec![], None),
        ("", vec![], None),
    ] {
        let (seen, left, too_long) = read([text.as_bytes()], 1000);
        assert_eq!((seen, left, too_long), (events, rest, false), "{text:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let (events, ..) = read([&b"data: \xff\n\n"[..]], 100);
    assert_eq!(events, [event("", "\u{fffd}")]);
}

#[test]
fn a_line_and_an_event_at_the_limit_and_past_it() {
    let line = |length: usize| format!("data:{}\n\n", "x".repeat(length - 5));
    assert!(!read([line(20).as_bytes()], 20).2);
    assert!(read([line(21).as_bytes()], 20).2);
    // An unterminated line is also limited.
    let endless = vec![b'x'; 21];
    assert!(!read([&endless[..20]], 20).2);
    assert!(read([endless.as_slice()], 20).2);
    // Many short lines of one event: 9 + 1 + 9 bytes, and 9 + 1 + 10.
    assert!(!read([&b"data:123456789\ndata:123456789\n\n"[..]], 19).2);
    assert!(read([&b"data:123456789\ndata:1234567890\n\n"[..]], 19).2);
}

#[test]
fn split_at_every_byte() {
    let text = "\u{feff}event: ä\r\ndata: ö\r\n\r\n: c\rdata: 1\rdata\r\rdata: end".as_bytes();
    let whole = read([text], 100);
    assert_eq!(whole.0.len(), 2);
    for at in 0..=text.len() {
        let (left, right) = text.split_at(at);
        assert_eq!(read([left, right], 100), whole, "{at}");
    }
}

proptest! {
    #[test]
    fn however_it_is_split(
        text in "(data|event|id|:|: |\n|\r|\r\n|x|ä|\u{feff}){0,60}",
        max in 1_usize..30,
        cuts in proptest::collection::vec(0_usize..200, 0..6),
    ) {
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(read(pieces, max), read([bytes], max));
    }
}
