use super::*;
use proptest::prelude::*;
use serde_json::Value;

fn single(text: &str) -> Item<'_> {
    match parse(text).unwrap() {
        Incoming::Single(item) => item,
        Incoming::Batch(_) => panic!("a batch"),
    }
}

fn batch_of(count: usize) -> String {
    format!("[{}]", vec![r#"{"id":1,"method":"m"}"#; count].join(","))
}

#[test]
fn the_envelope_is_tolerant() {
    let call = single(r#" {"method":"m","extra":[{}],"id":"a\"b"} "#).unwrap();
    assert_eq!(call.method, "m");
    assert!(call.params.is_none());
    assert_eq!(call.id.unwrap().0.get(), r#""a\"b""#);
    let call = single(r#"{"jsonrpc":"2.0","method":"m","params":null}"#).unwrap();
    assert!(call.params.is_none() && call.id.is_none());
    let call = single(r#"{"jsonrpc":null,"method":"m","params":{"a":1},"id":null}"#).unwrap();
    assert_eq!(call.params.unwrap().get(), r#"{"a":1}"#);
    assert_eq!(call.id.unwrap().0.get(), "null");
}

#[test]
fn ids_come_back_as_they_were_spelled() {
    for id in [
        "1.0",
        "-7",
        "12345678901234567890123",
        "\"\\u0041\"",
        "null",
        "1e3",
    ] {
        let text = format!(r#"{{"id":{id},"method":"m"}}"#);
        let item = single(&text).unwrap();
        let answer = refusal(&item.id.unwrap(), &Problem::not_found("thing"));
        assert!(answer.contains(&format!(r#""id":{id},"#)), "{answer}");
    }
}

#[test]
fn what_is_no_call_is_an_invalid_request() {
    for (text, id) in [
        (r#"{"method":1,"id":5}"#, "5"),
        (r#"{"id":5}"#, "5"),
        (r#"{"jsonrpc":"1.0","method":"m","id":5}"#, "5"),
        (r#"{"method":"m","id":{}}"#, "null"),
        (r#"{"method":"m","id":[1]}"#, "null"),
        (r#"{"method":"m","id":true}"#, "null"),
        (r#"{"method":"m","id":"\ud800"}"#, "null"),
        (r#"{"method":"m","method":"n","id":5}"#, "null"),
        ("{}", "null"),
    ] {
        let malformed = single(text).unwrap_err();
        assert_eq!(malformed.problem.code, ErrorCode::InvalidRequest, "{text}");
        assert_eq!(malformed.id.0.get(), id, "{text}");
    }
    for text in ["1", "null", "\"x\"", "true", "[]"] {
        assert_eq!(
            parse(text).unwrap_err().code,
            ErrorCode::InvalidRequest,
            "{text}"
        );
    }
}

#[test]
fn what_is_not_json_is_a_parse_error() {
    for text in [
        "",
        " ",
        "{",
        "{\"method\":\"m\"",
        "[1",
        "[1,]",
        "{}{}",
        "nul",
        "[{}] x",
        "\u{feff}{}",
    ] {
        assert_eq!(
            parse(text).unwrap_err().code,
            ErrorCode::ParseError,
            "{text:?}"
        );
    }
    let deep = "[".repeat(100_000);
    assert_eq!(parse(&deep).unwrap_err().code, ErrorCode::ParseError);
}

#[test]
fn a_batch_holds_64_and_not_65() {
    assert_eq!(parse(&batch_of(64)).unwrap().len(), 64);
    assert_eq!(
        parse(&batch_of(65)).unwrap_err().code,
        ErrorCode::InvalidRequest
    );
    let (items, listed) = parse(r#"[{"method":"m"},[1],1]"#).unwrap().into_items();
    assert!(listed && items[0].is_ok() && items[1].is_err() && items[2].is_err());
}

#[test]
fn an_error_carries_its_code_twice_and_its_details() {
    let text = refusal(&Id::null(), &Problem::invalid_params("limit", "too large"));
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["error"]["code"], -32602);
    assert_eq!(value["error"]["data"]["code"], "INVALID_PARAMS");
    assert_eq!(value["error"]["data"]["field"], "limit");
    assert_eq!(value["id"], Value::Null);
}

#[test]
fn an_event_is_a_notification() {
    let text = notification("vault.status", &serde_json::json!({ "status": "sealed" }));
    assert_eq!(
        text,
        r#"{"jsonrpc":"2.0","method":"vault.status","params":{"status":"sealed"}}"#
    );
}

proptest! {
    #[test]
    fn any_text_is_decided(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(incoming) = parse(&String::from_utf8_lossy(&bytes)) {
            prop_assert!((1..=MAX_BATCH).contains(&incoming.len()));
        }
    }

    #[test]
    fn any_json_like_text_is_decided(text in r#"[\[\]{}",:0-9a-z \\]{0,60}"#) {
        let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        let says_not_json = parse(&text).is_err_and(|p| p.code == ErrorCode::ParseError);
        prop_assert_eq!(!is_json, says_not_json);
    }
}
