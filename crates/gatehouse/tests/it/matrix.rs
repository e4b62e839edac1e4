//! A Matrix channel with Synapse (<https://element-hq.github.io/synapse/latest/>): pairing, answers, edits, replies,
//! pictures, groups, encrypted rooms and reactions. `GATEHOUSE_TEST_SYNAPSE` names a Python interpreter that has Synapse
//! (`cargo xtask test` prepares it).

mod synapse;

use crate::process::{Installation, Server};
use data_encoding::BASE64;
use gatehouse_doubles::openai::{FakeModel, Reaction, call, has_result, say};
use serde_json::{Value, json};
use std::time::Duration;
use synapse::{Synapse, User};

/// A PNG image of one pixel.
const PNG: &[u8] = b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn answer(request: &Value) -> Reaction {
    let last = request["messages"].as_array().unwrap().last().unwrap();
    let text = last["content"].to_string();
    if has_result(request) {
        say("The call has run.")
    } else if text.contains("calculate") {
        call("calc", &json!({ "expression": "6*7" }))
    } else if text.contains("count") {
        // Two messages.
        say(&format!("{}end", "<&> ".repeat(20_000)))
    } else {
        say(&format!("Heard: {text}"))
    }
}

async fn result(server: &Server, method: &str, params: Value) -> Value {
    let answer = server.rpc("", method, params).await;
    assert!(answer["error"].is_null(), "{method}: {answer}");
    answer["result"].clone()
}

/// Returns the pairing code in the bot's message.
fn code_of(event: &Value) -> String {
    let text = event["content"]["body"].as_str().unwrap();
    let code = text.strip_prefix("Your pairing code is ").unwrap();
    code.split('.').next().unwrap().to_owned()
}

struct Chat {
    synapse: Synapse,
    _model: FakeModel,
    _installation: Installation,
    server: Server,
    bot: User,
    person: User,
    /// The direct room of the person.
    room: String,
}

/// Starts everything and pairs the person; `None` without Synapse.
async fn paired() -> Option<Chat> {
    let synapse = Synapse::start().await?;
    let (bot, person) = (synapse.register("bot").await, synapse.register("ada").await);
    let model = FakeModel::answering(answer).await;
    let mut installation = Installation::new();
    installation.model(&model.url);
    installation.env("SERVICE_TOOLS__REQUIRE_APPROVAL", "calc");
    installation.env("SERVICE_SERVER__EXTERNAL_URL", "https://gate.example");
    let server = installation.start();
    let fields = json!({ "homeserver": synapse.url, "access_token": bot.token, "inbound": true });
    let channel = json!({ "type": "matrix", "label": "Bot", "fields": fields });
    result(&server, "channels.create", channel).await;
    let room = person.create(&[&bot], json!({ "is_direct": true })).await;
    let code = code_of(&person.hears((&room, &bot), "code").await);
    let paired = result(
        &server,
        "pairing.approve",
        json!({ "code": code, "trusted": false }),
    )
    .await;
    assert_eq!(paired["person"], *person.id);
    Some(Chat {
        synapse,
        _model: model,
        _installation: installation,
        server,
        bot,
        person,
        room,
    })
}

impl Chat {
    /// Waits for the bot's message with this word in the direct room.
    async fn hears(&self, word: &str) -> Value {
        self.person.hears((&self.room, &self.bot), word).await
    }

    /// Creates a room with the bot, and waits until the bot has joined it.
    async fn room_with(&self, owner: &User, others: &[&User], settings: Value) -> String {
        let mut invited = vec![&self.bot];
        invited.extend(others);
        let room = owner.create(&invited, settings).await;
        for other in others {
            other.join(&room).await;
        }
        let joined = |event: &Value| event["content"]["membership"] == "join";
        owner.until((&room, &self.bot), joined).await;
        room
    }

    async fn channel(&self) -> Value {
        let listed = result(&self.server, "channels.list", json!({})).await;
        let channels = listed["channels"].as_array().unwrap();
        channels
            .iter()
            .find(|it| it["id"] == "matrix")
            .unwrap()
            .clone()
    }
}

fn encrypted() -> Value {
    json!({ "is_direct": true, "initial_state": [{ "type": "m.room.encryption", "state_key": "",
        "content": { "algorithm": "m.megolm.v1.aes-sha2" } }] })
}

