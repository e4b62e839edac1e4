//! Tests of the parent module.

use super::*;
use crate::quotes::{Quote, QuotedAuthor, ReceivedQuote};
use crate::receive::ReceivedMessage;
use crate::receivers::telegram::texts::Texts;
use serde_json::json;

fn read(update: Value, texts: &mut Texts) -> Option<ReceivedMessage> {
    let bot = Bot {
        id: 7,
        username: "gate_bot".to_owned(),
    };
    let update: Update = serde_json::from_value(update).unwrap();
    let is_named = update.names(&bot);
    message_of(update, (&bot, is_named), texts)
}

fn update(kind: &str, chat: &str, more: Value) -> Value {
    let mut message = json!({
        "message_id": 5, "date": 1,
        "from": { "id": 42, "is_bot": false, "first_name": "Ada", "last_name": "L\u{202e}" },
        "chat": { "id": -100, "type": chat },
    });
    let fields = message.as_object_mut().unwrap();
    let Value::Object(more) = more else {
        panic!("the fields of a message");
    };
    fields.extend(more);
    json!({ "update_id": 1, kind: message })
}

#[test]
fn a_group_must_name_the_bot() {
    let group = |more| {
        let mut texts = Texts::default();
        read(update("message", "supergroup", more), &mut texts).is_some()
    };
    assert!(!group(json!({ "text": "gate_bot?" })));
    let mention = |offset: usize, length: usize| json!([{ "type": "mention", "offset": offset, "length": length }]);
    assert!(group(
        json!({ "text": "😀 @Gate_Bot hi", "entities": mention(3, 9) })
    ));
    assert!(!group(
        json!({ "text": "😀 @gate_bots hi", "entities": mention(3, 10) })
    ));
    assert!(!group(
        json!({ "text": "x", "entities": mention(3, usize::MAX) })
    ));
    let reply = |id: i64| json!({ "text": "x", "reply_to_message": { "from": { "id": id } } });
    assert!(group(reply(7)) && !group(reply(8)));
    let someone = json!({ "text": "x", "entities": [{ "type": "text_mention", "offset": 0,
            "length": 1, "user": { "id": 7 } }] });
    assert!(group(someone));
}

#[test]
fn only_people_are_received_and_forwards_are_not_their_own() {
    let private = |more| {
        let mut texts = Texts::default();
        read(update("message", "private", more), &mut texts)
    };
    let message = private(json!({ "text": "hi" })).unwrap();
    assert_eq!(message.name, "Ada L\\u{202E}");
    assert!(message.is_own && !message.is_group);
    assert!(private(json!({ "text": "hi", "sender_chat": {} })).is_none());
    assert!(private(json!({ "text": "hi", "from": { "id": 1, "is_bot": true } })).is_none());
    let forwarded = private(json!({ "text": "hi", "forward_origin": { "type": "user" } }));
    assert!(!forwarded.unwrap().is_own);
    assert_eq!(private(json!({ "sticker": {} })).unwrap().text, None);
    let mut texts = Texts::default();
    assert!(
        read(
            update("message", "channel", json!({ "text": "x" })),
            &mut texts
        )
        .is_none()
    );
}

#[test]
fn an_edit_counts_if_it_changed_the_text() {
    let mut texts = Texts::default();
    let edit = |text: &str, texts: &mut Texts| {
        read(
            update("edited_message", "private", json!({ "text": text })),
            texts,
        )
    };
    // The earlier text is unknown.
    assert_eq!(edit("a", &mut texts).unwrap().answer, Some(UNKNOWN_EDIT));
    assert!(edit("a", &mut texts).is_none());
    assert_eq!(edit("b", &mut texts).unwrap().answer, None);
    let moved = update("edited_message", "private", json!({ "location": {} }));
    assert!(read(moved, &mut Texts::default()).is_none());
    let mut texts = Texts::default();
    read(
        update("message", "private", json!({ "text": "a" })),
        &mut texts,
    )
    .unwrap();
    assert!(edit("a", &mut texts).is_none());
    let edited = edit("b", &mut texts).unwrap();
    assert_eq!(edited.text.as_deref(), Some("b"));
    assert_eq!(edited.message_id, "1:5", "an answer replies to the message");
    assert!(edit("b", &mut texts).is_none());
}

#[test]
fn a_reply_has_the_quoted_text_and_its_author() {
    let quote = |more| {
        let mut texts = Texts::default();
        let message = read(update("message", "private", more), &mut texts);
        message.unwrap().quote
    };
    let reply = |replied: Value| quote(json!({ "text": "hi", "reply_to_message": replied }));
    let by = |replied: Value| match reply(replied) {
        Some(ReceivedQuote::Message(quote)) => Some(quote.by),
        _ => None,
    };
    let text = "earlier";
    let (ada, bot, eve) = (json!({ "id": 42 }), json!({ "id": 7 }), json!({ "id": 9 }));
    assert_eq!(quote(json!({ "text": "hi" })), None);
    assert_eq!(
        by(json!({ "from": ada, "text": text })),
        Some(QuotedAuthor::Person)
    );
    assert_eq!(
        by(json!({ "from": bot, "text": text })),
        Some(QuotedAuthor::Bot)
    );
    // A message without a text, such as the one that began a topic, is not quoted.
    assert_eq!(reply(json!({ "from": ada })), None);
    for more in [
        json!({ "from": eve }),
        json!({ "from": ada, "forward_origin": {} }),
        json!({ "from": ada, "forward_date": 1 }),
        json!({ "from": ada, "via_bot": {} }),
        json!({ "from": ada, "sender_chat": {} }),
        json!({}),
    ] {
        let mut replied = more.clone();
        replied["caption"] = json!(text);
        assert_eq!(by(replied), Some(QuotedAuthor::Other), "{more}");
    }
    let chosen = json!({ "text": "hi", "quote": { "text": "part" },
        "reply_to_message": { "from": { "id": 9, "first_name": "Eve" }, "text": "the whole, of which part" } });
    let expected = Quote::of(QuotedAuthor::Other, "Eve".to_owned(), "part");
    assert_eq!(quote(chosen), expected.map(ReceivedQuote::Message));
    // The message is in another chat.
    let external = json!({ "text": "hi", "external_reply": {}, "quote": { "text": "part" } });
    let expected = Quote::of(QuotedAuthor::Other, String::new(), "part");
    assert_eq!(quote(external), expected.map(ReceivedQuote::Message));
}

#[test]
fn a_video_or_an_audio_file_is_not_received() {
    for (kind, answer) in [
        ("video", Some(UNREAD)),
        ("video_note", Some(UNREAD)),
        ("audio", Some(UNREAD)),
        ("sticker", None),
    ] {
        let more = json!({ kind: { "file_id": "f" }, "caption": "look" });
        let message = read(update("message", "private", more), &mut Texts::default()).unwrap();
        assert_eq!(message.answer, answer, "{kind}");
        assert!(message.files.is_empty(), "{kind}");
    }
}
