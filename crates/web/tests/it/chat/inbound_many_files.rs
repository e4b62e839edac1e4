//! Messages with several files: all of them reach the agent, up to a limit.

use super::attachments::png;
use super::discord_server::{self, Discord};
use super::inbound::{pair, receive_through, receiving};
use super::inbound_files::history;
use super::slack_server::Slack;
use super::{inbound_discord, inbound_slack};
use gatehouse_testkit::Actor;
use serde_json::{Value, json};

/// Returns the names of the files of a message in a session.
async fn names(owner: &Actor, key: &str, number: usize) -> Vec<String> {
    let messages = history(owner, key).await;
    let files = messages[number]["attachments"].as_array().unwrap();
    let name = |file: &Value| file["name"].as_str().unwrap().to_owned();
    files.iter().map(name).collect()
}

#[tokio::test]
async fn all_files_of_a_message_on_slack_reach_the_agent() {
    let slack = Slack::start().await;
    let (_server, owner) = receive_through("slack", slack.fields()).await;
    inbound_slack::pair(&owner, &slack, "U1").await;
    let files = vec![
        ("a.png", None, png()),
        ("b.txt", None, b"Buy milk.".to_vec()),
    ];
    slack.upload_all("U1", "These?", files);
    assert_eq!(slack.wait_for(2).await["text"], "pong");
    let key = "channel:slack:U1";
    assert_eq!(names(&owner, key, 0).await, ["a.png", "b.txt"]);
    assert_eq!(history(&owner, key).await[0]["content"], "These?");

    // A file that cannot be read does not affect the others.
    let files = vec![
        ("a.txt", None, Vec::new()),
        ("b.txt", None, b"Buy milk.".to_vec()),
    ];
    slack.upload_all("U1", "And these?", files);
    assert_eq!(slack.wait_for(3).await["text"], "pong");
    assert_eq!(names(&owner, key, 2).await, ["b.txt"]);
    let content = "And these?\n\n(Not read: a.txt. The file is empty.)";
    assert_eq!(history(&owner, key).await[2]["content"], content);

    // If no file can be read, the answer is the reason.
    let files = vec![("a.txt", None, Vec::new()), ("b.txt", None, Vec::new())];
    slack.upload_all("U1", "And these?", files);
    assert_eq!(slack.wait_for(4).await["text"], "The file is empty.");
    assert_eq!(history(&owner, key).await.len(), 4);
}

#[tokio::test]
async fn ten_attachments_of_a_message_on_discord_reach_the_agent_and_no_more() {
    let discord = Discord::start().await;
    let fields = discord.fields(discord_server::TOKEN);
    let (_server, owner) = receive_through("discord", fields).await;
    discord.connected(1, 0).await;
    inbound_discord::pair(&owner, &discord, "42").await;
    let send = |count: usize| {
        let attachments: Vec<Value> = (0..count)
            .map(|number| discord.attachment(&format!("{number}.txt"), b"hi".to_vec()))
            .collect();
        discord.write("42", "These?", json!({ "attachments": attachments }));
    };
    send(10);
    assert_eq!(discord.wait_for(2).await.1, "pong");
    let key = "channel:discord:42";
    assert_eq!(names(&owner, key, 0).await.len(), 10);
    assert_eq!(history(&owner, key).await[0]["content"], "These?");
    send(11);
    assert_eq!(discord.wait_for(3).await.1, "pong");
    assert_eq!(names(&owner, key, 2).await.len(), 10);
    let content = &history(&owner, key).await[2]["content"];
    assert_eq!(content, "These?\n\n(Not read: 10.txt)");
}

#[tokio::test]
async fn an_album_on_telegram_is_one_message() {
    let (_server, owner, telegram) = receiving().await;
    pair(&owner, &telegram, 42, true).await;
    let photo = |more: Value| {
        let id = telegram.upload(png());
        let mut part =
            json!({ "photo": [{ "file_id": id, "file_unique_id": "u", "width": 1, "height": 1 }] });
        part.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        part
    };
    let parts = [
        photo(json!({ "caption": "These?" })),
        photo(json!({})),
        photo(json!({})),
    ];
    telegram.write_album(42, &parts);
    assert_eq!(telegram.wait_for(2).await["text"], "pong");
    let key = "channel:telegram:42";
    assert_eq!(names(&owner, key, 0).await.len(), 3);
    let messages = history(&owner, key).await;
    assert_eq!(messages[0]["content"], "These?");
    telegram.write(42, json!({ "text": "hello" }));
    assert_eq!(telegram.wait_for(3).await["text"], "pong");
    assert_eq!(history(&owner, key).await.len(), 4, "one answer per album");
}
