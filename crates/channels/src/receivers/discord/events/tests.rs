//! Tests of the parent module.

use super::*;
use serde_json::{Value, json};

fn read_with(more: Value) -> Option<ReceivedMessage> {
    let mut message = json!({ "id": "5", "channel_id": "6", "type": 0, "content": "<@7> hi",
        "author": { "id": "42", "username": "ada", "global_name": null }, "mentions": [] });
    let Value::Object(more) = more else {
        panic!("the fields of a message");
    };
    message.as_object_mut().unwrap().extend(more);
    message_of(serde_json::from_value(message).unwrap(), "7")
}

#[test]
fn a_server_must_name_the_bot() {
    let direct = read_with(json!({})).unwrap();
    assert_eq!(
        (direct.text.as_deref(), direct.name.as_str()),
        (Some("hi"), "ada")
    );
    assert!(!direct.is_group && direct.is_own);
    assert_eq!(read_with(json!({ "guild_id": "1" })), None);
    let named = json!({ "guild_id": "1", "mentions": [{ "id": "7" }] });
    assert!(read_with(named).unwrap().is_group);
    let other = json!({ "guild_id": "1", "mentions": [{ "id": "8" }] });
    assert_eq!(read_with(other), None);
}

#[test]
fn an_edit_is_a_message_of_its_own() {
    let at = "2026-11-27T20:00:00.000000+00:00";
    let edit = read_with(json!({ "edited_timestamp": at })).unwrap();
    assert_eq!(edit.message_id, format!("5:{at}"));
    assert_eq!(
        read_with(json!({ "edited_timestamp": null }))
            .unwrap()
            .message_id,
        "5"
    );
}

#[test]
fn all_attachments_are_read() {
    let url = "https://cdn.discordapp.com/attachments/1/2/a.png?ex=1";
    let attachments = json!([{ "id": "1", "filename": "a.png", "url": url },
        { "id": "2", "filename": "b.png", "url": url }]);
    let message = read_with(json!({ "attachments": attachments })).unwrap();
    let read: Vec<_> = message
        .files
        .iter()
        .map(|it| (&*it.id, &*it.name))
        .collect();
    assert_eq!(read, [(url, "a.png"), (url, "b.png")]);
    assert!(message.files.iter().all(|file| !file.is_voice));
    assert_eq!(message.text.as_deref(), Some("hi"));
    let recording = json!([{ "id": "1", "filename": "voice-message.ogg", "url": url }]);
    let voice = json!({ "attachments": recording, "content": "", "flags": 8192 });
    let voice = read_with(voice).unwrap();
    assert!(voice.files[0].is_voice && voice.text.is_none());
}

#[test]
fn a_reply_has_the_quoted_text_and_its_author() {
    let quote = |replied: Value| {
        let more = json!({ "type": 19, "message_reference": { "type": 0 },
            "referenced_message": replied });
        read_with(more).unwrap().quote
    };
    let text = "earlier";
    for (replied, by) in [
        (
            json!({ "author": { "id": "42", "username": "eve" } }),
            QuotedAuthor::Person,
        ),
        (
            json!({ "author": { "id": "7", "username": "eve" } }),
            QuotedAuthor::Bot,
        ),
        (
            json!({ "author": { "id": "8", "username": "eve" } }),
            QuotedAuthor::Other,
        ),
        (
            json!({ "author": { "id": "42", "username": "eve" }, "webhook_id": "42" }),
            QuotedAuthor::Other,
        ),
    ] {
        let mut replied = replied;
        assert_eq!(quote(replied.clone()), None, "it has no text");
        replied["content"] = json!(text);
        let expected = Quote::of(by, "eve".to_owned(), text);
        assert_eq!(quote(replied), expected.map(ReceivedQuote::Message));
    }
    assert_eq!(quote(Value::Null), None);
}

#[test]
fn only_people_are_received_and_forwards_are_not_their_own() {
    for more in [
        json!({ "author": { "id": "1", "bot": true } }),
        json!({ "author": { "id": "7" } }),
        json!({ "webhook_id": "1" }),
        json!({ "type": 7 }),
    ] {
        assert_eq!(read_with(more.clone()), None, "{more}");
    }
    let forward = read_with(json!({ "message_reference": { "type": 1 }, "content": "" })).unwrap();
    assert!(!forward.is_own);
    assert_eq!((forward.text, forward.files), (None, Vec::new()));
    assert!(
        read_with(json!({ "message_reference": { "type": 0 } }))
            .unwrap()
            .is_own
    );
}
