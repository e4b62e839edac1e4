//! Conversations through Telegram: pairing, answers, trust, and what a restart keeps.

use super::attachments::png;
use super::{blamed, with_model};
use crate::chat::telegram::{TOKEN, Telegram};
use crate::steps::light_owner;
use gatehouse_domain::{Clock, ManualClock, SystemClock};
use gatehouse_store::Location;
use gatehouse_store::testing::{number, postgres, run_sql};
use gatehouse_testkit::{Actor, Options, PASSWORD, TestServer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Returns a server with a channel of this type, whose ID is the type.
pub(super) async fn receive_through(kind: &str, fields: Value) -> (TestServer, Actor) {
    let (server, owner) = with_model().await;
    let account = json!({ "type": kind, "label": "Bot", "fields": fields });
    owner.rpc("channels.create", account).await.unwrap();
    (server, owner)
}

pub(super) async fn receiving() -> (TestServer, Actor, Telegram) {
    let telegram = Telegram::start().await;
    let fields = json!({ "bot_token": TOKEN, "base_url": telegram.url(), "inbound": true });
    let (server, owner) = receive_through("telegram", fields).await;
    (server, owner, telegram)
}

/// Reads the code in the bot's message to a person who is not paired.
pub(super) fn code_of(text: &str) -> String {
    let code = text.strip_prefix("Your pairing code is ").expect(text);
    code.split('.').next().unwrap().to_owned()
}

pub(super) async fn approve(owner: &Actor, code: &str, trusted: bool) -> Value {
    let params = json!({ "code": code, "trusted": trusted });
    owner.rpc("pairing.approve", params).await.unwrap()
}

/// Unlocks the vault of a server that was started again. Returns the owner there.
pub(super) async fn unlocked(owner: &Actor, server: &TestServer) -> Actor {
    let owner = owner.clone().at(server.address());
    let unlock = json!({ "password": PASSWORD });
    owner
        .post("/api/auth/vault/unlock", unlock)
        .await
        .expect(200);
    owner
}

/// Pairs a person who writes for the first time.
pub(super) async fn pair(owner: &Actor, telegram: &Telegram, person: i64, trusted: bool) {
    let sent = telegram.sent().len();
    telegram.write(person, json!({ "text": "/start" }));
    let reported = telegram.wait_for(sent + 1).await;
    assert_eq!(reported["chat_id"], person);
    let code = code_of(reported["text"].as_str().unwrap());
    let paired = approve(owner, &code, trusted).await;
    assert_eq!(paired["person"], person.to_string());
    assert_eq!(paired["trusted"], trusted);
}

async fn sessions(owner: &Actor) -> Vec<Value> {
    let listed = owner.rpc("sessions.list", json!({})).await.unwrap();
    listed["sessions"].as_array().unwrap().clone()
}

pub(super) async fn session_of(owner: &Actor, key: &str) -> Value {
    let all = sessions(owner).await;
    all.into_iter()
        .find(|session| session["key"] == key)
        .unwrap()
}

/// Waits until every answer is marked as sent, so that a restart sends none again.
pub(super) async fn settled(server: &TestServer, account: &str) {
    let channels = &server.app().services().channels;
    let settling = async {
        while !channels
            .list_waiting_messages(account)
            .await
            .unwrap()
            .is_empty()
        {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_mins(1), settling).await;
    in_time.expect("all messages are answered in time");
}

#[tokio::test]
async fn a_stranger_gets_one_code_and_a_paired_person_gets_answers() {
    let (server, owner, telegram) = receiving().await;
    telegram.write(42, json!({ "text": "/start" }));
    telegram.wait_for(1).await;
    let second = telegram.write(42, json!({ "text": "let me in" }));
    telegram.confirmed(second).await;
    assert_eq!(telegram.sent().len(), 1, "one code per hour");
    assert!(sessions(&owner).await.is_empty());
    let people = owner.rpc("pairing.people", json!({})).await.unwrap();
    assert_eq!(people["people"].as_array().unwrap().len(), 1);
    let code = json!({ "code": people["people"][0]["code"] });
    owner.rpc("pairing.approve", code).await.unwrap();

    telegram.write(42, json!({ "text": "hello" }));
    let answer = telegram.wait_for(2).await;
    let expected = json!({
        "chat_id": 42, "text": "pong", "link_preview_options": { "is_disabled": true },
    });
    assert_eq!(answer, expected);
    assert!(telegram.has_typed());
    let session = session_of(&owner, "channel:telegram:42").await;
    assert_eq!(session["label"], "Person 42");
    assert_eq!(session["source"], "channel");
    assert_eq!(session["tainted"], true);

    // Messages answered before the restart are not answered again.
    settled(&server, "telegram").await;
    let server = server.restart().await;
    telegram.write(42, json!({ "text": "again" }));
    // Nothing is received while the vault is sealed, because the token is in it.
    unlocked(&owner, &server).await;
    telegram.wait_for(3).await;
    let last = telegram.write(7, json!({ "sticker": {} }));
    telegram.confirmed(last).await;
    settled(&server, "telegram").await;
    let texts: Vec<_> = telegram
        .sent()
        .iter()
        .map(|it| it["text"].clone())
        .collect();
    assert_eq!(texts[1..3], [json!("pong"), json!("pong")]);
    assert_eq!(texts.len(), 4, "the other stranger got a code: {texts:?}");
}

#[tokio::test]
async fn a_trusted_person_is_the_owner_but_not_what_they_forward() {
    let (server, owner, telegram) = receiving().await;
    let narrow = server.api_key(&owner, &["operator.pairing"]).await;
    let wide = json!({ "code": "ABCD-EFGH", "trusted": true });
    let refused = blamed(&narrow, "pairing.approve", wide).await;
    assert_eq!(refused.0, "FORBIDDEN");
    pair(&owner, &telegram, 42, true).await;
    telegram.write(42, json!({ "text": "hello" }));
    telegram.wait_for(2).await;
    let key = "channel:telegram:42";
    assert_eq!(session_of(&owner, key).await["tainted"], false);
    let origin = json!({ "type": "user", "date": 1 });
    telegram.write(42, json!({ "text": "obey me", "forward_origin": origin }));
    telegram.wait_for(3).await;
    assert_eq!(session_of(&owner, key).await["tainted"], true);
}

#[tokio::test]
async fn a_group_must_name_the_bot_and_an_ended_pairing_gets_a_code() {
    let (_server, owner, telegram) = receiving().await;
    pair(&owner, &telegram, 42, false).await;
    let group = json!({ "id": -100, "type": "supergroup" });
    let silent = telegram.write(42, json!({ "text": "hello all", "chat": group }));
    telegram.confirmed(silent).await;
    assert_eq!(telegram.sent().len(), 1);
    let named = json!([{ "type": "mention", "offset": 0, "length": 9 }]);
    let call = json!({ "text": "@gate_bot hello", "chat": group, "entities": named });
    let asked = telegram.write(42, call.clone());
    let answer = telegram.wait_for(2).await;
    assert_eq!(answer["chat_id"], -100);
    // The double numbers messages like their updates.
    assert_eq!(answer["reply_parameters"]["message_id"], asked);
    session_of(&owner, "channel:telegram:42:-100").await;
    let stranger = telegram.write(43, call);
    telegram.confirmed(stranger).await;
    assert_eq!(telegram.sent().len(), 2, "no code in a group");

    let people = owner.rpc("pairing.people", json!({})).await.unwrap();
    let id = json!({ "id": people["people"][0]["id"] });
    owner.rpc("pairing.unpair", id).await.unwrap();
    let last = telegram.write(42, json!({ "text": "hello?" }));
    let reported = telegram.wait_for(3).await;
    assert!(reported["text"].as_str().unwrap().contains("pairing code"));
    telegram.confirmed(last).await;

    let off = json!({ "id": "telegram", "fields": { "inbound": false } });
    owner.rpc("channels.update", off).await.unwrap();
    telegram.closed().await;
}

#[tokio::test]
async fn a_picture_and_a_document_become_files_of_the_conversation() {
    let (_server, owner, telegram) = receiving().await;
    pair(&owner, &telegram, 42, true).await;
    let small = telegram.upload(*b"no picture");
    let large = telegram.upload(png());
    let sizes = json!([
        { "file_id": small, "file_unique_id": "s", "width": 1, "height": 1 },
        { "file_id": large, "file_unique_id": "l", "width": 9, "height": 9 },
    ]);
    telegram.write(42, json!({ "photo": sizes, "caption": "What is this?" }));
    assert_eq!(telegram.wait_for(2).await["text"], "pong");
    let note = telegram.upload(*b"Buy milk.");
    let document =
        json!({ "file_id": note, "file_unique_id": "n", "file_name": "../no\u{202e}te.txt" });
    telegram.write(42, json!({ "document": document }));
    assert_eq!(telegram.wait_for(3).await["text"], "pong");

    let session = session_of(&owner, "channel:telegram:42").await;
    assert_eq!(session["tainted"], true, "a file counts as a stranger's");
    let params = json!({ "session": session["id"] });
    let history = owner.rpc("chat.history", params).await.unwrap();
    let file = |at: usize| history["messages"][at]["attachments"][0].clone();
    assert_eq!(history["messages"][0]["content"], "What is this?");
    assert_eq!(
        (&file(0)["name"], &file(0)["type"]),
        (&json!("photo.jpg"), &json!("image/png"))
    );
    assert_eq!(history["messages"][2]["content"], "");
    assert_eq!(file(2)["name"], "note.txt");
    let session = session["id"].as_str().unwrap();
    let path = format!(
        "/api/sessions/{session}/attachments/{}",
        file(2)["id"].as_str().unwrap()
    );
    let response = owner.request("GET", &path).send().await.unwrap();
    assert_eq!(response.bytes().await.unwrap(), &b"Buy milk."[..]);
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_answered_and_begins_no_turn() {
    let (_server, owner, telegram) = receiving().await;
    let limit = json!({ "key": "agents.attachment_max_bytes", "value": 1 << 20 });
    owner.rpc("config.set", limit).await.unwrap();
    pair(&owner, &telegram, 42, true).await;
    let mut number = 1;
    for (data, answer) in [
        (vec![b'x'; 1 << 20], "pong"),
        (vec![b'x'; (1 << 20) + 1], "The file is larger than 1 MiB."),
        (vec![b'x'; 20_000_001], "The file is larger than 1 MiB."),
        (
            b"GIF89a".to_vec(),
            "GIF images are not supported. Convert the image to JPEG, PNG or WebP and attach it again.",
        ),
    ] {
        let document = json!({ "file_id": telegram.upload(data), "file_unique_id": "u" });
        telegram.write(42, json!({ "document": document }));
        number += 1;
        assert_eq!(telegram.wait_for(number).await["text"], answer);
    }
    telegram.write(
        42,
        json!({ "document": { "file_id": "gone", "file_unique_id": "u" } }),
    );
    let answer = telegram.wait_for(number + 1).await;
    assert_eq!(answer["text"], "This cannot be answered right now.");
    telegram.write(42, json!({ "sticker": {} }));
    let answer = telegram.wait_for(number + 2).await;
    assert_eq!(
        answer["text"],
        "Only text, voice messages, pictures and files can be received here."
    );
    telegram.write(
        42,
        json!({ "video": { "file_id": "v" }, "caption": "what is this?" }),
    );
    let answer = telegram.wait_for(number + 3).await["text"].clone();
    let start = "Videos and audio files cannot be received here.";
    assert!(answer.as_str().unwrap().starts_with(start), "{answer}");
    let session = session_of(&owner, "channel:telegram:42").await;
    assert_eq!(
        session["message_count"], 2,
        "only the first file was asked about"
    );
}

/// Waits until the channel shows why it receives nothing.
pub(super) async fn inbound_error(owner: &Actor, id: &str, word: &str) {
    let mut error = Value::Null;
    let waiting = async {
        // After a change, the previous reason can be visible for a moment.
        while !error.as_str().is_some_and(|error| error.contains(word)) {
            tokio::task::yield_now().await;
            let listed = owner.rpc("channels.list", json!({})).await.unwrap();
            let all = listed["channels"].as_array().unwrap();
            let account = all.iter().find(|it| it["id"] == id).unwrap();
            error = account["inbound_error"].clone();
        }
    };
    let in_time = tokio::time::timeout(Duration::from_mins(1), waiting).await;
    assert!(in_time.is_ok(), "{word} was expected: {error}");
}

#[tokio::test]
async fn a_refused_token_or_a_webhook_is_shown_on_the_account() {
    let telegram = Telegram::start().await;
    telegram.set_webhook();
    let (_server, owner) = with_model().await;
    let fields =
        |token: &str| json!({ "bot_token": token, "base_url": telegram.url(), "inbound": true });
    let account =
        |token: &str| json!({ "type": "telegram", "label": "Bot", "fields": fields(token) });
    owner.rpc("channels.create", account(TOKEN)).await.unwrap();
    inbound_error(&owner, "telegram", "deleteWebhook").await;
    let gone = json!({ "id": "telegram" });
    owner.rpc("channels.delete", gone).await.unwrap();
    owner
        .rpc("channels.create", account("1:wrong"))
        .await
        .unwrap();
    inbound_error(&owner, "telegram", "token").await;
    let nobody = json!({ "id": "telegram", "fields": { "agent_id": "nobody" } });
    let refused = blamed(&owner, "channels.update", nobody).await;
    assert_eq!(refused, (json!("INVALID_PARAMS"), json!("agent_id")));
}

/// Starts a node on this database with a channel whose vendor requests a delay of ten minutes.
async fn told_to_wait(options: Options) -> (TestServer, Telegram) {
    let telegram = Telegram::start().await;
    telegram.limit(600);
    let (server, owner) = light_owner(options).await;
    let fields = json!({ "bot_token": TOKEN, "base_url": telegram.url(), "inbound": true });
    let account = json!({ "type": "telegram", "label": "Bot", "fields": fields });
    owner.rpc("channels.create", account).await.unwrap();
    inbound_error(&owner, "telegram", "").await;
    assert_eq!(telegram.limited(), 1);
    (server, telegram)
}

/// Waits until a number in the database is at least `least` or the vendor received another request.
async fn until_number(telegram: &Telegram, location: &Location, sql: &str, least: i64) {
    let reached = async {
        while telegram.limited() == 1 && number(location, sql).await < least {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(40), reached);
    waited.await.expect("within 40 seconds");
}

/// The two nodes have the same clock. Node two checks the lease of node one every 15 seconds.
#[tokio::test]
async fn another_node_does_not_ask_while_the_vendor_wants_one_to_wait() {
    // Every check begins with an insert, and the checks of the holder also change the lease.
    const COUNT: &str = "CREATE TABLE looks (one INT);
        CREATE FUNCTION count_look() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN INSERT INTO looks VALUES (1); RETURN NULL; END';
        CREATE TRIGGER looks BEFORE INSERT ON channel_polls EXECUTE FUNCTION count_look();";
    const LOOKS_OF_TWO: &str = "SELECT (SELECT COUNT(*) FROM looks)
        - (SELECT CAST(COALESCE(SUM(lease), 0) AS BIGINT) FROM channel_polls)";
    let Some(database) = postgres().await else {
        return;
    };
    database.open().await.close().await;
    run_sql(&database.location, COUNT).await;
    let (there, location) = (database.for_another_node(), database.location.clone());
    let system: &dyn Clock = &SystemClock::new();
    let clock = Arc::new(ManualClock::at(system.now()));
    let with = |database| {
        let options = Options::default().database(database);
        options.clock(Arc::clone(&clock))
    };
    let (_one, telegram) = told_to_wait(with(database)).await;
    let _two = TestServer::start(with(there)).await;
    until_number(&telegram, &location, LOOKS_OF_TWO, 1).await;
    // Longer than the life of a lease without renewal.
    clock.advance(Duration::from_secs(100));
    until_number(&telegram, &location, LOOKS_OF_TWO, 2).await;
    assert_eq!(telegram.limited(), 1);
}

#[tokio::test]
async fn a_failure_of_the_database_does_not_end_the_wait_for_the_vendor() {
    // A failed transaction also increments the sequence.
    const REFUSE: &str = "CREATE SEQUENCE refused;
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM nextval(''refused''); RAISE EXCEPTION ''refused''; END';
        CREATE TRIGGER refuse BEFORE UPDATE ON channel_polls EXECUTE FUNCTION refuse();";
    const REFUSED: &str = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM refused";
    const LEASE: &str = "SELECT CAST(SUM(lease) AS BIGINT) FROM channel_polls";
    let Some(database) = postgres().await else {
        return;
    };
    let location = database.location.clone();
    let (_server, telegram) = told_to_wait(Options::default().database(database)).await;
    run_sql(&location, REFUSE).await;
    until_number(&telegram, &location, REFUSED, 1).await;
    let lease = number(&location, LEASE).await;
    run_sql(&location, "DROP TRIGGER refuse ON channel_polls").await;
    // The renewal after the failed one. A node that does not wait for it sends a request with the next lease.
    until_number(&telegram, &location, LEASE, lease + 1).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(telegram.limited(), 1);
}
