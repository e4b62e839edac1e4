//! Conversations through Discord's gateway: pairing, mentions, and sessions that continue.

use super::discord_server::{BOT, Discord, Order, TOKEN};
use super::inbound::{
    approve, code_of, inbound_error, receive_through, session_of, settled, unlocked,
};
use gatehouse_testkit::{Actor, TestServer};
use serde_json::json;

pub(super) async fn pair(owner: &Actor, discord: &Discord, person: &str) {
    let sent = discord.sent().len();
    discord.write(person, "hello?", json!({}));
    let (channel, text) = discord.wait_for(sent + 1).await;
    assert_eq!(channel, format!("1{person}"));
    let paired = approve(owner, &code_of(&text), false).await;
    assert_eq!(paired["name"], format!("person{person}"));
}

#[tokio::test]
async fn a_stranger_gets_one_code_and_a_paired_person_gets_answers() {
    let discord = Discord::start().await;
    let (server, owner) = receive_through("discord", discord.fields(TOKEN)).await;
    discord.connected(1, 0).await;
    pair(&owner, &discord, "42").await;
    discord.write("43", "hello?", json!({}));
    discord.wait_for(2).await;
    discord.write("43", "let me in", json!({}));
    let in_server = json!({ "guild_id": "1", "channel_id": "77" });
    discord.write("42", "hello all", in_server.clone());
    let named = json!({ "guild_id": "1", "channel_id": "77", "mentions": [{ "id": BOT }] });
    discord.write("43", "hello", named.clone());
    discord.write("42", "hello", json!({}));
    // Events are processed in order, so the earlier messages needed no answer.
    assert_eq!(
        discord.wait_for(3).await,
        ("142".to_owned(), "pong".to_owned())
    );
    assert!(discord.has_typed());
    discord.write("42", &format!("<@{BOT}> hello"), named);
    assert_eq!(discord.wait_for(4).await.0, "77");
    let sent = discord.sent();
    assert!(sent[2].1["message_reference"].is_null(), "{sent:?}");
    assert!(sent[3].1["message_reference"].is_object(), "{sent:?}");
    session_of(&owner, "channel:discord:42:77").await;
    session_of(&owner, "channel:discord:42").await;

    // The session continues. Messages that were answered are not answered again, and no message is
    // lost.
    settled(&server, "discord").await;
    let server = server.restart().await;
    discord.write("42", "meanwhile", json!({}));
    unlocked(&owner, &server).await;
    assert_eq!(discord.wait_for(5).await.1, "pong");
    settled(&server, "discord").await;
    assert_eq!(discord.sessions(), (1, 1));
    assert_eq!(discord.sent().len(), 5);
}

#[tokio::test]
async fn a_session_without_messages_continues_after_a_restart() {
    let discord = Discord::start().await;
    let (server, owner) = receive_through("discord", discord.fields(TOKEN)).await;
    discord.connected(1, 0).await;
    // The first heartbeat may precede the session. A later one follows it.
    for _ in 0..3 {
        discord.beaten().await;
    }
    let server = server.restart().await;
    unlocked(&owner, &server).await;
    discord.connected(1, 1).await;
    assert_eq!(discord.sessions(), (1, 1));
}

#[tokio::test]
async fn a_connection_without_answers_to_heartbeats_is_replaced() {
    let discord = Discord::start().await;
    discord.set_silent();
    let (_server, owner) = receive_through("discord", discord.fields(TOKEN)).await;
    discord.connected(1, 1).await;
    pair(&owner, &discord, "42").await;
    assert_eq!(discord.sessions(), (1, 1));
}

#[tokio::test]
async fn what_discord_refuses_for_good_is_shown_on_the_account() {
    let discord = Discord::start().await;
    discord.set_intent_off();
    let (_server, owner) = receive_through("discord", discord.fields(TOKEN)).await;
    inbound_error(&owner, "discord", "Message Content Intent").await;
    owner
        .rpc("channels.delete", json!({ "id": "discord" }))
        .await
        .unwrap();
    let account = json!({ "type": "discord", "label": "Bot", "fields": discord.fields("old") });
    owner.rpc("channels.create", account).await.unwrap();
    inbound_error(&owner, "discord", "bot token").await;
}

#[tokio::test]
async fn an_edited_message_is_answered_again() {
    let discord = Discord::start().await;
    let (server, owner) = receive_through("discord", discord.fields(TOKEN)).await;
    discord.connected(1, 0).await;
    pair(&owner, &discord, "42").await;
    discord.write("42", "say: one", json!({ "id": "9" }));
    assert_eq!(discord.wait_for(2).await.1, "one");
    // A preview of a link is not an edit.
    discord.update(
        "42",
        "say: one",
        json!({ "id": "9", "edited_timestamp": null }),
    );
    let edited = json!({ "id": "9", "edited_timestamp": "2026-11-27T20:00:00+00:00" });
    discord.update("42", "say: two", edited.clone());
    assert_eq!(discord.wait_for(3).await.1, "two");
    // An edit that Discord adds after the person's edit is not answered either.
    discord.update("42", "say: two", edited);
    discord.write("42", "say: three", json!({ "id": "10" }));
    assert_eq!(discord.wait_for(4).await.1, "three");
    settled(&server, "discord").await;
    assert_eq!(discord.sent().len(), 4);
}

/// Returns a bot whose person is paired, after the gateway gave an order.
async fn ordered(order: Order) -> (TestServer, Discord) {
    let discord = Discord::start().await;
    let (server, owner) = receive_through("discord", discord.fields(TOKEN)).await;
    discord.connected(1, 0).await;
    pair(&owner, &discord, "42").await;
    discord.order(order);
    (server, discord)
}

#[tokio::test]
async fn an_ordered_reconnection_resumes_the_session() {
    for order in [Order::Reconnect, Order::Invalid(true)] {
        let (server, discord) = ordered(order).await;
        // The message is written while the bot is not connected.
        discord.write("42", "hello", json!({}));
        discord.connected(1, 1).await;
        assert_eq!(discord.wait_for(2).await.1, "pong");
        settled(&server, "discord").await;
        assert_eq!((discord.sessions(), discord.sent().len()), ((1, 1), 2));
    }
}

#[tokio::test]
async fn a_session_that_the_gateway_ended_is_replaced_without_an_attempt_to_resume_it() {
    let (_server, discord) = ordered(Order::Invalid(false)).await;
    discord.connected(2, 0).await;
    assert_eq!((discord.sessions(), discord.refused()), ((2, 0), 0));
    discord.write("42", "hello", json!({}));
    assert_eq!(discord.wait_for(2).await.1, "pong");
}

#[tokio::test]
async fn a_session_that_cannot_be_resumed_is_replaced() {
    let discord = Discord::start().await;
    let (_server, owner) = receive_through("discord", discord.fields(TOKEN)).await;
    discord.connected(1, 0).await;
    pair(&owner, &discord, "42").await;
    discord.forget_session();
    discord.order(Order::Reconnect);
    discord.connected(2, 0).await;
    assert_eq!((discord.sessions(), discord.refused()), ((2, 0), 1));
    discord.write("42", "hello", json!({}));
    assert_eq!(discord.wait_for(2).await.1, "pong");
}
