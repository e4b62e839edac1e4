//! Tool calls that are approved from a Telegram chat: who gets buttons, the text of the question and its result, and
//! the end of a question.

use super::inbound::{pair, receiving, session_of, unlocked};
use crate::chat::telegram::{Shown, Telegram};
use gatehouse_agents::AgentsSettings;
use gatehouse_testkit::{Actor, TestServer};
use serde_json::{Value, json};
use std::time::Duration;

/// The buttons of a question.
pub(super) const ANSWERS: [&str; 4] = [
    "Allow",
    "Deny",
    "Always in this session",
    "Always with these arguments",
];
pub(super) const CANNOT: &str = "You cannot answer this call.";
pub(super) const GONE: &str = "This call no longer waits for an answer.";
const REFUSED: &str = "approval.press_refused";

/// Returns a server with a trusted person, 42. The first message of the bot is the person's code.
pub(super) async fn trusted() -> (TestServer, Actor, Telegram) {
    let (server, owner, telegram) = receiving().await;
    pair(&owner, &telegram, 42, true).await;
    (server, owner, telegram)
}

/// Makes the person write a message. Returns the number of the answer or the question.
pub(super) async fn say(telegram: &Telegram, text: &str) -> usize {
    let number = telegram.sent().len() + 1;
    telegram.write(42, json!({ "text": text }));
    telegram.wait_for(number).await;
    number
}

/// Makes the person ask for a calculation. Returns the number of the question when it has its
/// buttons.
pub(super) async fn ask(telegram: &Telegram, text: &str) -> usize {
    let number = say(telegram, text).await;
    telegram.offered(number, &ANSWERS).await;
    number
}

/// Returns the labels of the buttons of a sent message.
pub(super) fn sent_labels(telegram: &Telegram, number: usize) -> Vec<Value> {
    let sent = &telegram.sent()[number - 1];
    let rows = sent["reply_markup"]["inline_keyboard"].as_array().unwrap();
    let buttons = rows.iter().flat_map(|row| row.as_array().unwrap());
    buttons.map(|button| button["text"].clone()).collect()
}

/// Sets whether a paired person is trusted.
pub(super) async fn trust(owner: &Actor, person: &str, trusted: bool) {
    let people = owner.rpc("pairing.people", json!({})).await.unwrap();
    let mut people = people["people"].as_array().unwrap().iter();
    let id = people.find(|it| it["person"] == person).unwrap()["id"].clone();
    let trust = json!({ "id": id, "trusted": trusted });
    owner.rpc("pairing.trust", trust).await.unwrap();
}

pub(super) async fn waiting(owner: &Actor) -> Vec<Value> {
    let listed = owner.rpc("approval.list", json!({})).await.unwrap();
    listed["approvals"].as_array().unwrap().clone()
}

pub(super) async fn rows(owner: &Actor, kind: &str) -> Vec<Value> {
    let listed = owner.rpc("audit.list", json!({ "kind": kind })).await;
    listed.unwrap()["events"].as_array().unwrap().clone()
}

/// Waits for this many audit rows of refused presses.
pub(super) async fn refused(owner: &Actor, count: usize) -> Vec<Value> {
    loop {
        let rows = rows(owner, REFUSED).await;
        if rows.len() >= count {
            assert_eq!(rows.len(), count);
            return rows;
        }
        tokio::task::yield_now().await;
    }
}

pub(super) fn ends_with(shown: &Shown, end: &str) {
    assert!(shown.text.ends_with(end), "{}", shown.text);
}

/// Returns the outputs of the tool in the person's session.
async fn outputs(owner: &Actor) -> Vec<Value> {
    let session = session_of(owner, "channel:telegram:42").await;
    let history = json!({ "session": session["id"] });
    let history = owner.rpc("chat.history", history).await.unwrap();
    let messages = history["messages"].as_array().unwrap().iter();
    let outputs = messages.filter(|message| message["role"] == "tool");
    outputs.map(|message| message["content"].clone()).collect()
}

