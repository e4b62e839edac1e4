//! Answers over a vendor's size limit arrive in parts, in order and without a loss.

use super::discord_server::{self, Discord};
use super::inbound::{receive_through, receiving, settled};
use super::matrix_server::{self, Matrix};
use super::slack_server::Slack;
use super::{inbound, inbound_discord, inbound_matrix, inbound_slack};
use serde_json::{Value, json};

/// Returns the text of this many numbers.
pub(super) fn numbers(last: u32) -> String {
    let numbers: Vec<String> = (1..=last).map(|number| number.to_string()).collect();
    numbers.join(" ")
}

/// Checks the parts of an answer that counts to this number.
#[track_caller]
fn assert_parts(parts: &[String], last: u32, limit: usize) {
    for part in parts {
        assert!(part.len() <= limit, "{} characters", part.len());
    }
    assert_eq!(parts.concat(), numbers(last));
}

fn text(message: &Value) -> String {
    message["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn telegram() {
    let (server, owner, telegram) = receiving().await;
    inbound::pair(&owner, &telegram, 42, false).await;
    telegram.write(42, json!({ "text": "count to 2700" }));
    telegram.wait_for(5).await;
    settled(&server, "telegram").await;
    let parts: Vec<String> = telegram.sent()[1..].iter().map(text).collect();
    assert_eq!(parts.len(), 4);
    assert_parts(&parts, 2700, 4096);
}

#[tokio::test]
async fn slack() {
    let slack = Slack::start().await;
    let (server, owner) = receive_through("slack", slack.fields()).await;
    inbound_slack::pair(&owner, &slack, "U1").await;
    slack.write("U1", "count to 2700");
    slack.wait_for(5).await;
    settled(&server, "slack").await;
    let parts: Vec<String> = slack.sent()[1..].iter().map(text).collect();
    assert_eq!(parts.len(), 4);
    assert_parts(&parts, 2700, 4000);
}

#[tokio::test]
async fn discord() {
    let discord = Discord::start().await;
    let fields = discord.fields(discord_server::TOKEN);
    let (server, owner) = receive_through("discord", fields).await;
    discord.connected(1, 0).await;
    inbound_discord::pair(&owner, &discord, "42").await;
    discord.write("42", "count to 2700", json!({}));
    discord.wait_for(8).await;
    settled(&server, "discord").await;
    let content = |(_, body): &(String, Value)| body["content"].as_str().unwrap().to_owned();
    let parts: Vec<String> = discord.sent()[1..].iter().map(content).collect();
    assert_eq!(parts.len(), 7);
    assert_parts(&parts, 2700, 2000);
}

#[tokio::test]
async fn matrix() {
    let matrix = Matrix::start().await;
    let fields = json!({ "homeserver": matrix.url(), "access_token": matrix_server::TOKEN,
        "inbound": true });
    let (server, owner) = receive_through("matrix", fields).await;
    inbound_matrix::pair(&owner, &matrix, "!direct:a").await;
    matrix.say("!direct:a", "@p:a.example", "count to 15000");
    let parts = [matrix.wait_for(2).await.1, matrix.wait_for(3).await.1];
    settled(&server, "matrix").await;
    assert_eq!(matrix.sent().len(), 3);
    assert_parts(&parts, 15_000, 60_000);
}
