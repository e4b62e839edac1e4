//! Tests of the parent module.

use super::*;

fn start(text: &str) -> TalkStart {
    match serde_json::from_str(text).unwrap() {
        TalkMessage::Start(start) => *start,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_start_has_defaults_and_bounds() {
    let usual = start(r#"{"type":"start"}"#);
    assert_eq!(usual.rate().unwrap(), 16_000);
    assert_eq!(usual.silence_ms().unwrap(), 700);
    assert_eq!(usual.format().unwrap(), Format::Pcm);
    for (rate, is_good) in [
        (7_999, false),
        (8_000, true),
        (48_000, true),
        (48_001, false),
    ] {
        let given = start(&format!(r#"{{"type":"start","input":{{"rate":{rate}}}}}"#));
        assert_eq!(given.rate().is_ok(), is_good, "{rate}");
    }
    for (silence, is_good) in [(199, false), (200, true), (5_000, true), (5_001, false)] {
        let given = start(&format!(r#"{{"type":"start","silence_ms":{silence}}}"#));
        assert_eq!(given.silence_ms().is_ok(), is_good, "{silence}");
    }
    let odd = start(r#"{"type":"start","output":{"format":"midi"}}"#);
    assert!(odd.format().is_err());
}

#[test]
fn unknown_messages_and_fields_are_refused() {
    for bad in [
        r#"{"type":"start","other":"x"}"#,
        r#"{"type":"start","input":{"rate":16000,"bits":8}}"#,
        r#"{"type":"begin"}"#,
        r#"{"session":"x"}"#,
        "[]",
    ] {
        assert!(serde_json::from_str::<TalkMessage>(bad).is_err(), "{bad}");
    }
    assert!(serde_json::from_str::<TalkMessage>(r#"{"type":"stop"}"#).is_ok());
}
