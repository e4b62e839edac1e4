//! Files and voice messages of paired people.

use super::attachments::png;
use super::discord_server::{self, Discord};
use super::inbound::{pair, receive_through, session_of, settled};
use super::matrix_server::{self, Matrix};
use super::slack_server::Slack;
use super::telegram::{self, Telegram};
use super::{inbound_discord, inbound_matrix, inbound_slack, with_model_and};
use crate::audio::vendor::{KEY, Vendor, audio_of};
use gatehouse_testkit::{Actor, TestServer};
use serde_json::{Value, json};

/// Returns a server with a recognizer and a voice, and a channel that receives.
pub(super) async fn with_voice(vendor: &Vendor, kind: &str, fields: Value) -> (TestServer, Actor) {
    let variables = [
        ("SERVICE_VOICE__CACHE_MAX_BYTES", "0"),
        ("SERVICE_VOICE__TTS__OPENAI__BASE_URL", vendor.url.as_str()),
        ("SERVICE_VOICE__TTS__OPENAI__API_KEY", KEY),
        ("SERVICE_VOICE__STT__WHISPER__BASE_URL", vendor.url.as_str()),
        ("SERVICE_VOICE__STT__WHISPER__API_KEY", KEY),
    ];
    let (server, owner) = with_model_and(&variables).await;
    let account = json!({ "type": kind, "label": "Bot", "fields": fields });
    owner.rpc("channels.create", account).await.unwrap();
    (server, owner)
}

/// Returns the messages of a session that has this key.
pub(super) async fn history(owner: &Actor, key: &str) -> Vec<Value> {
    let session = session_of(owner, key).await;
    let params = json!({ "session": session["id"] });
    let history = owner.rpc("chat.history", params).await.unwrap();
    history["messages"].as_array().unwrap().clone()
}

pub(super) fn voice(telegram: &Telegram) -> Value {
    let id = telegram.upload(audio_of("hello", "opus"));
    json!({ "voice": { "file_id": id, "file_unique_id": "v", "duration": 1, "mime_type": "audio/ogg" } })
}

#[tokio::test]
async fn a_voice_message_is_transcribed_and_answered_with_text_and_voice() {
    let (vendor, telegram) = (Vendor::start().await, Telegram::start().await);
    let fields = json!({ "bot_token": telegram::TOKEN, "base_url": telegram.url(), "inbound": true,
        "voice_answers": true });
    let (server, owner) = with_voice(&vendor, "telegram", fields).await;
    pair(&owner, &telegram, 42, true).await;
    vendor.will_hear("say: It is noon.");
    telegram.write(42, voice(&telegram));
    assert_eq!(telegram.wait_for(2).await["text"], "It is noon.");
    let (fields, audio) = telegram.wait_for_voice(1).await;
    assert_eq!(fields, json!({ "chat_id": "42" }));
    assert_eq!(audio, audio_of("It is noon.", "opus"));
    let session = session_of(&owner, "channel:telegram:42").await;
    assert_eq!(session["tainted"], false, "the person's own words");
    let messages = history(&owner, "channel:telegram:42").await;
    assert_eq!(messages[0]["content"], "say: It is noon.");

    // A written message is answered only in writing.
    telegram.write(42, json!({ "text": "hello" }));
    assert_eq!(telegram.wait_for(3).await["text"], "pong");
    settled(&server, "telegram").await;
    assert_eq!(telegram.voices(), 1);

    // A voice message is answered only in writing too, once the channel's switch is off.
    let off = json!({ "id": "telegram", "fields": { "voice_answers": false } });
    owner.rpc("channels.update", off).await.unwrap();
    telegram.write(42, voice(&telegram));
    assert_eq!(telegram.wait_for(4).await["text"], "It is noon.");
    settled(&server, "telegram").await;
    assert_eq!(telegram.voices(), 1);
}

#[tokio::test]
async fn a_forwarded_voice_message_is_not_the_persons_own() {
    let (vendor, telegram) = (Vendor::start().await, Telegram::start().await);
    let fields =
        json!({ "bot_token": telegram::TOKEN, "base_url": telegram.url(), "inbound": true });
    let (_server, owner) = with_voice(&vendor, "telegram", fields).await;
    pair(&owner, &telegram, 42, true).await;
    let mut forwarded = voice(&telegram);
    forwarded["forward_origin"] = json!({ "type": "user", "date": 1 });
    telegram.write(42, forwarded);
    telegram.wait_for(2).await;
    let session = session_of(&owner, "channel:telegram:42").await;
    assert_eq!(session["tainted"], true);
}

