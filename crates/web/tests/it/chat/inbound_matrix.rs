//! Conversations through Matrix: the readers of a room, invitations, and the state after a restart.

use super::inbound::{
    approve, code_of, inbound_error, receive_through, session_of, settled, unlocked,
};
use super::matrix_server::{BOT, Matrix, TOKEN};
use gatehouse_testkit::{Actor, TestServer};
use serde_json::json;

pub(super) const PERSON: &str = "@p:a.example";
const OTHER: &str = "@other:b.example";

async fn receiving(matrix: &Matrix) -> (TestServer, Actor) {
    let fields = json!({ "homeserver": matrix.url(), "access_token": TOKEN, "inbound": true });
    receive_through("matrix", fields).await
}

/// Makes the person invite the bot to a direct room, and pairs the person.
pub(super) async fn pair(owner: &Actor, matrix: &Matrix, room: &str) {
    let sent = matrix.sent().len();
    matrix.invite(room, PERSON, true);
    let (to, text) = matrix.wait_for(sent + 1).await;
    assert_eq!(to, room);
    let paired = approve(owner, &code_of(&text), false).await;
    assert_eq!(paired["person"], PERSON);
}

#[tokio::test]
async fn a_stranger_gets_one_room_and_a_paired_person_gets_answers() {
    let matrix = Matrix::start().await;
    matrix.set_members("!old:a", &[PERSON, BOT]);
    matrix.say("!old:a", PERSON, "said before the channel received");
    let (server, owner) = receiving(&matrix).await;
    pair(&owner, &matrix, "!direct:a").await;
    let second = matrix.invite("!b:a", OTHER, true);
    matrix.wait_for(2).await;
    let third = matrix.invite("!c:a", OTHER, true);
    matrix.confirmed(third).await;
    assert!(second < third && matrix.has_joined("!b:a") && !matrix.has_joined("!c:a"));

    matrix.say("!direct:a", PERSON, "hello");
    assert_eq!(
        matrix.wait_for(3).await,
        ("!direct:a".to_owned(), "pong".to_owned())
    );
    assert!(matrix.has_typed());
    let session = session_of(&owner, &format!("channel:matrix:{PERSON}")).await;
    assert_eq!(session["source"], "channel");
    assert_eq!(session["tainted"], true);

    // Messages answered before the restart are not answered again, and none is lost.
    settled(&server, "matrix").await;
    let server = server.restart().await;
    // Nothing is received while the vault is sealed, because the token is in it.
    matrix.say("!direct:a", PERSON, "meanwhile");
    unlocked(&owner, &server).await;
    assert_eq!(matrix.wait_for(4).await.1, "pong");
    settled(&server, "matrix").await;
    let last = matrix.say("!b:a", OTHER, "again");
    matrix.confirmed(last).await;
    assert_eq!(matrix.sent().len(), 4, "the stranger got one code");
}

#[tokio::test]
async fn a_group_must_name_the_bot_and_a_stranger_does_not_bring_it_into_one() {
    let matrix = Matrix::start().await;
    let (server, owner) = receiving(&matrix).await;
    let stranger = matrix.invite("!strange:a", OTHER, false);
    matrix.confirmed(stranger).await;
    assert!(!matrix.has_joined("!strange:a"));
    pair(&owner, &matrix, "!direct:a").await;
    let group = matrix.invite("!group:a", PERSON, false);
    matrix.confirmed(group).await;
    assert!(matrix.has_joined("!group:a"));
    matrix.set_members("!group:a", &[PERSON, OTHER, BOT]);
    let silent = matrix.say("!group:a", PERSON, "hello all");
    let stranger = matrix.say("!group:a", OTHER, &format!("hello {BOT}"));
    matrix.confirmed(silent.max(stranger)).await;
    settled(&server, "matrix").await;
    assert_eq!(matrix.sent().len(), 1, "no code and no answer in a group");
    let content =
        json!({ "msgtype": "m.text", "body": "bot: hello", "m.mentions": { "user_ids": [BOT] } });
    matrix.event("!group:a", PERSON, "m.room.message", &content);
    assert_eq!(
        matrix.wait_for(2).await,
        ("!group:a".to_owned(), "pong".to_owned())
    );
    session_of(&owner, &format!("channel:matrix:{PERSON}:!group:a")).await;
}

#[tokio::test]
async fn a_stranger_who_brings_the_person_into_a_room_gets_no_private_answers() {
    let matrix = Matrix::start().await;
    let (server, owner) = receiving(&matrix).await;
    pair(&owner, &matrix, "!direct:a").await;
    matrix.invite("!trap:b", OTHER, true);
    matrix.wait_for(2).await;
    matrix.set_members("!trap:b", &[OTHER, PERSON, BOT]);
    let said = matrix.say("!trap:b", PERSON, "what is my secret?");
    matrix.confirmed(said).await;
    settled(&server, "matrix").await;
    assert_eq!(matrix.sent().len(), 2, "the room is a group now");
    matrix.say("!trap:b", PERSON, &format!("{BOT}: hello"));
    assert_eq!(matrix.wait_for(3).await.0, "!trap:b");
    session_of(&owner, &format!("channel:matrix:{PERSON}:!trap:b")).await;
    let listed = owner.rpc("sessions.list", json!({})).await.unwrap();
    assert_eq!(
        listed["sessions"].as_array().unwrap().len(),
        1,
        "not the private session"
    );
}

