//! Tests of the parent module.

use super::*;
use serde_json::{Value, json};

fn read(event: &Value) -> Option<ReceivedMessage> {
    let envelope =
        json!({ "type": "events_api", "envelope_id": "e", "payload": { "event": event } });
    message_of(&serde_json::from_value(envelope).unwrap(), "UBOT")
}

fn with(more: Value) -> Value {
    let mut event = json!({ "type": "message", "channel_type": "im", "channel": "D1", "user": "U1",
            "text": "a &lt;b&gt; &amp;amp;", "ts": "1.2" });
    let Value::Object(more) = more else {
        panic!("the fields of an event");
    };
    event.as_object_mut().unwrap().extend(more);
    event
}

#[test]
fn only_people_are_received() {
    let message = read(&with(json!({}))).unwrap();
    assert_eq!(message.text.as_deref(), Some("a <b> &amp;"));
    assert_eq!(
        (message.message_id.as_str(), message.thread),
        ("D1:1.2", None)
    );
    for more in [
        json!({ "bot_id": "B1" }),
        json!({ "user": "UBOT" }),
        json!({ "user": null }),
        json!({ "subtype": "message_changed" }),
        json!({ "channel_type": "channel" }),
        json!({ "type": "reaction_added" }),
    ] {
        assert_eq!(read(&with(more.clone())), None, "{more}");
    }
    let empty = read(&with(json!({ "text": "" }))).unwrap();
    assert_eq!((empty.text, empty.files), (None, Vec::new()));
}

#[test]
fn an_edit_is_a_message_if_the_text_is_another() {
    let edit = |text: &str, before: &str, more: Value| {
        let mut event = json!({ "type": "message", "subtype": "message_changed", "channel": "D1",
                "channel_type": "im", "ts": "9.9", "previous_message": { "text": before },
                "message": { "user": "U1", "text": text, "ts": "1.2", "edited": { "user": "U1", "ts": "2.0" } } });
        let Value::Object(more) = more else {
            panic!("the fields of an event");
        };
        event.as_object_mut().unwrap().extend(more);
        read(&event)
    };
    let message = edit("b &amp; c", "a", json!({})).unwrap();
    assert_eq!(message.text.as_deref(), Some("b & c"));
    assert_eq!(
        (message.message_id.as_str(), message.person.as_str()),
        ("D1:1.2:2.0", "U1")
    );
    assert_eq!(edit("a", "a", json!({})), None);
    assert_eq!(edit("b", "a", json!({ "channel_type": "channel" })), None);
    let by_bot = json!({ "message": { "user": "UBOT", "text": "b", "ts": "1.2", "edited": { "ts": "2.0" } } });
    assert_eq!(edit("b", "a", by_bot), None);
    // A preview of a link has no time of an edit.
    let preview = json!({ "message": { "user": "U1", "text": "b", "ts": "1.2" } });
    assert_eq!(edit("b", "a", preview), None);
}

#[test]
fn all_files_are_read() {
    let file = |id: &str, name: &str| json!({ "id": id, "name": name, "mimetype": "image/png" });
    let files = json!({ "subtype": "file_share", "text": "", "files": [file("F1", "a.png"), file("F2", "b.png")] });
    let message = read(&with(files)).unwrap();
    let expected = |id: &str, name: &str| ReceivedFile {
        id: id.to_owned(),
        name: name.to_owned(),
        is_voice: false,
    };
    let both = [expected("F1", "a.png"), expected("F2", "b.png")];
    assert_eq!((message.files.as_slice(), message.text), (&both[..], None));
    let recording =
        json!({ "id": "F3", "subtype": "slack_audio", "file_access": "check_file_info" });
    let message = read(&with(json!({ "text": "", "files": [recording] }))).unwrap();
    assert!(message.is_own && message.text.is_none());
    assert!(message.files[0].is_voice);
    for (user, is_own) in [("U1", true), ("U2", false)] {
        let recording = json!({ "id": "F3", "subtype": "slack_audio", "user": user });
        let message = read(&with(json!({ "text": "", "files": [recording] }))).unwrap();
        assert_eq!(message.is_own, is_own, "{user}");
    }
}

#[test]
fn a_channel_gets_its_answer_in_a_thread() {
    let mention = |more| {
        let mut event = with(more);
        event["type"] = json!("app_mention");
        event["text"] = json!("<@UBOT> hi");
        read(&event).unwrap()
    };
    let first = mention(json!({ "channel": "C1" }));
    assert!(first.is_group);
    assert_eq!(first.text.as_deref(), Some("hi"));
    assert_eq!(first.thread.as_deref(), Some("1.2"));
    let within = mention(json!({ "channel": "C1", "thread_ts": "1.0" }));
    assert_eq!(within.thread.as_deref(), Some("1.0"));
}