#[tokio::test]
async fn a_voice_message_that_cannot_be_understood_is_answered_with_the_reason() {
    let (vendor, telegram) = (Vendor::start().await, Telegram::start().await);
    let fields =
        json!({ "bot_token": telegram::TOKEN, "base_url": telegram.url(), "inbound": true });
    let (_server, owner) = with_voice(&vendor, "telegram", fields.clone()).await;
    pair(&owner, &telegram, 42, true).await;
    vendor.will_hear(" ");
    telegram.write(42, voice(&telegram));
    let answer = telegram.wait_for(2).await;
    assert_eq!(
        answer["text"],
        "Nothing could be understood in the voice message."
    );

    let telegram = Telegram::start().await;
    let fields =
        json!({ "bot_token": telegram::TOKEN, "base_url": telegram.url(), "inbound": true });
    let (_server, owner) = receive_through("telegram", fields).await;
    pair(&owner, &telegram, 42, true).await;
    telegram.write(42, voice(&telegram));
    let answer = telegram.wait_for(2).await;
    assert_eq!(
        answer["text"],
        "Voice messages cannot be received here. Please write."
    );
}

#[tokio::test]
async fn files_and_recordings_of_slack_are_received() {
    let (vendor, slack) = (Vendor::start().await, Slack::start().await);
    let (_server, owner) = with_voice(&vendor, "slack", slack.fields()).await;
    inbound_slack::pair(&owner, &slack, "U1").await;
    slack.upload("U1", "What is this?", ("a.png", None), png());
    assert_eq!(slack.wait_for(2).await["text"], "pong");
    let messages = history(&owner, "channel:slack:U1").await;
    assert_eq!(messages[0]["content"], "What is this?");
    assert_eq!(messages[0]["attachments"][0]["name"], "a.png");
    vendor.will_hear("say: heard");
    let recording = ("audio_message.m4a", Some("slack_audio"));
    slack.upload("U1", "", recording, audio_of("hello", "opus"));
    assert_eq!(slack.wait_for(3).await["text"], "heard");
    slack.take_files_scope();
    slack.upload("U1", "", ("b.png", None), png());
    let answer = slack.wait_for(4).await;
    assert_eq!(answer["text"], "This cannot be answered right now.");
}

#[tokio::test]
async fn attachments_and_recordings_of_discord_are_received() {
    let (vendor, discord) = (Vendor::start().await, Discord::start().await);
    let fields = discord.fields(discord_server::TOKEN);
    let (_server, owner) = with_voice(&vendor, "discord", fields).await;
    discord.connected(1, 0).await;
    inbound_discord::pair(&owner, &discord, "42").await;
    let picture = discord.attachment("a.png", png());
    discord.write("42", "What is this?", json!({ "attachments": [picture] }));
    assert_eq!(discord.wait_for(2).await.1, "pong");
    let messages = history(&owner, "channel:discord:42").await;
    assert_eq!(messages[0]["attachments"][0]["type"], "image/png");
    vendor.will_hear("say: heard");
    let recording = discord.attachment("voice-message.ogg", audio_of("hello", "opus"));
    discord.write(
        "42",
        "",
        json!({ "attachments": [recording], "flags": 8192 }),
    );
    assert_eq!(discord.wait_for(3).await.1, "heard");
    // A file address outside Discord is not requested.
    let mut elsewhere = discord.attachment("a.png", png());
    elsewhere["url"] = json!("https://evil.example/a.png");
    discord.write("42", "", json!({ "attachments": [elsewhere] }));
    assert_eq!(
        discord.wait_for(4).await.1,
        "This cannot be answered right now."
    );
}

#[tokio::test]
async fn media_of_matrix_are_received_also_from_older_servers() {
    let (vendor, matrix) = (Vendor::start().await, Matrix::start().await);
    let fields = json!({ "homeserver": matrix.url(), "access_token": matrix_server::TOKEN, "inbound": true });
    let (_server, owner) = with_voice(&vendor, "matrix", fields).await;
    inbound_matrix::pair(&owner, &matrix, "!direct:a").await;
    let person = "@p:a.example";
    let send = |content: Value| matrix.event("!direct:a", person, "m.room.message", &content);
    send(
        json!({ "msgtype": "m.image", "body": "What is this?", "filename": "a.png", "url": matrix.upload(png()) }),
    );
    assert_eq!(matrix.wait_for(2).await.1, "pong");
    let messages = history(&owner, &format!("channel:matrix:{person}")).await;
    assert_eq!(messages[0]["content"], "What is this?");
    assert_eq!(messages[0]["attachments"][0]["name"], "a.png");
    matrix.set_old();
    vendor.will_hear("say: heard");
    let recording = matrix.upload(audio_of("hello", "opus"));
    send(
        json!({ "msgtype": "m.audio", "body": "voice.ogg", "url": recording, "org.matrix.msc3245.voice": {} }),
    );
    assert_eq!(matrix.wait_for(3).await.1, "heard");
    let before = matrix.sent().len();
    send(json!({ "msgtype": "m.file", "body": "a.txt", "file": { "url": "mxc://a.example/x" } }));
    let answer = matrix.wait_for(before + 1).await.1;
    assert!(answer.starts_with("Encrypted files cannot"), "{answer}");
    for content in [
        json!({ "msgtype": "m.file", "body": "a.txt", "url": "mxc://a.example/../x" }),
        json!({ "msgtype": "m.location", "body": "here", "geo_uri": "geo:1,2" }),
    ] {
        let before = matrix.sent().len();
        send(content);
        let answer = matrix.wait_for(before + 1).await.1;
        assert!(answer.starts_with("Only text, voice messages"), "{answer}");
    }
}
