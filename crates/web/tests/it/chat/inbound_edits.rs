//! Messages that their person edits. The new text is answered. Other changes of the message are not.

use super::inbound::{receive_through, receiving, settled, unlocked};
use super::inbound_matrix::PERSON;
use super::matrix_server::{BOT, Matrix, TOKEN};
use super::slack_server::Slack;
use super::{inbound, inbound_matrix, inbound_slack};
use serde_json::{Value, json};

#[tokio::test]
async fn telegram() {
    let (server, owner, telegram) = receiving().await;
    inbound::pair(&owner, &telegram, 42, false).await;
    let message = telegram.write(42, json!({ "text": "say: one" }));
    assert_eq!(telegram.wait_for(2).await["text"], "one");
    // Telegram also reports changes that do not affect the text.
    telegram.edit(42, message, "say: one");
    telegram.edit(42, message, "say: two");
    assert_eq!(telegram.wait_for(3).await["text"], "two");
    // A stranger who edits a message gets one code, as for a new message.
    let strange = telegram.write(7, json!({ "text": "say: three" }));
    telegram.wait_for(4).await;
    let last = telegram.edit(7, strange, "say: four");
    telegram.confirmed(last).await;
    settled(&server, "telegram").await;
    assert_eq!(telegram.sent().len(), 4);
}

#[tokio::test]
async fn on_telegram_the_text_before_a_restart_is_not_known() {
    let (server, owner, telegram) = receiving().await;
    inbound::pair(&owner, &telegram, 42, false).await;
    let message = telegram.write(42, json!({ "text": "say: one" }));
    assert_eq!(telegram.wait_for(2).await["text"], "one");
    settled(&server, "telegram").await;
    let server = server.restart().await;
    unlocked(&owner, &server).await;
    telegram.edit(42, message, "say: two");
    let answer = telegram.wait_for(3).await["text"].clone();
    let start = "It is not known whether this edit changed the text";
    assert!(answer.as_str().unwrap().starts_with(start), "{answer}");
    telegram.edit(42, message, "say: three");
    assert_eq!(telegram.wait_for(4).await["text"], "three");
}

#[tokio::test]
async fn slack() {
    let slack = Slack::start().await;
    let (server, owner) = receive_through("slack", slack.fields()).await;
    inbound_slack::pair(&owner, &slack, "U1").await;
    slack.write("U1", "say: one");
    assert_eq!(slack.wait_for(2).await["text"], "one");
    let edit = |before: &str, after: &str, ts: &str| {
        slack.event(json!({
            "type": "message", "subtype": "message_changed", "hidden": true, "channel": "DU1",
            "channel_type": "im", "ts": ts, "event_ts": ts,
            "previous_message": { "type": "message", "user": "U1", "text": before, "ts": "1.1" },
            "message": { "type": "message", "user": "U1", "text": after, "ts": "1.1",
                "edited": { "user": "U1", "ts": ts } },
        }))
    };
    // The preview of a link.
    edit("say: one", "say: one", "2.1");
    let edited = edit("say: one", "say: two", "3.1");
    assert_eq!(slack.wait_for(3).await["text"], "two");
    slack.confirmed(&edited).await;
    settled(&server, "slack").await;
    assert_eq!(slack.sent().len(), 3);
}

#[tokio::test]
async fn matrix() {
    let matrix = Matrix::start().await;
    let fields = json!({ "homeserver": matrix.url(), "access_token": TOKEN, "inbound": true });
    let (server, owner) = receive_through("matrix", fields).await;
    inbound_matrix::pair(&owner, &matrix, "!direct:a").await;
    matrix.say("!direct:a", PERSON, "say: one");
    assert_eq!(matrix.wait_for(2).await.1, "one");
    let edit = edit_of("$1", &json!({ "msgtype": "m.text", "body": "say: two" }));
    let edited = matrix.event("!direct:a", PERSON, "m.room.message", &edit);
    assert_eq!(matrix.wait_for(3).await.1, "two");
    matrix.confirmed(edited).await;
    settled(&server, "matrix").await;
    assert_eq!(matrix.sent().len(), 3);
}

#[tokio::test]
async fn in_a_matrix_group_the_answer_to_an_edit_replies_to_the_original() {
    let matrix = Matrix::start().await;
    let fields = json!({ "homeserver": matrix.url(), "access_token": TOKEN, "inbound": true });
    let (_server, owner) = receive_through("matrix", fields).await;
    inbound_matrix::pair(&owner, &matrix, "!direct:a").await;
    let group = matrix.invite("!group:a", PERSON, false);
    matrix.confirmed(group).await;
    matrix.set_members("!group:a", &[PERSON, "@other:b.example", BOT]);
    let named = |text: &str| json!({ "msgtype": "m.text", "body": text, "m.mentions": { "user_ids": [BOT] } });
    let replied = |number: usize| {
        let content = matrix.sent()[number - 1].1.clone();
        content["m.relates_to"]["m.in_reply_to"]["event_id"].clone()
    };
    matrix.event("!group:a", PERSON, "m.room.message", &named("say: one"));
    assert_eq!(matrix.wait_for(2).await.1, "one");
    let original = replied(2);
    let edit = edit_of(original.as_str().unwrap(), &named("say: two"));
    matrix.event("!group:a", PERSON, "m.room.message", &edit);
    assert_eq!(matrix.wait_for(3).await.1, "two");
    assert_eq!(replied(3), original);
}

fn edit_of(original: &str, new: &Value) -> Value {
    let text = new["body"].as_str().unwrap();
    json!({
        "msgtype": "m.text", "body": format!("* {text}"), "m.new_content": new,
        "m.relates_to": { "rel_type": "m.replace", "event_id": original },
    })
}
