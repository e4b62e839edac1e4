//! Other programs and channels that read the messages of the same bot.

use super::inbound::{approve, code_of, inbound_error};
use super::slack_server::Slack;
use super::telegram::{TOKEN, Telegram};
use crate::steps::{light_owner, stopped_clock};
use gatehouse_domain::{Clock, ManualClock, SystemClock};
use gatehouse_testkit::{Actor, Options};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

async fn create(owner: &Actor, kind: &str, fields: Value) {
    let account = json!({ "type": kind, "label": "Bot", "fields": fields });
    owner.rpc("channels.create", account).await.unwrap();
}

/// Returns the check of received messages in the doctor's report.
async fn check(owner: &Actor) -> Value {
    let report = owner.rpc("system.doctor", json!({})).await.unwrap();
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|it| it["id"] == "received_messages");
    found.cloned().unwrap_or_default()
}

#[tokio::test]
async fn a_program_that_asks_telegram_for_the_same_messages_is_reported() {
    let (_server, owner) = light_owner(Options::default()).await;
    assert_eq!(check(&owner).await, Value::Null);
    let telegram = Telegram::start().await;
    telegram.set_rival();
    let fields = json!({ "bot_token": TOKEN, "base_url": telegram.url(), "inbound": true });
    create(&owner, "telegram", fields).await;
    inbound_error(&owner, "telegram", "Another program").await;
    let check = check(&owner).await;
    assert_eq!(
        (&check["ok"], &check["subjects"][0]["id"]),
        (&json!(false), &json!("telegram"))
    );
    let message = check["message"].as_str().unwrap();
    assert!(
        message.starts_with("The channel telegram: Another program"),
        "{message}"
    );
}

#[tokio::test]
async fn of_two_channels_for_one_bot_the_older_one_receives() {
    let clock = stopped_clock();
    let options = Options::default().clock(Arc::clone(&clock));
    let (_server, owner) = light_owner(options).await;
    let telegram = Telegram::start().await;
    let fields = json!({ "bot_token": TOKEN, "base_url": telegram.url(), "inbound": true });
    create(&owner, "telegram", fields.clone()).await;
    create(&owner, "telegram", fields).await;
    let why = "The channel Bot already receives these messages.";
    inbound_error(&owner, "telegram-2", why).await;
    telegram.write(7, json!({ "text": "hello?" }));
    let received = telegram.wait_for(1).await;
    let paired = approve(&owner, &code_of(received["text"].as_str().unwrap()), false).await;
    assert_eq!(paired["account"], "telegram");

    let off = json!({ "id": "telegram", "fields": { "inbound": false } });
    owner.rpc("channels.update", off).await.unwrap();
    telegram.closed().await;
    // A change of the other channel ends its wait. Receivers compare the time of the last change.
    clock.advance(Duration::from_millis(1));
    let renamed = json!({ "id": "telegram-2", "label": "Other" });
    owner.rpc("channels.update", renamed).await.unwrap();
    telegram.write(7, json!({ "text": "hello again?" }));
    let received = telegram.wait_for(2).await;
    let paired = approve(&owner, &code_of(received["text"].as_str().unwrap()), false).await;
    assert_eq!(paired["account"], "telegram-2");
}

#[tokio::test]
async fn of_two_channels_for_one_slack_app_the_older_one_receives_even_if_the_workspaces_differ() {
    let (_server, owner) = light_owner(Options::default()).await;
    let slack = Slack::start().await;
    create(&owner, "slack", slack.fields()).await;
    let mut other = slack.fields();
    other["bot_token"] = json!("xoxb-2-secret");
    create(&owner, "slack", other).await;
    let why = "The channel Bot already receives these messages.";
    inbound_error(&owner, "slack-2", why).await;
}

#[tokio::test]
async fn if_the_older_of_two_channels_for_one_slack_app_stops_the_other_one_receives() {
    let clock = stopped_clock();
    let options = Options::default().clock(Arc::clone(&clock));
    let (_server, owner) = light_owner(options).await;
    let slack = Slack::start().await;
    create(&owner, "slack", slack.fields()).await;
    create(&owner, "slack", slack.fields()).await;
    let why = "The channel Bot already receives these messages.";
    inbound_error(&owner, "slack-2", why).await;
    slack.connected(1).await;
    let off = json!({ "id": "slack", "fields": { "inbound": false } });
    owner.rpc("channels.update", off).await.unwrap();
    // A change of the other channel ends its wait. Receivers compare the time of the last change.
    clock.advance(Duration::from_millis(1));
    let renamed = json!({ "id": "slack-2", "label": "Other" });
    owner.rpc("channels.update", renamed).await.unwrap();
    slack.connected(2).await;
    let event = slack.write("U7", "hello?");
    slack.confirmed(&event).await;
    let received = slack.wait_for(1).await;
    let paired = approve(&owner, &code_of(received["text"].as_str().unwrap()), false).await;
    assert_eq!(paired["account"], "slack-2");
}

#[tokio::test]
async fn a_program_that_is_connected_to_slack_with_the_same_app_is_reported_until_it_leaves() {
    let system: &dyn Clock = &SystemClock::new();
    let clock = Arc::new(ManualClock::at(system.now()));
    let (_server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    let slack = Slack::start().await;
    slack.set_others(1);
    create(&owner, "slack", slack.fields()).await;
    slack.connected(1).await;
    // Each event ends a wait for events.
    let mut person = 1;
    let mut news = async || {
        person += 1;
        let event = slack.write(&format!("U{person}"), "hello?");
        slack.confirmed(&event).await;
    };
    // The bot closes its connection and opens the next one when Slack no longer counts the first.
    let replaced = async |number: usize, age: Duration| {
        clock.advance(age);
        let event = slack.write(&format!("V{number}"), "hello?");
        slack.closed(number).await;
        assert_eq!(slack.opened(), number, "the closed one may still count");
        clock.advance(Duration::from_secs(5));
        slack.connected(number + 1).await;
        slack.confirmed(&event).await;
    };
    news().await;
    news().await;
    assert_eq!(
        check(&owner).await["ok"],
        true,
        "a connection that ended may still count"
    );
    assert_eq!(slack.opened(), 1);
    replaced(1, Duration::from_mins(1)).await;
    news().await;
    inbound_error(&owner, "slack", "Another program").await;
    assert_eq!(check(&owner).await["ok"], false);
    slack.set_others(0);
    replaced(2, Duration::from_mins(5)).await;
    news().await;
    let gone = async {
        while check(&owner).await["ok"] != true {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_mins(1), gone).await;
    in_time.expect("the report ends in time");
}
