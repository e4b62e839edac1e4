//! Tests of the parent module.

use super::*;

#[test]
fn an_id_is_short_and_visible() {
    let of = |id: &str| {
        let id = id.to_owned();
        has_plain_ids(&ReceivedMessage {
            message_id: id.clone(),
            person: id.clone(),
            chat: id.clone(),
            ..ReceivedMessage::default()
        })
    };
    let thread = |length| {
        has_plain_ids(&ReceivedMessage {
            message_id: "1".to_owned(),
            person: "a".to_owned(),
            chat: "a".to_owned(),
            thread: Some("x".repeat(length)),
            ..ReceivedMessage::default()
        })
    };
    assert!(thread(MAX_THREAD) && !thread(MAX_THREAD + 1) && !thread(0));
    for good in ["-100", "@a:b.example", "!r:b:8448", &"x".repeat(255)] {
        assert!(of(good), "{good}");
    }
    for bad in ["", " ", "a b", "a\0", "ä", "a\u{202e}", &"x".repeat(256)] {
        assert!(!of(bad), "{bad}");
    }
}