#[tokio::test]
async fn a_trusted_person_answers_each_call_once() {
    let (_server, owner, telegram) = trusted().await;
    let question = ask(&telegram, "calculate 6*7").await;
    let shown = telegram.shown(question);
    assert_eq!(sent_labels(&telegram, question), ["Deny"]);
    assert_eq!(shown.chat, 42);
    let call = "The agent default asks for approval of the tool calc:\n\n{\n  \"expression\": \"6*7\"\n}\n\nAnswer until 20";
    assert!(shown.text.starts_with(call), "{}", shown.text);
    ends_with(&shown, " UTC. Without an answer the call does not run.");
    let sent = &telegram.sent()[question - 1];
    assert_eq!(sent["link_preview_options"]["is_disabled"], true);

    let allow = shown.data("Allow");
    let press = telegram.press(42, question, "Deny");
    assert_eq!(telegram.press_answer(press).await, "Denied.");
    let closed = telegram.closed_question(question).await;
    ends_with(
        &closed,
        "}\n\nAnswered by Person 42.\nDenied. The call does not run.",
    );
    telegram.wait_for(question + 1).await;
    let second = telegram.press_data(42, (42, question), &allow);
    assert_eq!(telegram.press_answer(second).await, GONE);
    ends_with(&telegram.shown(question), "Denied. The call does not run.");

    let question = ask(&telegram, "calculate 6*7").await;
    assert_ne!(telegram.shown(question).data("Allow"), allow);
    let press = telegram.press(42, question, "Allow");
    assert_eq!(telegram.press_answer(press).await, "Allowed.");
    let closed = telegram.closed_question(question).await;
    ends_with(
        &closed,
        "}\n\nAnswered by Person 42.\nAllowed. The call runs.",
    );
    assert_eq!(telegram.wait_for(question + 1).await["text"], "pong");
    let outputs = outputs(&owner).await;
    assert!(outputs[0].as_str().unwrap().contains("did not approve"));
    assert_eq!(outputs[1], "42");

    let rows = rows(&owner, "approval.resolved").await;
    assert_eq!(rows.len(), 2, "the second press changed nothing");
    assert_eq!(rows[0]["actor"], "channel telegram person 42");
    assert_eq!(
        (&rows[0]["detail"]["allow"], &rows[1]["detail"]["allow"]),
        (&json!(true), &json!(false))
    );
}

#[tokio::test]
async fn nobody_else_answers_and_trust_must_last() {
    let (_server, owner, telegram) = trusted().await;
    pair(&owner, &telegram, 44, true).await;
    pair(&owner, &telegram, 45, false).await;
    let question = ask(&telegram, "calculate 6*7").await;
    let data = telegram.shown(question).data("Allow");
    // A stranger, in the person's chat and in the stranger's chat, and a paired person who is not
    // trusted.
    let [first, ..] = [42, 43, 43].map(|chat| telegram.press_data(43, (chat, question), &data));
    let untrusted = telegram.press_data(45, (45, question), &data);
    for press in [first, untrusted] {
        assert_eq!(telegram.press_answer(press).await, CANNOT);
    }
    let rows = refused(&owner, 2).await;
    let people: Vec<_> = rows.iter().map(|row| &row["detail"]["person"]).collect();
    assert!(people.contains(&&json!("43")) && people.contains(&&json!("45")));
    // Another trusted person, and the person's own press in a group.
    let other = telegram.press_data(44, (44, question), &data);
    assert_eq!(telegram.press_answer(other).await, GONE);
    let in_group = telegram.press_data(44, (-100, question), &data);
    assert_eq!(telegram.press_answer(in_group).await, CANNOT);
    refused(&owner, 3).await;
    for wrong in ["", "allow", &format!("{}:allow", "0".repeat(32))] {
        let press = telegram.press_data(44, (44, question), wrong);
        assert_eq!(telegram.press_answer(press).await, GONE, "{wrong}");
    }
    assert_eq!(waiting(&owner).await.len(), 1);
    assert_eq!(
        telegram.acknowledged(),
        7,
        "a refused person gets one note an hour"
    );

    trust(&owner, "42", false).await;
    telegram.press(42, question, "Allow");
    let rows = refused(&owner, 4).await;
    assert_eq!(rows[0]["detail"]["person"], "42");
    let asked = &waiting(&owner).await[0];
    let deny = json!({ "id": asked["id"], "allow": false });
    owner.rpc("approval.resolve", deny).await.unwrap();
    let closed = telegram.closed_question(question).await;
    ends_with(&closed, "Denied. The call does not run.");
}

