//! Voice messages as answers: their recipients, and the text that remains if they fail.

use super::discord_server::{self, Discord};
use super::inbound::{pair, settled};
use super::inbound_files::{voice, with_voice};
use super::matrix_server::{self, Matrix};
use super::slack_server::Slack;
use super::telegram::{self, Telegram};
use super::{inbound_discord, inbound_matrix, inbound_slack};
use crate::audio::vendor::{Vendor, audio_of};
use serde_json::{Value, json};

const SAID: &str = "say: It is noon.";
const ANSWER: &str = "It is noon.";

fn recording_of_matrix(matrix: &Matrix) -> Value {
    let url = matrix.upload(audio_of("hello", "opus"));
    json!({ "msgtype": "m.audio", "body": "voice.ogg", "url": url, "org.matrix.msc3245.voice": {} })
}

fn matrix_fields(matrix: &Matrix) -> Value {
    json!({ "homeserver": matrix.url(), "access_token": matrix_server::TOKEN, "inbound": true,
        "voice_answers": true })
}

#[tokio::test]
async fn slack_gets_the_text_and_an_audio_file() {
    let (vendor, slack) = (Vendor::start().await, Slack::start().await);
    let (server, owner) = with_voice(&vendor, "slack", slack.fields()).await;
    inbound_slack::pair(&owner, &slack, "U1").await;
    vendor.will_hear(SAID);
    let recording = || ("audio_message.m4a", Some("slack_audio"));
    slack.upload("U1", "", recording(), audio_of("hello", "opus"));
    assert_eq!(slack.wait_for(2).await["text"], ANSWER);
    let (place, audio) = slack.wait_for_voice(1).await;
    assert_eq!(place, json!({ "channel_id": "DU1", "thread_ts": null }));
    assert_eq!(audio, audio_of(ANSWER, "mp3"));
    // A written message is answered only in writing.
    slack.write("U1", "hello");
    slack.wait_for(3).await;
    settled(&server, "slack").await;
    assert_eq!(slack.voices(), 1);
}

#[tokio::test]
async fn discord_gets_the_text_and_an_audio_file() {
    let (vendor, discord) = (Vendor::start().await, Discord::start().await);
    let fields = discord.fields(discord_server::TOKEN);
    let (server, owner) = with_voice(&vendor, "discord", fields).await;
    discord.connected(1, 0).await;
    inbound_discord::pair(&owner, &discord, "42").await;
    vendor.will_hear(SAID);
    let speak = || {
        let recording = discord.attachment("voice-message.ogg", audio_of("hello", "opus"));
        let more = json!({ "attachments": [recording], "flags": 8192 });
        discord.write("42", "", more);
    };
    speak();
    assert_eq!(discord.wait_for(2).await.1, ANSWER);
    let (channel, audio) = discord.wait_for_voice(1).await;
    assert_eq!(channel, "142");
    assert_eq!(audio, audio_of(ANSWER, "opus"));
    discord.mute();
    speak();
    assert_eq!(discord.wait_for(3).await.1, ANSWER);
    // The next message is answered after the attempt to send the voice message.
    discord.write("42", "hello", json!({}));
    discord.wait_for(4).await;
    settled(&server, "discord").await;
    assert_eq!(discord.voices(), 1);
    assert_eq!(discord.sent().len(), 4, "the text is not sent again");
}

#[tokio::test]
async fn matrix_gets_the_text_and_a_voice_message_that_only_the_person_hears() {
    let (vendor, matrix) = (Vendor::start().await, Matrix::start().await);
    let (server, owner) = with_voice(&vendor, "matrix", matrix_fields(&matrix)).await;
    let (room, person) = ("!direct:a", "@p:a.example");
    inbound_matrix::pair(&owner, &matrix, room).await;
    vendor.will_hear(SAID);
    let speak = || {
        matrix.event(
            room,
            person,
            "m.room.message",
            &recording_of_matrix(&matrix),
        )
    };
    speak();
    assert_eq!(matrix.wait_for(2).await.1, ANSWER);
    let (sent_to, audio) = matrix.wait_for_voice(1).await;
    assert_eq!(sent_to, room);
    assert_eq!(audio, audio_of(ANSWER, "opus"));
    settled(&server, "matrix").await;

    // Another person joins after the text was sent.
    let heard = vendor.heard().len();
    vendor.hold_transcripts(true);
    speak();
    while vendor.heard().len() == heard {
        tokio::task::yield_now().await;
    }
    matrix.set_members_later(room, &[person, matrix_server::BOT, "@other:a.example"]);
    vendor.hold_transcripts(false);
    assert_eq!(matrix.wait_for(3).await.1, ANSWER);
    settled(&server, "matrix").await;
    assert_eq!(matrix.voices(), 1);
}

#[tokio::test]
async fn a_voice_message_that_is_refused_leaves_the_text() {
    let vendor = Vendor::start().await;
    vendor.will_hear(SAID);
    let telegram = Telegram::start().await;
    let fields = json!({ "bot_token": telegram::TOKEN, "base_url": telegram.url(), "inbound": true,
        "voice_answers": true });
    let (server, owner) = with_voice(&vendor, "telegram", fields).await;
    pair(&owner, &telegram, 42, true).await;
    telegram.mute();
    telegram.write(42, voice(&telegram));
    assert_eq!(telegram.wait_for(2).await["text"], ANSWER);
    // The next message is answered after the attempt to send the voice message.
    telegram.write(42, json!({ "text": "hello" }));
    telegram.wait_for(3).await;
    settled(&server, "telegram").await;
    assert_eq!((telegram.voices(), telegram.sent().len()), (0, 3));

    let matrix = Matrix::start().await;
    let (server, owner) = with_voice(&vendor, "matrix", matrix_fields(&matrix)).await;
    inbound_matrix::pair(&owner, &matrix, "!direct:a").await;
    matrix.mute();
    let recording = recording_of_matrix(&matrix);
    matrix.event("!direct:a", "@p:a.example", "m.room.message", &recording);
    assert_eq!(matrix.wait_for(2).await.1, ANSWER);
    settled(&server, "matrix").await;
    assert_eq!((matrix.voices(), matrix.sent().len()), (0, 2));
}