#[tokio::test]
async fn a_paired_person_asks_edits_replies_and_sends_a_picture() {
    let Some(chat) = paired().await else { return };
    let (person, room) = (&chat.person, chat.room.as_str());
    let first = person.say(room, "hello", json!({})).await;
    let answered = chat.hears("hello").await;
    assert_eq!(answered["content"]["msgtype"], "m.text");
    assert_eq!(answered["content"]["m.mentions"], json!({}));
    assert!(answered["content"]["m.relates_to"].is_null(), "{answered}");

    let edit = json!({ "m.new_content": { "msgtype": "m.text", "body": "good morning" },
        "m.relates_to": { "rel_type": "m.replace", "event_id": first } });
    person.say(room, "* good morning", edit).await;
    chat.hears("good morning").await;

    let reply =
        json!({ "m.relates_to": { "m.in_reply_to": { "event_id": answered["event_id"] } } });
    person.say(room, "what was that", reply).await;
    let quoting = chat.hears("what was that").await;
    let text = quoting["content"]["body"].as_str().unwrap();
    assert!(text.contains("Quotes an earlier answer of yours"), "{text}");

    let url = person
        .upload("image/png", &BASE64.decode(PNG).unwrap())
        .await;
    let picture = json!({ "msgtype": "m.image", "body": "Look at this", "filename": "a.png",
        "url": url, "info": { "mimetype": "image/png" } });
    person.send(room, "m.room.message", &picture).await;
    chat.hears("Look at this").await;
    let sessions = result(&chat.server, "sessions.list", json!({})).await;
    let session = json!({ "session": sessions["sessions"][0]["id"] });
    let history = result(&chat.server, "chat.history", session).await;
    let messages = history["messages"].as_array().unwrap();
    let is_picture = |it: &Value| it["attachments"][0]["name"] == "a.png";
    assert!(messages.iter().any(is_picture), "{history}");

    // The server limits messages, so the rest of the answer waits.
    person.say(room, "count", json!({})).await;
    chat.hears("<&> end").await;
    let events = person.events_by(room, &chat.bot).await;
    let is_part = |event: &&Value| {
        event["content"]["body"]
            .as_str()
            .is_some_and(|it| it.starts_with("<&>"))
    };
    assert_eq!(events.iter().filter(is_part).count(), 2);
    assert!(chat.channel().await["inbound_error"].is_null());
    chat.server.stop();
}

#[tokio::test]
async fn strangers_get_a_code_each_and_nothing_else() {
    let Some(chat) = paired().await else { return };
    // More codes than the server accepts at a time.
    let mut strangers = Vec::new();
    for name in ["eve", "mallory", "trudy", "oscar", "wendy"] {
        let stranger = chat.synapse.register(name).await;
        let room = stranger
            .create(&[&chat.bot], json!({ "is_direct": true }))
            .await;
        strangers.push((stranger, room));
    }
    for (stranger, room) in &strangers {
        stranger.hears((room, &chat.bot), "code").await;
        stranger.say(room, "answer me", json!({})).await;
    }
    let (stranger, _) = &strangers[0];
    let group = chat
        .room_with(&chat.person, &[stranger], json!({ "name": "Group" }))
        .await;
    let mention = json!({ "m.mentions": { "user_ids": [chat.bot.id] } });
    stranger.say(&group, "bot: answer me", mention).await;
    // Answered after everything before it.
    chat.person.say(&chat.room, "hello", json!({})).await;
    chat.hears("hello").await;
    let is_message = |event: &&Value| event["type"] == "m.room.message";
    for (stranger, room) in &strangers {
        let events = stranger.events_by(room, &chat.bot).await;
        assert_eq!(events.iter().filter(is_message).count(), 1, "{events:?}");
    }
    let events = chat.person.events_by(&group, &chat.bot).await;
    assert_eq!(events.iter().filter(is_message).count(), 0, "{events:?}");
    chat.server.stop();
}

