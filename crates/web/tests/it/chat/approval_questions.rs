//! Questions about tool calls that Telegram changes, refuses or delays, and questions to the chats of
//! `approvals.notify`.

use super::approval_buttons::{
    ANSWERS, CANNOT, GONE, ask, ends_with, say, sent_labels, trust, trusted, waiting,
};
use super::approval_messages::text_of;
use super::inbound::{pair, receive_through, receiving};
use super::inbound_email::Post;
use crate::chat::telegram::Telegram;
use crate::webhooks::made;
use gatehouse_agents::AgentsSettings;
use gatehouse_doubles::openai::{FakeModel, call};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::time::Duration;

const LINK: &str = "https://gate.example/approve/";
const WAITS: &str = "A tool call waits for approval in the web UI.";
const WAITS_IN_CHAT: &str = "A tool call waits for approval in our direct chat.";
/// A chat that others read.
const GROUP: i64 = -100;
const NO_RIGHTS: (u16, &str) = (
    400,
    "Bad Request: not enough rights to send text messages to the chat",
);

/// Waiting calls of the owner are announced to a chat of the bot.
async fn notify(owner: &Actor, chat: &str) {
    let chat = json!({ "id": "telegram", "fields": { "chat_id": chat } });
    owner.rpc("channels.update", chat).await.unwrap();
    let notify = json!({ "key": "approvals.notify", "value": ["telegram"] });
    owner.rpc("config.set", notify).await.unwrap();
}

async fn send(owner: &Actor) {
    let send = json!({ "text": "calculate 6*7" });
    owner.rpc("chat.send", send).await.unwrap();
}

/// Makes the person ask for a calculation in a group.
fn ask_in_group(telegram: &Telegram) {
    let named = json!([{ "type": "mention", "offset": 14, "length": 9 }]);
    let call = json!({
        "text": "calculate 6*7 @gate_bot", "entities": named,
        "chat": { "id": GROUP, "type": "supergroup" },
    });
    telegram.write(42, call);
}

fn is_link(press_answer: &Value) {
    assert!(
        press_answer["text"].as_str().unwrap().contains(LINK),
        "{press_answer}"
    );
    assert!(press_answer["reply_markup"].is_null(), "{press_answer}");
}

async fn deny(owner: &Actor) {
    let asked = &waiting(owner).await[0];
    let deny = json!({ "id": asked["id"], "allow": false });
    owner.rpc("approval.resolve", deny).await.unwrap();
}

#[tokio::test]
async fn a_text_that_the_vendor_changes_can_never_be_allowed() {
    let (_server, owner, telegram) = trusted().await;
    telegram.garble();
    let question = say(&telegram, "calculate 6*7").await;
    assert_eq!(sent_labels(&telegram, question), ["Deny"]);
    let closed = telegram.closed_question(question).await;
    let text = "A tool call waits for approval, but this chat cannot show it exactly. Read and answer it in the web UI: \
        https://gate.example/approve/";
    assert!(closed.text.starts_with(text), "{}", closed.text);
    let sent = &telegram.sent()[question - 1]["reply_markup"];
    let button = sent["inline_keyboard"][0][0]["callback_data"].as_str();
    let allow = button.unwrap().replace(":deny", ":allow");
    let press = telegram.press_data(42, (42, question), &allow);
    assert_eq!(telegram.press_answer(press).await, GONE);
    assert_eq!(waiting(&owner).await.len(), 1);
    deny(&owner).await;
    assert_eq!(telegram.wait_for(question + 1).await["text"], "pong");
}

#[tokio::test]
async fn a_notified_chat_has_buttons_only_if_its_person_is_trusted() {
    let (_server, owner, telegram) = receiving().await;
    pair(&owner, &telegram, 42, false).await;
    notify(&owner, "42").await;
    send(&owner).await;
    is_link(&telegram.wait_for(2).await);

    trust(&owner, "42", true).await;
    send(&owner).await;
    let shown = telegram.offered(3, &ANSWERS).await;
    assert_eq!(shown.text.matches(LINK).count(), 1, "{}", shown.text);
    // The token of a button gives only the answer of that button.
    let session = shown.data("Allow").replace(":allow", ":session");
    let press = telegram.press_data(42, (42, 3), &session);
    assert_eq!(telegram.press_answer(press).await, GONE);
    let press = telegram.press_data(42, (42, 3), &shown.data("Allow"));
    assert_eq!(telegram.press_answer(press).await, "Allowed.");
    assert!(!telegram.closed_question(3).await.text.contains(LINK));

    // The person's own turn asks once, not twice.
    ask(&telegram, "calculate 6*7").await;
    telegram.press(42, 4, "Allow");
    assert_eq!(telegram.wait_for(5).await["text"], "pong");

    // A group gets the link.
    notify(&owner, "-100").await;
    send(&owner).await;
    is_link(&telegram.wait_for(6).await);
}

