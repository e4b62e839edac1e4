use super::*;
use gatehouse_rpc::memory_budget::Limits;
use proptest::prelude::*;

const MASK: [u8; 4] = [0x37, 0xFA, 0x21, 0x3D];

fn holder() -> Holder {
    Holder::Known("a".into())
}

/// Builds a client frame.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = header_of(Kind::Text, payload.len());
    bytes[0] = first;
    bytes[1] |= 0x80;
    bytes.extend(MASK);
    let mut masked = payload.to_vec();
    unmask(&mut masked, MASK, 0);
    bytes.extend(masked);
    bytes
}

/// Decodes the bytes in pieces of this size.
fn read(bytes: &[u8], piece: usize, budget: &ByteBudget) -> (Vec<String>, Option<Broken>) {
    let mut decoder = Decoder::new(budget.clone());
    let mut seen = Vec::new();
    for mut input in bytes.chunks(piece) {
        loop {
            match decoder.read(&mut input, 1000, &holder()) {
                Ok(None) => break,
                Ok(Some(Incoming::Text(text, share))) => {
                    assert!(share.bytes() >= text.len());
                    seen.push(text);
                }
                Ok(Some(Incoming::Ping(payload))) => seen.push(format!("ping {payload:?}")),
                Ok(Some(other)) => seen.push(format!("{other:?}")),
                Err(broken) => return (seen, Some(broken)),
            }
        }
    }
    (seen, None)
}

fn whole(bytes: &[u8]) -> (Vec<String>, Option<Broken>) {
    let budget = ByteBudget::new(Limits::flat(10_000));
    let outcome = read(bytes, 7, &budget);
    assert_eq!(budget.held_bytes(), 0, "nothing stays charged");
    outcome
}

#[test]
fn the_standard_s_own_examples_are_read() {
    // RFC 6455, section 5.7.
    let masked = [
        0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
    ];
    assert_eq!(whole(&masked), (vec!["Hello".to_owned()], None));
    let (first, second) = (frame(0x01, b"Hel"), frame(0x80, b"lo"));
    let parts = [first, frame(0x89, b"hi"), second].concat();
    let expected = vec!["ping [104, 105]".to_owned(), "Hello".to_owned()];
    assert_eq!(whole(&parts), (expected, None));
    assert_eq!(header_of(Kind::Ping, 0), [0x89, 0x00]);
    assert_eq!(header_of(Kind::Text, 125), [0x81, 125]);
    assert_eq!(header_of(Kind::Text, 256), [0x81, 126, 1, 0]);
    assert_eq!(header_of(Kind::Text, 65_536)[..6], [0x81, 127, 0, 0, 0, 0]);
}

#[test]
fn a_message_has_its_limit_however_it_is_cut() {
    let at_limit = "x".repeat(1000);
    assert_eq!(whole(&frame(0x81, at_limit.as_bytes())).1, None);
    let over = Some(Broken::TooLong);
    assert_eq!(whole(&frame(0x81, &[b'x'; 1001])).1, over);
    let parts = [frame(0x01, &[b'x'; 600]), frame(0x80, &[b'x'; 401])].concat();
    assert_eq!(whole(&parts).1, over);
    let mut endless = vec![0x81, 0xFF];
    endless.extend(u64::MAX.to_be_bytes());
    endless.extend(MASK);
    assert_eq!(whole(&endless).1, over);
}

#[test]
fn what_breaks_the_protocol_is_refused() {
    let broken = |bytes: &[u8]| whole(bytes).1 == Some(Broken::Protocol);
    assert!(broken(&[0x81, 0x05, b'H']), "not masked");
    assert!(broken(&frame(0xC1, b"x")), "an extension");
    assert!(broken(&frame(0x83, b"x")), "an unknown kind");
    assert!(broken(&frame(0x80, b"x")), "nothing to go on with");
    assert!(broken(&[frame(0x01, b"x"), frame(0x81, b"y")].concat()));
    assert!(broken(&frame(0x09, b"x")), "half a ping");
    assert!(broken(&frame(0x89, &[0; 126])), "a long ping");
    assert!(broken(&frame(0x88, b"x")), "half a status code");
    assert_eq!(whole(&frame(0x81, b"\xff")).1, Some(Broken::NotText));
    assert_eq!(whole(&frame(0x82, b"\xff")).0, ["Binary"]);
}