#[tokio::test]
async fn an_answer_on_the_page_and_the_expiry_end_the_question() {
    let (server, owner, telegram) = trusted().await;
    let question = ask(&telegram, "calculate 6*7").await;
    let data = telegram.shown(question).data("Deny");
    let asked = &waiting(&owner).await[0];
    let allow = json!({ "id": asked["id"], "allow": true });
    owner.rpc("approval.resolve", allow).await.unwrap();
    let closed = telegram.closed_question(question).await;
    ends_with(
        &closed,
        "}\n\nAnswered in the web UI or through the API.\nAllowed. The call runs.",
    );
    let late = telegram.press_data(42, (42, question), &data);
    assert_eq!(telegram.press_answer(late).await, GONE);
    telegram.wait_for(question + 1).await;

    let agents = &server.app().services().agents;
    agents.update_settings(AgentsSettings {
        approval_wait: Duration::from_millis(500),
        require_approval: vec!["calc".to_owned()],
        ..AgentsSettings::default()
    });
    let question = ask(&telegram, "calculate 6*7").await;
    let closed = telegram.closed_question(question).await;
    ends_with(
        &closed,
        "}\n\nNobody answered in time. The call does not run.",
    );
    let late = telegram.press_data(42, (42, question), &data);
    assert_eq!(telegram.press_answer(late).await, GONE);
}

#[tokio::test]
async fn a_restart_ends_the_question_and_asks_again() {
    let (server, owner, telegram) = trusted().await;
    let question = ask(&telegram, "calculate 6*7").await;
    let data = telegram.shown(question).data("Allow");
    let server = server.restart().await;
    let owner = unlocked(&owner, &server).await;
    ends_with(&telegram.closed_question(question).await, GONE);
    let again = telegram.offered(question + 1, &ANSWERS).await;
    let early = telegram.press_data(42, (42, question), &data);
    assert_eq!(telegram.press_answer(early).await, GONE);
    assert_eq!(waiting(&owner).await.len(), 1);
    // A press removes buttons that outlive their call, as after a crash.
    let stale = telegram.press_data(42, (42, question + 1), &data);
    assert_eq!(telegram.press_answer(stale).await, GONE);
    telegram.closed_question(question + 1).await;
    let data = again.data("Allow");
    let press = telegram.press_data(42, (42, question + 1), &data);
    assert_eq!(telegram.press_answer(press).await, "Allowed.");
    assert_eq!(telegram.wait_for(question + 2).await["text"], "pong");
}

#[tokio::test]
async fn what_does_not_fit_can_only_be_denied_here() {
    let (_server, owner, telegram) = trusted().await;
    // The tool accepts 1,000 characters. An escape has eight.
    let call = |ones: usize| format!("calculate {}{}", "\u{202e}".repeat(450), "1".repeat(ones));
    let question = ask(&telegram, &call(1)).await;
    telegram.press(42, question, "Deny");
    telegram.closed_question(question).await;
    telegram.wait_for(question + 1).await;
    let whole = telegram.sent()[question - 1]["text"].clone();
    let room = 4096 - whole.as_str().unwrap().encode_utf16().count();

    let question = ask(&telegram, &call(room + 1)).await;
    let shown = telegram.shown(question);
    assert_eq!(shown.text.encode_utf16().count(), 4096);
    telegram.press(42, question, "Deny");
    telegram.closed_question(question).await;
    telegram.wait_for(question + 1).await;

    let question = say(&telegram, &call(room + 2)).await;
    let shown = telegram.shown(question);
    assert_eq!(shown.labels(), ["Deny"]);
    let why = "\n\nThe arguments are too long for this message, so the call cannot be allowed here. Read and answer it in \
        the web UI: https://gate.example/approve/";
    assert!(shown.text.contains(why), "{}", shown.text);
    // The token of `Deny` does not allow the call.
    let allow = shown.data("Deny").replace(":deny", ":allow");
    let forged = telegram.press_data(42, (42, question), &allow);
    assert_eq!(telegram.press_answer(forged).await, GONE);
    assert_eq!(waiting(&owner).await.len(), 1);
    let deny = telegram.press_data(42, (42, question), &shown.data("Deny"));
    assert_eq!(telegram.press_answer(deny).await, "Denied.");
}

#[tokio::test]
async fn what_telegram_would_remove_is_shown() {
    let (_server, _owner, telegram) = trusted().await;
    let question = ask(&telegram, "calculate A\u{30a}\u{202e}1").await;
    let shown = telegram.shown(question);
    assert!(
        shown.text.contains(
            "\"A\\u{30A}\\u{202E}1\"\n}\n\n2 hidden characters are shown as escapes.\n\n"
        ),
        "{}",
        shown.text
    );
}
