//! Tests of the parent module.

use super::*;
use crate::receivers::matrix::ENCRYPTED;
use serde_json::json;

const ME: &str = "@bot:a.example";

fn said_of(events: &str) -> Vec<RoomEvent> {
    let text = format!(
        r#"{{"next_batch":"s1","rooms":{{"join":{{"!r:a":{{"timeline":{{"events":{events}}}}}}}}}}}"#
    );
    let synced: Synced = serde_json::from_str(&text).unwrap();
    let joined: Vec<_> = synced.joined().collect();
    joined[0].1.room_events(ME)
}

fn text_of(content: &serde_json::Value) -> Option<(String, bool)> {
    let event = json!([{ "type": "m.room.message", "event_id": "$1", "sender": "@p:a.example",
        "content": content }]);
    match said_of(&event.to_string()).pop()?.what {
        What::Text { text, names_bot } => Some((text, names_bot)),
        _ => None,
    }
}

#[test]
fn one_odd_event_does_not_hide_the_others() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let good = r#"{"type":"m.room.message","event_id":"$2","sender":"@p:a.example","content":{"msgtype":"m.text","body":"hi"}}"#;
    let odd = [
        format!(r#"{{"type":"m.room.message","event_id":"$1","sender":"@p:a.example","content":{{"msgtype":"m.text","body":{deep}}}}}"#),
        r#"{"type":5,"sender":[]}"#.to_owned(),
        deep.clone(),
        r#""\ud800""#.to_owned(),
        r#"{"type":"m.room.message","event_id":"$1","sender":"@bot:a.example","content":{"msgtype":"m.text","body":"own"}}"#.to_owned(),
        r#"{"type":"m.room.message","event_id":"$1","sender":"@p:a.example","content":{}}"#.to_owned(),
        r#"{"type":"m.room.message","event_id":"$1","sender":"@p:a!.example","content":{"msgtype":"m.text","body":"x"}}"#.to_owned(),
    ];
    let events = format!("[{},{good}]", odd.join(","));
    let said = said_of(&events);
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].event_id, "$2");
    // A deep value beside the text is skipped and not parsed.
    let beside = format!(
        r#"[{{"type":"m.room.message","event_id":"$3","sender":"@p:a.example","x":{deep},"content":{{"msgtype":"m.text","body":"hi","y":{deep}}}}}]"#
    );
    assert_eq!(said_of(&beside).len(), 1);
}

#[test]
fn the_bot_is_named_by_a_mention_or_by_its_whole_id() {
    let named = |content| text_of(&content).unwrap().1;
    let mention = |user: &str| {
        json!({ "msgtype": "m.text", "body": "hi @bot:a.example",
            "m.mentions": { "user_ids": [user] } })
    };
    assert!(named(mention(ME)));
    assert!(!named(mention("@other:a.example")));
    let plain = |body: &str| named(json!({ "msgtype": "m.text", "body": body }));
    assert!(plain("@bot:a.example: hi") && plain("hi @bot:a.example."));
    assert!(!plain("bot hi") && !plain("@bot:a.example.org hi") && !plain("@bot:a.examples"));
}

#[test]
fn quotes_edits_and_notices_are_not_what_the_person_said() {
    let quoted = json!({ "msgtype": "m.text", "body": "> <@x:a> obey @bot:a.example\n> now\n\nno",
        "m.relates_to": { "m.in_reply_to": { "event_id": "$0" } } });
    assert_eq!(text_of(&quoted), Some(("no".to_owned(), false)));
    let edit = json!({ "msgtype": "m.text", "body": "* hi",
        "m.relates_to": { "rel_type": "m.replace", "event_id": "$0" } });
    assert_eq!(text_of(&edit), None);
    let new = |new: serde_json::Value| {
        let mut edit = edit.clone();
        edit["m.new_content"] = new;
        text_of(&edit)
    };
    let text = json!({ "msgtype": "m.text", "body": "hi @bot:a.example" });
    assert_eq!(new(text), Some(("hi @bot:a.example".to_owned(), true)));
    let nested = json!({ "msgtype": "m.text", "body": "* x", "m.relates_to": { "rel_type": "m.replace" },
        "m.new_content": { "msgtype": "m.text", "body": "y" } });
    assert_eq!(new(nested), Some(("* x".to_owned(), false)));
    for other in ["m.notice", "m.image"] {
        assert_eq!(new(json!({ "msgtype": other, "body": "x" })), None);
    }
    assert_eq!(
        text_of(&json!({ "msgtype": "m.notice", "body": "hi" })),
        None
    );
    let file = json!([{ "type": "m.room.message", "event_id": "$1", "sender": "@p:a.example",
        "content": { "msgtype": "m.image", "body": "a.png" } }]);
    assert_eq!(said_of(&file.to_string())[0].what, What::Other);
}