#[tokio::test]
async fn always_in_this_session_counts_for_the_session_that_the_question_shows() {
    let (_server, owner, telegram) = trusted().await;
    notify(&owner, "42").await;
    send(&owner).await;
    let shown = telegram.offered(2, &ANSWERS).await;
    let session = waiting(&owner).await[0]["session"].clone();
    let id = session.as_str().unwrap();
    let from = format!(
        "\n\nThe conversation, started in the web UI or through the API: calculate 6*7 (ID …{})\n\nAnswer until 20",
        &id[id.len() - 6..]
    );
    assert!(shown.text.contains(&from), "{}", shown.text);
    let press = telegram.press(42, 2, "Always in this session");
    assert_eq!(telegram.press_answer(press).await, "Allowed.");
    telegram.closed_question(2).await;

    let again = json!({ "session": session, "text": "calculate 6*8" });
    let again = owner.rpc("chat.send_sync", again).await.unwrap();
    assert_eq!(again["stop"], "end", "{again}");
    send(&owner).await;
    telegram.offered(3, &ANSWERS).await;
    let asked = waiting(&owner).await;
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_ne!(asked[0]["session"], session);
}

#[tokio::test]
async fn a_garbled_question_to_a_notified_chat_names_its_link_once() {
    let (_server, owner, telegram) = trusted().await;
    notify(&owner, "42").await;
    telegram.garble();
    send(&owner).await;
    let closed = telegram.closed_question(2).await;
    assert_eq!(closed.text.matches(LINK).count(), 1, "{}", closed.text);
}

#[tokio::test]
async fn a_chat_that_refuses_a_question_gets_the_link() {
    let (_server, owner, telegram) = trusted().await;
    notify(&owner, "42").await;
    telegram.refuse_buttons(Some(NO_RIGHTS));
    send(&owner).await;
    is_link(&telegram.wait_for(2).await);
    deny(&owner).await;
    // The same applies if the call belongs to the person's own turn.
    telegram.write(42, json!({ "text": "calculate 6*7" }));
    is_link(&telegram.wait_for(3).await);
    assert_eq!(waiting(&owner).await.len(), 1);
}

#[tokio::test]
async fn a_trusted_person_who_writes_mail_gets_the_call_as_a_reply() {
    let mut post = Post::start().await;
    let (_server, owner) = receive_through("email", post.fields("gate@example.com")).await;
    post.imap.seen("IDLE", 1).await;
    post.pair(&owner, "ann@a.example", true).await;
    post.write("ann@a.example", "calculate 6*7");
    let press_answer = post.wait_for(2).await;
    assert_eq!(press_answer.to, ["RCPT TO:<ann@a.example>"]);
    assert_eq!(press_answer.header("In-Reply-To"), "<q2@a.example>");
    let text = text_of(&press_answer);
    assert!(text.contains("\"expression\": \"6*7\""), "{text}");
    assert!(text.contains(LINK), "{text}");
    deny(&owner).await;
    assert_eq!(post.wait_for(3).await.body().trim_end(), "pong");

    // A link that is its own credential is not sent by mail unless the owner names the address.
    let links = json!({ "key": "approvals.links", "value": "bearer" });
    owner.rpc("config.set", links).await.unwrap();
    post.write("ann@a.example", "calculate 6*8");
    assert_eq!(post.wait_for(4).await.body().trim_end(), WAITS);
    deny(&owner).await;
    post.wait_for(5).await;

    // A person who is not trusted gets no note.
    trust(&owner, "ann@a.example", false).await;
    post.write("ann@a.example", "calculate 6*9");
    while waiting(&owner).await.is_empty() {
        tokio::task::yield_now().await;
    }
    deny(&owner).await;
    assert_eq!(post.wait_for(6).await.body().trim_end(), "pong");
}

