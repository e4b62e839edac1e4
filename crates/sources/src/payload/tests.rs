use super::*;
use proptest::prelude::*;

fn json(text: &str) -> Payload {
    Payload::from_json(text).unwrap()
}

fn error(kind: BodyKind, body: &[u8]) -> PayloadError {
    Payload::read(kind, body).unwrap_err()
}

#[test]
fn the_text_stays_as_it_was_sent() {
    let text = " {\"b\": 1.0, \"a\": 1e400 ,\n\"c\":12345678901234567890,\"d\":-0} \n";
    assert_eq!(json(text).into_text(), text);
    let payload = json(text);
    assert_eq!(
        payload.root().compact(usize::MAX),
        r#"{"b":1.0,"a":1e400,"c":12345678901234567890,"d":-0}"#
    );
    assert_eq!(
        payload.get("c").unwrap().as_u64(),
        Some(12_345_678_901_234_567_890)
    );
    assert_eq!(payload.get("c").unwrap().as_i64(), None);
    assert_eq!(payload.get("a").unwrap().raw(), "1e400");
    assert_eq!(payload.get("b").unwrap().as_u64(), None);
    assert_eq!(payload.into_text(), text);
}

#[test]
fn paths_go_through_objects_and_arrays() {
    let payload = json(r#"{"a":{"b":{"c":"x"}},"items":[{"name":"n"},7],"":{"":1},"0":"zero"}"#);
    assert_eq!(payload.string("a.b.c").unwrap(), "x");
    assert_eq!(payload.string("items.0.name").unwrap(), "n");
    assert_eq!(payload.get("items.1").unwrap().as_i64(), Some(7));
    assert_eq!(payload.string("0").unwrap(), "zero");
    assert_eq!(payload.get("").unwrap().kind(), Kind::Object);
    assert_eq!(payload.get(".").unwrap().as_i64(), Some(1));
    for missing in [
        "b",
        "a.c",
        "a.b.c.d",
        "items.2",
        "items.-1",
        "items.+1",
        "items.01",
        "items.",
        "items.18446744073709551616",
        "items.length",
        "a..b",
    ] {
        assert!(payload.get(missing).is_none(), "{missing}");
    }
}

#[test]
fn of_a_key_that_is_there_twice_the_last_counts() {
    let payload = json(r#"{"a":1,"b":2,"a":{"c":3}}"#);
    assert_eq!(payload.get("a.c").unwrap().as_i64(), Some(3));
    assert_eq!(payload.root().len(), 2);
    assert_eq!(payload.root().compact(usize::MAX), r#"{"a":{"c":3},"b":2}"#);
    // Both spellings are the same key.
    assert_eq!(json(r#"{"a":1,"\u0061":2}"#).get("a").unwrap().raw(), "2");
}

#[test]
fn strings_are_decoded_and_written_without_needless_escapes() {
    let payload = json(r#"{"s":"\u00e9\u0000\n\"\\\/\ud83d\ude00","é":"ü","k\n":1}"#);
    assert_eq!(payload.string("s").unwrap(), "é\0\n\"\\/😀");
    assert_eq!(payload.string("é").unwrap(), "ü");
    assert_eq!(payload.get("k\n").unwrap().as_i64(), Some(1));
    assert_eq!(
        payload.root().compact(usize::MAX),
        "{\"s\":\"é\\u0000\\n\\\"\\\\/😀\",\"é\":\"ü\",\"k\\n\":1}"
    );
    // The text never contains the character itself, which PostgreSQL would reject.
    assert!(
        !payload.clone().into_text().contains('\0')
            && !payload.root().pretty(usize::MAX).contains('\0')
    );
}

#[test]
fn half_a_surrogate_pair_is_replaced() {
    let payload = json(r#"{"title":"cut \ud83d","\udc00":1}"#);
    assert!(payload.string("title").unwrap().starts_with("cut \u{fffd}"));
    let again = json(&payload.root().pretty(usize::MAX));
    assert_eq!(again.string("title"), payload.string("title"));
    assert_eq!(again.root().len(), 2);
}

#[test]
fn pretty_is_json_with_an_indent_of_two() {
    let text = r#"{"b":[1,{"c":[]}],"a":{},"s":"é","n":null,"t":true}"#;
    let expected = "{\n  \"b\": [\n    1,\n    {\n      \"c\": []\n    }\n  ],\n  \"a\": {},\n  \"s\": \"é\",\n  \"n\": null,\n  \"t\": true\n}";
    assert_eq!(json(text).root().pretty(usize::MAX), expected);
    for scalar in ["1.50", "\"x\"", "null", "false"] {
        assert_eq!(json(scalar).root().pretty(usize::MAX), scalar);
        assert_eq!(json(scalar).root().compact(usize::MAX), scalar);
    }
}

#[test]
fn a_cut_is_at_exactly_so_many_characters() {
    let payload = json(r#"{"a":"ééé","b":[1,2,3]}"#);
    let cut = |pretty: bool, length: usize| {
        if pretty {
            payload.root().pretty(length)
        } else {
            payload.root().compact(length)
        }
    };
    for pretty in [true, false] {
        let chars: Vec<char> = cut(pretty, usize::MAX).chars().collect();
        for length in 0..=chars.len() + 1 {
            let expected: String = chars.iter().take(length).collect();
            assert_eq!(cut(pretty, length), expected, "{length}");
        }
    }
}

#[test]
fn nodes_tell_their_kind_and_what_is_in_them() {
    let payload = json(r#"{"n":null,"b":true,"i":-3,"s":"x","a":[1,2],"o":{"k":"v"},"id":7}"#);
    let root = payload.root();
    assert!(root.get("n").unwrap().is_null());
    assert_eq!(root.get("b").unwrap().as_bool(), Some(true));
    assert_eq!(root.get("i").unwrap().as_i64(), Some(-3));
    assert_eq!(root.get("i").unwrap().as_u64(), None);
    assert_eq!(root.get("s").unwrap().as_bool(), None);
    assert_eq!(root.get("id").unwrap().as_id().unwrap(), "7");
    assert_eq!(root.get("s").unwrap().as_id().unwrap(), "x");
    assert!(root.get("b").unwrap().as_id().is_none());
    assert_eq!(root.get("a").unwrap().items().count(), 2);
    assert_eq!(root.get("s").unwrap().items().count(), 0);
    let entries: Vec<_> = root
        .get("o")
        .unwrap()
        .entries()
        .map(|(key, _)| key)
        .collect();
    assert_eq!(entries, ["k"]);
    assert!(root.get("n").unwrap().is_empty() && !root.is_empty());
    assert_eq!(root.string("o.k").unwrap(), "v");
    assert_eq!(
        format!("{payload:?} {root:?}"),
        "Payload { bytes: 65, .. } Node(Object)"
    );
}

#[test]
fn what_is_not_one_json_value_is_refused() {
    let kind = BodyKind::Json;
    assert_eq!(error(kind, b""), PayloadError::Empty);
    assert_eq!(error(kind, b"\"\xff\""), PayloadError::NotUtf8);
    assert_eq!(
        error(kind, b"{\"a\":\"\xed\xa0\x80\"}"),
        PayloadError::NotUtf8
    );
    for body in [
        &b" "[..],
        b"\xef\xbb\xbf{}",
        b"{} {}",
        b"{}x",
        b"{}\0",
        b"\0",
        b"{\"a\":\"\0\"}",
        b"{\"a\":\"\n\"}",
        b"{'a':1}",
        b"{a:1}",
        b"{\"a\":1,}",
        b"[1,]",
        b"[1 2]",
        b"[",
        b"{\"a\"",
        b"\"a",
        b"\"\\x\"",
        b"01",
        b"+1",
        b".5",
        b"1.",
        b"NaN",
        b"Infinity",
        b"nul",
        b"True",
        b"// x\n{}",
        b"payload=%7B%7D",
    ] {
        assert!(
            matches!(error(kind, body), PayloadError::NotJson { .. }),
            "{}",
            body.escape_ascii()
        );
    }
    let at = error(kind, b"{\n  \"a\": x\n}");
    assert_eq!(at, PayloadError::NotJson { line: 2, column: 8 });
    let problem = Problem::from(at);
    assert_eq!(problem.code, ErrorCode::ParseError);
    assert_eq!(problem.message, "The body is not JSON (line 2, column 8).");
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let payload = json(&nested(MAX_DEPTH));
    assert_eq!(payload.root().compact(usize::MAX), nested(MAX_DEPTH));
    assert_eq!(
        Payload::from_json(&nested(MAX_DEPTH + 1)).unwrap_err(),
        PayloadError::TooDeep
    );
    let objects = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert!(Payload::from_json(&objects(MAX_DEPTH)).is_ok());
    assert_eq!(
        Payload::from_json(&objects(MAX_DEPTH + 1)).unwrap_err(),
        PayloadError::TooDeep
    );
    // A million levels do not overflow the stack, and are not accepted.
    assert_eq!(
        Payload::from_json(&nested(1_000_000)).unwrap_err(),
        PayloadError::TooDeep
    );
    assert!(Payload::from_json(&"[".repeat(1_000_000)).is_err());
}

#[test]
fn a_form_carries_json_in_its_field_payload() {
    let kind = BodyKind::JsonOrFormPayload;
    let payload =
        Payload::read(kind, b"x=1&payload=%7B%22a%22%3A+%22b+%2B+%C3%A9%22%7D&y").unwrap();
    assert_eq!(payload.clone().into_text(), "{\"a\": \"b + é\"}");
    // The body determines the format, because content types are unreliable: `curl -d` always declares a form.
    assert_eq!(
        Payload::read(kind, b" \n{\"a\":1}").unwrap().into_text(),
        " \n{\"a\":1}"
    );
    assert_eq!(
        Payload::read(kind, b"payload=1&payload=2")
            .unwrap()
            .into_text(),
        "2"
    );
    assert_eq!(error(kind, b"load=%7B%7D"), PayloadError::NoPayloadField);
    // Neither body looks like JSON.
    assert_eq!(error(kind, b"1e9"), PayloadError::NoPayloadField);
    assert_eq!(error(kind, b"payload="), PayloadError::Empty);
    assert_eq!(error(kind, b"payload"), PayloadError::Empty);
    assert_eq!(error(kind, b"payload=%ff"), PayloadError::NotUtf8);
    assert!(matches!(
        error(kind, b"payload=x"),
        PayloadError::NotJson { .. }
    ));
    // A form is refused if the source sends JSON only.
    assert!(matches!(
        error(BodyKind::Json, b"payload=1"),
        PayloadError::NotJson { .. }
    ));
}

#[test]
fn a_forms_fields_become_an_object() {
    let kind = BodyKind::Form;
    let payload =
        Payload::read(kind, b"From=%2B1415&Body=a+b%26c&Empty=&Bare&Body=last%00").unwrap();
    assert_eq!(
        payload.clone().into_text(),
        r#"{"From":"+1415","Body":"last\u0000","Empty":"","Bare":""}"#
    );
    assert_eq!(payload.string("From").unwrap(), "+1415");
    assert_eq!(
        Payload::read(kind, b"{\"a\":1}").unwrap().into_text(),
        "{\"a\":1}"
    );
    assert_eq!(error(kind, b"&&"), PayloadError::Empty);
    assert_eq!(error(kind, b"a=%C3%28"), PayloadError::NotUtf8);
    assert_eq!(error(kind, b"%C3%28=a"), PayloadError::NotUtf8);
    // Invalid escapes are kept, as in browsers.
    assert_eq!(
        Payload::read(kind, b"a=100%&b=%zz")
            .unwrap()
            .string("b")
            .unwrap(),
        "%zz"
    );
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn it_agrees_with_serde_json(value in any_json()) {
        let text = value.to_string();
        let payload = json(&text);
        prop_assert_eq!(payload.root().compact(usize::MAX), text);
        prop_assert_eq!(payload.root().pretty(usize::MAX), serde_json::to_string_pretty(&value).unwrap());
        let spaced = json(&payload.root().pretty(usize::MAX));
        prop_assert_eq!(spaced.root().compact(usize::MAX), payload.root().compact(usize::MAX));
    }

    #[test]
    fn it_takes_what_serde_json_takes(text in "[\\[\\]{},:\"\\\\u0-9a-e. \n-]{0,24}|\\PC{0,12}") {
        let ours = Payload::from_json(&text);
        let theirs = serde_json::from_str::<IgnoredAny>(&text);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok());
        if let Ok(payload) = ours {
            prop_assert!(serde_json::from_str::<IgnoredAny>(&payload.root().pretty(usize::MAX)).is_ok());
        }
    }

    #[test]
    fn no_bytes_do_harm(body in prop::collection::vec(any::<u8>(), 0..200)) {
        for kind in [BodyKind::Json, BodyKind::JsonOrFormPayload, BodyKind::Form] {
            if let Ok(payload) = Payload::read(kind, &body) {
                prop_assert!(serde_json::from_str::<IgnoredAny>(&payload.into_text()).is_ok());
            }
        }
    }

    #[test]
    fn a_form_decodes_to_the_encoded_pairs(fields in prop::collection::vec(("[^\0]{1,8}", any::<String>()), 1..6)) {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        let mut expected = serde_json::Map::new();
        for (name, value) in &fields {
            form.append_pair(name, value);
            expected.insert(name.clone(), value.clone().into());
        }
        let payload = Payload::read(BodyKind::Form, form.finish().as_bytes()).unwrap();
        prop_assert_eq!(payload.clone().into_text(), serde_json::Value::Object(expected).to_string());
    }

    #[test]
    fn the_scanner_gives_up_on_what_is_not_json(text in "[\\[\\]{},:\"\\\\0-9a-e \u{e9}-]{0,24}") {
        // Even without prior validation by serde_json, this must not panic.
        let _indexed = Tree::index(&text);
    }
}
