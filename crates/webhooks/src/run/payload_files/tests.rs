//! Tests of the parent module.

use super::*;
use data_encoding::BASE64;
use serde_json::{Value, json};

const MAX: u64 = 1000;

fn png(bytes: usize) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    png.resize(bytes, 7);
    png
}

fn sizes(value: &Value) -> Vec<usize> {
    let payload = Payload::from_json(&value.to_string()).unwrap();
    let found = candidates(&payload, MAX);
    found.iter().map(|file| file.data.len()).collect()
}

#[test]
fn base64_with_and_without_a_data_url_is_found() {
    let base64 = BASE64.encode(&png(100));
    let lines = format!("{}\r\n{}", &base64[..76], &base64[76..]);
    for text in [
        format!("data:image/png;base64,{base64}"),
        format!("DATA:image/png;name=a.png;BASE64,{base64}"),
        format!("data:;base64,{}", base64.trim_end_matches('=')),
        base64.clone(),
        lines,
        format!(" {base64} "),
    ] {
        assert_eq!(sizes(&json!({ "a": [{ "b": text }] })), [100], "{text}");
    }
    for text in [
        format!("see data:image/png;base64,{base64}"),
        format!("data:image/png,{base64}"),
        format!("data:image/png;base64 {base64}"),
        format!("{base64}!"),
        BASE64.encode(&[7; 100]),
        "x".repeat(100),
    ] {
        assert!(sizes(&json!({ "a": text })).is_empty(), "{text}");
    }
}

/// Some senders escape slashes.
#[test]
fn a_string_with_escapes_is_found() {
    let base64 = BASE64.encode(&[0xff; 90]).replace('/', "\\/");
    let text = format!("{{\"a\":\"data:image\\/png;base64,{base64}\"}}");
    let payload = Payload::from_json(&text).unwrap();
    let found = candidates(&payload, MAX);
    assert_eq!(found[0].data, vec![0xff; 90]);
    let replaced = vec![(found[0].places[0].clone(), "[file]".to_owned())];
    assert_eq!(with_descriptions(&text, replaced), "{\"a\":\"[file]\"}");
}

#[test]
fn sizes_at_the_limit_and_one_past_it() {
    for (bytes, found) in [(1000, vec![1000]), (1001, vec![]), (1003, vec![])] {
        assert_eq!(sizes(&json!([BASE64.encode(&png(bytes))])), found);
    }
    let text = BASE64.encode(&png(47));
    for (text, found) in [(&text[..64], vec![47]), (&text[..63], vec![])] {
        assert_eq!(sizes(&json!([text])), found, "{text}");
    }
}

#[test]
fn four_files_are_found_in_their_order_and_each_once() {
    let file = |bytes: usize| BASE64.encode(&png(bytes));
    let payload = json!({
        "a": file(101), "b": { "c": [file(102), file(101)] }, "d": file(103), "e": [file(104), file(105)],
    });
    assert_eq!(sizes(&payload), [101, 102, 103, 104]);
}

#[test]
fn only_whole_values_are_replaced() {
    let file = BASE64.encode(&png(100));
    let text = format!(
        " {{\"{file}\":1,\"a\":\"{file}\",\"b\":\"x\\\"{file}\",\"c\":[[\"{file}\"],\"é{file}\"]}}"
    );
    let payload = Payload::from_json(&text).unwrap();
    let found = candidates(&payload, MAX);
    assert_eq!(found.len(), 1);
    let places = found[0].places.iter().rev();
    let replaced = places.map(|at| (at.clone(), "[file]".to_owned()));
    let expected = format!(
        " {{\"{file}\":1,\"a\":\"[file]\",\"b\":\"x\\\"{file}\",\"c\":[[\"[file]\"],\"é{file}\"]}}"
    );
    assert_eq!(
        with_descriptions(payload.text(), replaced.collect()),
        expected
    );
}

/// The deepest payload that is accepted, and one with many strings that look like files.
#[test]
fn large_and_deep_payloads_are_read() {
    let file = BASE64.encode(&png(100));
    let (open, close) = ("[".repeat(128), "]".repeat(128));
    let deep = Payload::from_json(&format!("{open}\"{file}\"{close}")).unwrap();
    assert_eq!(candidates(&deep, MAX).len(), 1);
    let many: Vec<String> = (0..10_000)
        .map(|n| format!("data:;base64,{n:064}"))
        .collect();
    let many = Payload::from_json(&json!(many).to_string()).unwrap();
    assert_eq!(candidates(&many, MAX).len(), 4);
}