#[tokio::test]
async fn a_trusted_person_in_a_group_is_asked_in_the_direct_chat() {
    let (server, owner, telegram) = trusted().await;
    ask_in_group(&telegram);
    let shown = telegram.offered(2, &ANSWERS).await;
    assert_eq!(shown.chat, 42);
    let from = "\n\nThe conversation, started by a message from telegram:42:-100: ";
    assert!(shown.text.contains(from), "{}", shown.text);
    let press_answer = telegram.wait_for(3).await;
    assert_eq!(press_answer["chat_id"], GROUP);
    assert_eq!(press_answer["text"], WAITS_IN_CHAT);
    // In the group, the button does nothing.
    let in_group = telegram.press_data(42, (GROUP, 2), &shown.data("Allow"));
    assert_eq!(telegram.press_answer(in_group).await, CANNOT);
    assert_eq!(waiting(&owner).await.len(), 1);
    let press = telegram.press(42, 2, "Allow");
    assert_eq!(telegram.press_answer(press).await, "Allowed.");
    let closed = telegram.closed_question(2).await;
    ends_with(&closed, "Allowed. The call runs.");
    let answer = telegram.wait_for(4).await;
    assert_eq!(
        (&answer["chat_id"], &answer["text"]),
        (&json!(GROUP), &json!("pong"))
    );

    let agents = &server.app().services().agents;
    agents.update_settings(AgentsSettings {
        approval_wait: Duration::from_secs(1),
        require_approval: vec!["calc".to_owned()],
        ..AgentsSettings::default()
    });
    ask_in_group(&telegram);
    assert_eq!(telegram.wait_for(5).await["chat_id"], 42);
    let closed = telegram.closed_question(5).await;
    ends_with(&closed, "Nobody answered in time. The call does not run.");
}

#[tokio::test]
async fn a_group_gets_only_the_note_if_its_person_cannot_be_asked() {
    let (_server, owner, telegram) = trusted().await;
    telegram.refuse_buttons(Some(NO_RIGHTS));
    ask_in_group(&telegram);
    let press_answer = telegram.wait_for(2).await;
    assert_eq!(
        (&press_answer["chat_id"], &press_answer["text"]),
        (&json!(GROUP), &json!(WAITS))
    );
    deny(&owner).await;
    assert_eq!(telegram.wait_for(3).await["text"], "pong");

    // A person who is not trusted gets neither a question nor a note.
    telegram.refuse_buttons(None);
    trust(&owner, "42", false).await;
    ask_in_group(&telegram);
    while waiting(&owner).await.is_empty() {
        tokio::task::yield_now().await;
    }
    deny(&owner).await;
    let answer = telegram.wait_for(4).await;
    assert_eq!(
        (&answer["chat_id"], &answer["text"]),
        (&json!(GROUP), &json!("pong"))
    );
}

#[tokio::test]
async fn nobody_is_asked_again_after_their_trust() {
    let (_server, owner, telegram) = trusted().await;
    notify(&owner, "42").await;
    telegram.refuse_buttons(Some((429, "Too Many Requests: retry after 1")));
    send(&owner).await;
    telegram.refused_buttons().await;
    trust(&owner, "42", false).await;
    telegram.refuse_buttons(None);
    is_link(&telegram.wait_for(2).await);
}

#[tokio::test]
async fn presses_count_while_telegram_does_not_answer() {
    let (_server, owner, telegram) = trusted().await;
    telegram.hold_notes();
    let question = ask(&telegram, "calculate 6*7").await;
    let allow = telegram.shown(question).data("Allow");
    // More batches than are processed concurrently.
    for _ in 0..40 {
        let press = telegram.press_data(42, (42, 1), "no such call");
        telegram.confirmed(press).await;
    }
    telegram.press_data(42, (42, question), &allow);
    let closed = telegram.closed_question(question).await;
    ends_with(&closed, "Allowed. The call runs.");
    assert!(waiting(&owner).await.is_empty());
}

