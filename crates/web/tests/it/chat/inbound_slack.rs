//! Conversations through Slack's Socket Mode: pairing, threads, and the state after an
//! interruption.

use super::blamed;
use super::inbound::{
    approve, code_of, inbound_error, receive_through, session_of, settled, unlocked,
};
use super::slack_server::{APP_TOKEN, BOT_TOKEN, Slack};
use gatehouse_testkit::Actor;
use serde_json::json;

pub(super) async fn pair(owner: &Actor, slack: &Slack, person: &str) {
    let sent = slack.sent().len();
    slack.write(person, "hello?");
    let received = slack.wait_for(sent + 1).await;
    assert_eq!(received["channel"], format!("D{person}"));
    let paired = approve(owner, &code_of(received["text"].as_str().unwrap()), false).await;
    assert_eq!(paired["name"], format!("Person {person}"));
}

#[tokio::test]
async fn a_stranger_gets_one_code_and_a_paired_person_gets_answers() {
    let slack = Slack::start().await;
    let (server, owner) = receive_through("slack", slack.fields()).await;
    pair(&owner, &slack, "U1").await;
    slack.write("U2", "hello?");
    slack.wait_for(2).await;
    let again = slack.write("U2", "let me in");
    let own = slack.event(
        json!({ "type": "message", "channel": "DU1", "channel_type": "im",
        "user": "U1", "bot_id": "B1", "text": "from a program", "ts": "1.1" }),
    );
    for id in [again, own] {
        slack.confirmed(&id).await;
    }
    settled(&server, "slack").await;
    assert_eq!(
        slack.sent().len(),
        2,
        "one code per hour, and none for programs"
    );

    slack.write("U1", "hello");
    let answer = slack.wait_for(3).await;
    assert_eq!(
        answer,
        json!({ "channel": "DU1", "text": "pong", "unfurl_links": false, "unfurl_media": false })
    );
    let (ts, _) = slack.mention("U1", "C1");
    let answer = slack.wait_for(4).await;
    assert_eq!(
        answer,
        json!({ "channel": "C1", "text": "pong", "thread_ts": ts, "unfurl_links": false, "unfurl_media": false })
    );
    session_of(&owner, "channel:slack:U1:C1").await;
    let (_, stranger) = slack.mention("U2", "C1");
    slack.confirmed(&stranger).await;
    settled(&server, "slack").await;
    assert_eq!(slack.sent().len(), 4, "no code in a channel");

    slack.write("U1", "say: &lt;!channel&gt; hello");
    let answer = slack.wait_for(5).await;
    assert_eq!(
        answer["text"], "&lt;!channel&gt; hello",
        "nobody is notified"
    );

    // Messages answered before the restart are not answered again, and none is lost.
    settled(&server, "slack").await;
    let server = server.restart().await;
    slack.write("U1", "meanwhile");
    unlocked(&owner, &server).await;
    slack.wait_for(6).await;
    let last = slack.write("U2", "again");
    slack.confirmed(&last).await;
    settled(&server, "slack").await;
    assert_eq!(slack.sent().len(), 6);
}

#[tokio::test]
async fn a_lost_acknowledgement_and_a_refresh_neither_lose_nor_repeat_a_message() {
    let slack = Slack::start().await;
    let (server, owner) = receive_through("slack", slack.fields()).await;
    pair(&owner, &slack, "U1").await;
    slack.lose_one();
    let twice = slack.write("U1", "hello");
    slack.wait_for(2).await;
    slack.confirmed(&twice).await;
    assert_eq!(slack.opened(), 2);
    settled(&server, "slack").await;
    assert_eq!(
        slack.sent().len(),
        2,
        "the second delivery was not answered"
    );
    slack.refresh();
    slack.connected(3).await;
    slack.write("U1", "hello");
    slack.wait_for(3).await;
}

#[tokio::test]
async fn a_refused_or_missing_token_is_shown() {
    let slack = Slack::start().await;
    let mut fields = slack.fields();
    fields["app_token"] = json!("xapp-old");
    let (_server, owner) = receive_through("slack", fields).await;
    inbound_error(&owner, "slack", "app-level token").await;
    let change = |name: &str, value: &str| json!({ "id": "slack", "fields": { name: value } });
    owner
        .rpc("channels.update", change("app_token", APP_TOKEN))
        .await
        .unwrap();
    slack.connected(1).await;
    owner
        .rpc("channels.update", change("bot_token", "xoxb-old"))
        .await
        .unwrap();
    inbound_error(&owner, "slack", "bot token").await;
    let fields = json!({ "bot_token": BOT_TOKEN, "inbound": true });
    let account = json!({ "type": "slack", "label": "Second", "fields": fields });
    let refused = blamed(&owner, "channels.create", account).await;
    assert_eq!(refused, (json!("INVALID_PARAMS"), json!("app_token")));
}