#[test]
fn an_invitation_names_who_invites() {
    let state = |own: serde_json::Value| {
        let other = json!({ "type": "m.room.member", "sender": "@p:a.example",
            "state_key": "@p:a.example", "content": { "membership": "join", "displayname": "P\u{202e}" } });
        let synced = json!({ "next_batch": "s1", "rooms": { "invite": {
            "!r:a": { "invite_state": { "events": [5, other, own] } },
            "!odd:a": { "invite_state": 5 } } } });
        let synced: Synced = serde_json::from_value(synced).unwrap();
        synced.invitations(ME)
    };
    let own = |user: &str, content| json!({ "type": "m.room.member", "sender": "@p:a.example", "state_key": user, "content": content });
    let direct = state(own(
        ME,
        json!({ "membership": "invite", "is_direct": true }),
    ));
    assert_eq!(direct.len(), 1);
    assert_eq!(
        (direct[0].person.as_str(), direct[0].name.as_str()),
        ("@p:a.example", "P\\u{202E}")
    );
    assert!(direct[0].is_invitation && !direct[0].is_group);
    assert!(state(own(ME, json!({ "membership": "invite" })))[0].is_group);
    assert!(state(own(ME, json!({ "membership": "join" }))).is_empty());
    assert!(state(own("@x:a", json!({ "membership": "invite" }))).is_empty());
    assert_eq!(direct[0].code_note, None);
}

#[test]
fn an_invitation_to_an_encrypted_room_is_recognized() {
    let own = json!({ "type": "m.room.member", "sender": "@p:a.example", "state_key": ME,
        "content": { "membership": "invite" } });
    let encryption = json!({ "type": "m.room.encryption", "sender": "@p:a.example", "state_key": "",
        "content": { "algorithm": "m.megolm.v1.aes-sha2" } });
    let synced = json!({ "next_batch": "s1", "rooms": { "invite": {
        "!r:a": { "invite_state": { "events": [encryption, own] } } } } });
    let synced: Synced = serde_json::from_value(synced).unwrap();
    assert_eq!(synced.invitations(ME)[0].code_note, Some(ENCRYPTED));
}

#[test]
fn only_what_has_the_form_of_an_event_id_is_reacted_to() {
    assert!(is_event_id(&format!("${}", "a".repeat(254))));
    for other in [
        "",
        "a",
        "../../sync",
        "$a b",
        "$a\n",
        "$ä",
        &format!("${}", "a".repeat(255)),
    ] {
        assert!(!is_event_id(other), "{other}");
    }
}

#[test]
fn a_reply_names_the_quoted_event() {
    let reply = |relation: serde_json::Value| {
        let event = json!([{ "type": "m.room.message", "event_id": "$1", "sender": "@p:a.example",
            "content": { "msgtype": "m.text", "body": "hi", "m.relates_to": relation } }]);
        said_of(&event.to_string()).pop().unwrap().replies_to
    };
    let to = |id: &str| json!({ "event_id": id });
    assert_eq!(
        reply(json!({ "m.in_reply_to": to("$0") })).as_deref(),
        Some("$0")
    );
    let in_thread = json!({ "rel_type": "m.thread", "event_id": "$9", "m.in_reply_to": to("$0"),
        "is_falling_back": false });
    assert_eq!(reply(in_thread).as_deref(), Some("$0"));
    for none in [
        json!({ "rel_type": "m.thread", "event_id": "$9", "m.in_reply_to": to("$0"), "is_falling_back": true }),
        json!({ "m.in_reply_to": to("../0") }),
        json!({ "m.in_reply_to": 5 }),
        json!({}),
    ] {
        assert_eq!(reply(none.clone()), None, "{none}");
    }
}

#[test]
fn the_text_of_a_quoted_event_is_what_its_sender_wrote() {
    let of = |event: serde_json::Value| {
        let raw = serde_json::value::to_raw_value(&event).unwrap();
        quoted(&raw)
    };
    let event = |content: serde_json::Value| json!({ "type": "m.room.message", "event_id": "$0", "sender": "@x:a", "content": content });
    let text = |text: &str| Some(("@x:a".to_owned(), text.to_owned()));
    let reply = json!({ "msgtype": "m.text", "body": "> <@y:a> before\n\nafter",
        "m.relates_to": { "m.in_reply_to": { "event_id": "$9" } } });
    assert_eq!(of(event(reply)), text("after"));
    let notice = json!({ "msgtype": "m.notice", "body": "done" });
    assert_eq!(of(event(notice)), text("done"));
    assert_eq!(of(event(json!({}))), None, "a deleted message");
    let encrypted =
        json!({ "type": "m.room.encrypted", "event_id": "$0", "sender": "@x:a", "content": {} });
    assert_eq!(of(encrypted), None);
}

#[test]
fn an_answer_to_an_edit_replies_to_the_original() {
    let edit_of = |original: &str, id: &str| {
        let event = json!([{ "type": "m.room.message", "event_id": id, "sender": "@p:a.example",
            "content": { "msgtype": "m.text", "body": "* hi", "m.new_content": { "msgtype": "m.text", "body": "hi" },
                "m.relates_to": { "rel_type": "m.replace", "event_id": original } } }]);
        said_of(&event.to_string()).pop().unwrap().message_id()
    };
    let replied = |original: &str, id: &str| {
        let message = edit_of(original, id);
        replied_event(&message).unwrap().to_owned()
    };
    assert_eq!(replied("$0", "$1"), "$0");
    assert_ne!(
        edit_of("$0", "$1"),
        edit_of("$0", "$2"),
        "each edit is answered"
    );
    // The two IDs and the separator have 255 bytes at most.
    let original = format!("${}", "a".repeat(100));
    let at = format!("${}", "b".repeat(152));
    let past = format!("${}", "b".repeat(153));
    assert_eq!(edit_of(&original, &at).len(), MAX_EVENT_ID);
    assert_eq!(replied(&original, &at), original);
    assert_eq!(replied(&original, &past), past);
    assert_eq!(replied("../0", "$1"), "$1");
    assert_eq!(replied_event("encrypted:!r:a"), None);
}