#[tokio::test]
async fn what_a_person_always_allowed_ends_with_their_trust() {
    let (_server, owner, telegram) = trusted().await;
    let allowed = async || {
        let listed = owner.rpc("approval.remembered", json!({})).await.unwrap();
        listed["calls"].as_array().unwrap().len()
    };
    let always = async |text: &str, label: &str, again: &str| {
        let question = ask(&telegram, text).await;
        telegram.press(42, question, label);
        assert_eq!(telegram.wait_for(question + 1).await["text"], "pong");
        let answer = say(&telegram, again).await;
        assert_eq!(telegram.shown(answer).text, "pong");
        assert_eq!(allowed().await, 1);
    };
    let (session, arguments) = ("Always in this session", "Always with these arguments");
    always("calculate 6*7", arguments, "calculate 6*7").await;
    // Other arguments still need an approval.
    let question = ask(&telegram, "calculate 6*8").await;
    telegram.press(42, question, "Deny");
    telegram.wait_for(question + 1).await;
    trust(&owner, "42", false).await;
    assert_eq!(allowed().await, 0);
    trust(&owner, "42", true).await;
    always("calculate 6*7", session, "calculate 6*9").await;
    // Another person's trust does not matter.
    pair(&owner, &telegram, 4, true).await;
    trust(&owner, "4", false).await;
    assert_eq!(allowed().await, 1);
    trust(&owner, "42", false).await;
    assert_eq!(allowed().await, 0);

    trust(&owner, "42", true).await;
    always("calculate 6*8", session, "calculate 6*9").await;
    let people = owner.rpc("pairing.people", json!({})).await.unwrap();
    let mut people = people["people"].as_array().unwrap().iter();
    let id = people.find(|it| it["person"] == "42").unwrap()["id"].clone();
    let unpair = json!({ "id": id });
    owner.rpc("pairing.unpair", unpair).await.unwrap();
    assert_eq!(allowed().await, 0);

    pair(&owner, &telegram, 42, true).await;
    always("calculate 6*8", session, "calculate 6*9").await;
    let delete = json!({ "id": "telegram" });
    owner.rpc("channels.delete", delete).await.unwrap();
    assert_eq!(allowed().await, 0);
}

#[tokio::test]
async fn a_reset_ends_the_trust_in_a_person_and_what_they_allowed() {
    let (server, owner, telegram) = trusted().await;
    let question = ask(&telegram, "calculate 6*7").await;
    telegram.press(42, question, "Always with these arguments");
    assert_eq!(telegram.wait_for(question + 1).await["text"], "pong");
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    // Auth is disabled, so no credential is needed.
    let local = server.local();
    let people = local.rpc("pairing.people", json!({})).await.unwrap();
    let person = &people["people"][0];
    assert_eq!(
        (&person["person"], &person["trusted"]),
        (&json!("42"), &json!(false))
    );
    let listed = local.rpc("approval.remembered", json!({})).await.unwrap();
    assert_eq!(listed["calls"], json!([]));
}

#[tokio::test]
async fn a_call_names_the_person_that_it_comes_from() {
    let (_server, owner, telegram) = trusted().await;
    say(&telegram, "calculate 6*7").await;
    let conversation = waiting(&owner).await[0]["conversation"].clone();
    assert_eq!(conversation["source"], "channel", "{conversation}");
    assert_eq!(conversation["from"], "telegram:42", "{conversation}");
}

#[tokio::test]
async fn a_call_names_the_webhook_that_it_comes_from() {
    let model = FakeModel::answering(|_| call("calc", &json!({ "expression": "6*7" }))).await;
    let options = Options::default()
        .model(&model.url, "m1")
        .env("SERVICE_TOOLS__REQUIRE_APPROVAL", "calc");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let more =
        json!({ "name": "Sums", "deliver_only": false, "tool_policy": { "allow": ["calc"] } });
    let hook = made(&owner, more).await;
    let headers = [("x-webhook-secret", hook.secret())];
    let sent = crate::webhooks::send(&server.remote(), &hook.path(), &headers, "{}").await;
    sent.expect(202);
    let conversation = loop {
        if let Some(asked) = waiting(&owner).await.pop() {
            break asked["conversation"].clone();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(conversation["source"], "webhook", "{conversation}");
    assert_eq!(conversation["from"], "Sums", "{conversation}");
    deny(&owner).await;
}