#[tokio::test]
async fn a_person_who_has_left_is_not_answered_where_others_read() {
    let matrix = Matrix::start().await;
    let (server, owner) = receiving(&matrix).await;
    pair(&owner, &matrix, "!direct:a").await;
    // The person leaves before the message is received, and two members remain.
    matrix.set_members("!direct:a", &[OTHER, BOT]);
    let said = matrix.say("!direct:a", PERSON, "hello");
    matrix.confirmed(said).await;
    settled(&server, "matrix").await;
    // The person leaves between the message and its answer.
    matrix.set_members("!direct:a", &[PERSON, BOT]);
    matrix.set_members_later("!direct:a", &[OTHER, BOT]);
    let said = matrix.say("!direct:a", PERSON, "hello again");
    matrix.confirmed(said).await;
    settled(&server, "matrix").await;
    session_of(&owner, &format!("channel:matrix:{PERSON}")).await;
    assert_eq!(matrix.sent().len(), 1, "nobody else reads an answer");
}

#[tokio::test]
async fn an_odd_event_does_not_stop_the_others_and_an_encrypted_room_is_answered_once() {
    let matrix = Matrix::start().await;
    let (server, owner) = receiving(&matrix).await;
    pair(&owner, &matrix, "!direct:a").await;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    matrix.raw("!direct:a", format!(
        r#"{{"type":"m.room.message","event_id":"$deep","sender":"{OTHER}","content":{{"msgtype":"m.text","body":{deep}}}}}"#
    ));
    matrix.raw("!direct:a", r#"{"type":7,"sender":null}"#.to_owned());
    matrix.say("!direct:a", PERSON, "hello");
    assert_eq!(matrix.wait_for(2).await.1, "pong");
    let content = json!({ "algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x" });
    for _ in 0..2 {
        let said = matrix.event("!direct:a", PERSON, "m.room.encrypted", &content);
        matrix.confirmed(said).await;
        settled(&server, "matrix").await;
    }
    let sent = matrix.sent();
    assert_eq!(sent.len(), 3);
    assert!(sent[2].1["body"].as_str().unwrap().contains("encrypted"));
}

#[tokio::test]
async fn a_refused_token_is_shown_on_the_account() {
    let matrix = Matrix::start().await;
    let fields = json!({ "homeserver": matrix.url(), "access_token": "old", "inbound": true });
    let (_server, owner) = receive_through("matrix", fields).await;
    inbound_error(&owner, "matrix", "token").await;
}

#[tokio::test]
async fn messages_that_one_answer_leaves_out_are_read_too() {
    let matrix = Matrix::start().await;
    let (server, owner) = receiving(&matrix).await;
    pair(&owner, &matrix, "!direct:a").await;
    // The bot receives nothing until all messages are written.
    settled(&server, "matrix").await;
    let server = server.restart().await;
    let mut content = json!({ "msgtype": "m.text", "m.mentions": { "user_ids": [BOT] } });
    content["body"] = json!("the first one");
    matrix.event("!direct:a", PERSON, "m.room.message", &content);
    for number in 0..120 {
        matrix.say("!direct:a", OTHER, &format!("noise {number}"));
    }
    unlocked(&owner, &server).await;
    let answered = matrix.wait_for(2).await;
    assert_eq!(answered, ("!direct:a".to_owned(), "pong".to_owned()));
}

#[tokio::test]
async fn a_code_is_sent_once_the_bot_could_join_the_room() {
    let matrix = Matrix::start().await;
    let (_server, owner) = receiving(&matrix).await;
    matrix.refuse_joins(1);
    let invited = matrix.invite("!direct:a", PERSON, true);
    // The next request joins the room. It returns at the next event.
    matrix.confirmed(invited).await;
    let (to, text) = matrix.wait_for(1).await;
    assert_eq!(to, "!direct:a");
    approve(&owner, &code_of(&text), false).await;
}

#[tokio::test]
async fn a_room_is_joined_once_the_server_no_longer_limits_the_bot() {
    let matrix = Matrix::start().await;
    let (_server, owner) = receiving(&matrix).await;
    // The limit applies to the first request and to the immediate retry.
    matrix.limit_joins(2);
    pair(&owner, &matrix, "!direct:a").await;
}

#[tokio::test]
async fn the_bots_user_id_is_asked_for_once_for_all_that_it_types() {
    let matrix = Matrix::start().await;
    let (_server, owner) = receiving(&matrix).await;
    pair(&owner, &matrix, "!direct:a").await;
    for number in 2..5 {
        matrix.say("!direct:a", PERSON, "hello");
        matrix.wait_for(number).await;
    }
    assert!(matrix.has_typed());
    // One request to receive and one to type.
    assert_eq!(matrix.asked(), 2);
}

#[tokio::test]
async fn a_code_that_the_server_limits_is_sent_again() {
    let matrix = Matrix::start().await;
    let (_server, owner) = receiving(&matrix).await;
    matrix.limit_events(4);
    pair(&owner, &matrix, "!direct:a").await;
    assert_eq!(matrix.sent().len(), 1);
    // The event is sent at most five times.
    matrix.limit_events(5);
    matrix.invite("!b:a", OTHER, true);
    matrix.limited().await;
    matrix.say("!direct:a", PERSON, "hello");
    assert_eq!(matrix.wait_for(2).await.0, "!direct:a");
}

#[tokio::test]
async fn a_reply_to_the_bot_counts_in_a_group_and_answers_there_are_replies() {
    let matrix = Matrix::start().await;
    let (server, owner) = receiving(&matrix).await;
    pair(&owner, &matrix, "!direct:a").await;
    let group = matrix.invite("!group:a", PERSON, false);
    matrix.confirmed(group).await;
    matrix.set_members("!group:a", &[PERSON, OTHER, BOT]);
    let mut content =
        json!({ "msgtype": "m.text", "body": "hello", "m.mentions": { "user_ids": [BOT] } });
    matrix.event("!group:a", PERSON, "m.room.message", &content);
    matrix.wait_for(2).await;
    let answers = matrix.sent();
    assert!(answers[0].1["m.relates_to"].is_null(), "a code is no reply");
    let asked = answers[1].1["m.relates_to"]["m.in_reply_to"]["event_id"].clone();
    assert!(asked.is_string(), "{answers:?}");

    // A reply to another person or to an unknown event does not count.
    content["m.mentions"] = json!({});
    for other in [asked, json!("$none")] {
        content["m.relates_to"] = json!({ "m.in_reply_to": { "event_id": other } });
        let said = matrix.event("!group:a", PERSON, "m.room.message", &content);
        matrix.confirmed(said).await;
    }
    settled(&server, "matrix").await;
    assert_eq!(matrix.sent().len(), 2);

    content["m.relates_to"] = json!({ "m.in_reply_to": { "event_id": matrix.event_id(2) } });
    matrix.event("!group:a", PERSON, "m.room.message", &content);
    assert_eq!(
        matrix.wait_for(3).await,
        ("!group:a".to_owned(), "pong".to_owned())
    );
}

#[tokio::test]
async fn a_person_in_an_encrypted_room_learns_what_to_do() {
    let matrix = Matrix::start().await;
    let (_server, owner) = receiving(&matrix).await;
    matrix.invite_encrypted("!direct:a", PERSON, true);
    let (_, text) = matrix.wait_for(1).await;
    assert!(text.contains("without encryption"), "{text}");
    approve(&owner, &code_of(&text), false).await;
    // A group gets a notice, because only its events are encrypted.
    matrix.limit_events(1);
    let group = matrix.invite_encrypted("!group:a", PERSON, false);
    matrix.confirmed(group).await;
    let notices = matrix.notices(1).await;
    assert!(notices[0].contains("without encryption"), "{notices:?}");
    matrix.set_members("!group:a", &[PERSON, OTHER, BOT]);
    let content = json!({ "algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x" });
    matrix.event("!group:a", PERSON, "m.room.encrypted", &content);
    inbound_error(&owner, "matrix", "encrypted").await;
    assert_eq!(matrix.sent().len(), 1);
}

#[tokio::test]
async fn an_encrypted_group_whose_join_was_refused_gets_its_notice_later() {
    let matrix = Matrix::start().await;
    let (_server, owner) = receiving(&matrix).await;
    pair(&owner, &matrix, "!direct:a").await;
    matrix.refuse_joins(1);
    matrix.invite_encrypted("!group:a", PERSON, false);
    let notices = matrix.notices(1).await;
    assert!(notices[0].contains("without encryption"), "{notices:?}");
}

#[tokio::test]
async fn five_replies_of_a_group_are_looked_up_per_response() {
    let matrix = Matrix::start().await;
    let (server, owner) = receiving(&matrix).await;
    pair(&owner, &matrix, "!direct:a").await;
    let group = matrix.invite("!group:a", PERSON, false);
    matrix.confirmed(group).await;
    matrix.set_members("!group:a", &[PERSON, OTHER, BOT]);
    matrix.say("!group:a", PERSON, &format!("{BOT}: hello"));
    matrix.wait_for(2).await;
    // The bot receives nothing until all messages are written.
    settled(&server, "matrix").await;
    let server = server.restart().await;
    let reply = |event: &str| {
        let content = json!({ "msgtype": "m.text", "body": "hello", "m.mentions": {},
            "m.relates_to": { "m.in_reply_to": { "event_id": event } } });
        matrix.event("!group:a", PERSON, "m.room.message", &content)
    };
    for _ in 0..4 {
        reply("$none");
    }
    let own = matrix.event_id(2);
    reply(&own);
    let sixth = reply(&own);
    unlocked(&owner, &server).await;
    assert_eq!(matrix.wait_for(3).await.0, "!group:a");
    matrix.confirmed(sixth).await;
    settled(&server, "matrix").await;
    assert_eq!(matrix.sent().len(), 3);
}