#[test]
fn a_close_is_answered_with_its_status_code() {
    let answer = |payload: &[u8]| whole(&frame(0x88, payload)).0;
    let echoed = |code: u16| answer(&[&code.to_be_bytes(), b"bye".as_slice()].concat());
    for code in [1000_u16, 1003, 1007, 1014, 3000, 4999] {
        let expected = format!("Close({:?})", code.to_be_bytes());
        assert_eq!(echoed(code), [expected], "{code}");
    }
    // These codes must not be sent.
    for code in [0, 999, 1004, 1005, 1006, 1015, 2999, 5000] {
        assert_eq!(echoed(code), ["Close([])"], "{code}");
    }
    assert_eq!(answer(b""), ["Close([])"]);
}

#[test]
fn an_unfinished_message_is_charged_as_it_grows() {
    let budget = ByteBudget::new(Limits::flat(10_000));
    let mut decoder = Decoder::new(budget.clone());
    let mut header = vec![0x81, 0xFF];
    header.extend(1_000_000_u64.to_be_bytes());
    header.extend([0; 4]);
    let mut feed = |mut bytes: &[u8]| decoder.read(&mut bytes, 2_000_000, &holder()).map(drop);
    assert_eq!(feed(&header), Ok(()));
    assert_eq!(budget.held_bytes(), 0, "what is announced costs nothing");
    assert_eq!(feed(&[0; 5000]), Ok(()));
    assert!((5000..=8192).contains(&budget.held_bytes()));
    assert_eq!(feed(&[0; 5001]), Err(Broken::NoRoom));
    decoder.close();
    assert_eq!(budget.held_bytes(), 0);
}

#[test]
fn while_it_closes_only_the_handshake_counts() {
    let mut decoder = Decoder::new(ByteBudget::new(Limits::flat(10)));
    let bytes = [frame(0x01, &[b'x'; 3000]), frame(0x88, b"")].concat();
    let (first, second) = bytes.split_at(6);
    assert!(
        decoder
            .read(&mut &*first, 5000, &holder())
            .unwrap()
            .is_none()
    );
    decoder.close();
    let read = decoder.read(&mut &*second, 5000, &holder()).unwrap();
    assert!(matches!(read, Some(Incoming::Close(_))), "{read:?}");
}

proptest! {
    #[test]
    fn pieces_of_any_size_read_the_same(
        texts in prop::collection::vec(".{0,60}", 1..5),
        cut in 1_usize..40,
        piece in 1_usize..50,
    ) {
        let mut bytes = Vec::new();
        for text in &texts {
            let mut parts = text.as_bytes().chunks(cut).peekable();
            let mut first = 0x01;
            loop {
                let part = parts.next().unwrap_or_default();
                let last = if parts.peek().is_none() { 0x80 } else { 0 };
                bytes.extend(frame(first | last, part));
                if last != 0 { break }
                first = 0;
            }
        }
        let budget = ByteBudget::new(Limits::flat(1_000_000));
        prop_assert_eq!(read(&bytes, piece, &budget), (texts, None));
    }

    #[test]
    fn nothing_that_comes_ends_it_in_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200), piece in 1_usize..20,
    ) {
        let budget = ByteBudget::new(Limits::flat(1_000));
        read(&bytes, piece, &budget);
        prop_assert_eq!(budget.held_bytes(), 0);
    }
}

#[cfg(feature = "voice")]
#[test]
fn binary_messages_are_read_where_they_are_accepted() {
    let budget = ByteBudget::new(Limits::flat(10_000));
    let mut decoder = Decoder::new(budget.clone()).with_binary();
    let bytes = [
        frame(0x02, b"\xff\xfe"),
        frame(0x89, b"p"),
        frame(0x80, b"\xfd"),
        frame(0x81, b"text"),
    ]
    .concat();
    let mut input = bytes.as_slice();
    let mut seen = Vec::new();
    while let Some(incoming) = decoder.read(&mut input, 1000, &holder()).unwrap() {
        seen.push(match incoming {
            Incoming::Bytes(bytes, share) => {
                assert!(share.bytes() >= bytes.len());
                format!("{bytes:?}")
            }
            Incoming::Text(text, _) => text,
            other => format!("{other:?}"),
        });
    }
    assert_eq!(seen, ["Ping([112])", "[255, 254, 253]", "text"]);
    assert_eq!(budget.held_bytes(), 0);
    let mut over = frame(0x82, &[0; 1001]);
    over.truncate(20);
    let refused = decoder.read(&mut over.as_slice(), 1000, &holder());
    assert!(matches!(refused, Err(Broken::TooLong)));
}