#[tokio::test]
async fn in_a_group_answers_are_replies_and_a_reply_to_the_bot_is_answered() {
    let Some(chat) = paired().await else { return };
    let other = chat.synapse.register("other").await;
    let person = &chat.person;
    let group = chat
        .room_with(person, &[&other], json!({ "name": "Group" }))
        .await;
    person.say(&group, "good evening all", json!({})).await;
    let mention = json!({ "m.mentions": { "user_ids": [chat.bot.id] } });
    let asked = person.say(&group, "bot: good morning", mention).await;
    let answered = person.hears((&group, &chat.bot), "good morning").await;
    let replied =
        |event: &Value| event["content"]["m.relates_to"]["m.in_reply_to"]["event_id"].clone();
    assert_eq!(replied(&answered), *asked);
    let edit = json!({ "m.relates_to": { "rel_type": "m.replace", "event_id": asked },
        "m.new_content": { "msgtype": "m.text", "body": "bot: good afternoon",
            "m.mentions": { "user_ids": [chat.bot.id] } } });
    person.say(&group, "* bot: good afternoon", edit).await;
    let corrected = person.hears((&group, &chat.bot), "good afternoon").await;
    assert_eq!(replied(&corrected), *asked, "the original of the edit");
    let reply = json!({ "m.mentions": {},
        "m.relates_to": { "m.in_reply_to": { "event_id": answered["event_id"] } } });
    let asked = person.say(&group, "and good night", reply).await;
    let answered = person.hears((&group, &chat.bot), "good night").await;
    assert_eq!(replied(&answered), *asked);
    let is_answer = |event: &&Value| event["type"] == "m.room.message";
    let events = person.events_by(&group, &chat.bot).await;
    assert_eq!(events.iter().filter(is_answer).count(), 3, "{events:?}");
    chat.server.stop();
}

#[tokio::test]
async fn in_an_encrypted_room_the_bot_says_what_to_do() {
    let Some(chat) = paired().await else { return };
    let person = &chat.person;
    let room = chat.room_with(person, &[], encrypted()).await;
    let unreadable = json!({ "algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "AwgAEn",
        "sender_key": "a", "device_id": "b", "session_id": "c" });
    person.send(&room, "m.room.encrypted", &unreadable).await;
    person.hears((&room, &chat.bot), "without encryption").await;

    let stranger = chat.synapse.register("eve").await;
    let room = stranger.create(&[&chat.bot], encrypted()).await;
    let code = stranger.hears((&room, &chat.bot), "code").await;
    let text = code["content"]["body"].as_str().unwrap();
    assert!(text.contains("without encryption"), "{text}");

    let mut group = encrypted();
    group["is_direct"] = json!(false);
    let group = chat.room_with(person, &[&stranger], group).await;
    person
        .hears((&group, &chat.bot), "without encryption")
        .await;
    person.send(&group, "m.room.encrypted", &unreadable).await;
    let shown = async {
        loop {
            let channel = chat.channel().await;
            if let Some(error) = channel["inbound_error"].as_str() {
                return error.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let shown = tokio::time::timeout(Duration::from_mins(1), shown).await;
    assert!(shown.unwrap().contains("encrypted Matrix group"));
    chat.server.stop();
}

#[tokio::test]
async fn a_trusted_person_allows_a_call_with_a_reaction() {
    let Some(chat) = paired().await else { return };
    let people = result(&chat.server, "pairing.people", json!({})).await;
    let id = &people["people"][0]["id"];
    result(
        &chat.server,
        "pairing.trust",
        json!({ "id": id, "trusted": true }),
    )
    .await;
    chat.person.say(&chat.room, "calculate", json!({})).await;
    let question = chat.hears("6*7").await;
    let place = (chat.room.as_str(), &chat.bot);
    let is_allow = |event: &Value| event["content"]["m.relates_to"]["key"] == "Allow";
    let offered = chat.person.until(place, is_allow).await;
    assert_eq!(
        offered["content"]["m.relates_to"]["event_id"],
        question["event_id"]
    );
    let reaction = json!({ "m.relates_to": { "rel_type": "m.annotation",
        "event_id": question["event_id"], "key": "Allow" } });
    chat.person.send(&chat.room, "m.reaction", &reaction).await;
    chat.hears("The call has run.").await;
    let is_result = |event: &Value| {
        let relation = &event["content"]["m.relates_to"];
        relation["rel_type"] == "m.replace" && relation["event_id"] == question["event_id"]
    };
    chat.person.until(place, is_result).await;
    chat.server.stop();
}
