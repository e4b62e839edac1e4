//! Several nodes on one PostgreSQL database.

use crate::steps::light_owner;
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Options, TestServer};
use serde_json::json;

#[tokio::test]
async fn a_change_on_one_node_is_published_on_the_other() {
    let Some(database) = postgres().await else {
        return;
    };
    let other_database = database.for_another_node();
    let (_one, owner) = light_owner(Options::default().database(database)).await;
    let other = TestServer::start(Options::default().database(other_database)).await;
    // The session is valid on the other node too.
    let mut socket = other
        .socket(&owner.clone().at(other.local().address()), "/ws")
        .await;
    for (method, params, what) in [
        ("agents.create", json!({ "id": "a", "name": "A" }), "agents"),
        ("env.set", json!({ "key": "A", "value": "1" }), "env"),
        (
            "preferences.set",
            json!({ "kind": "prompts", "name": "a", "value": "b" }),
            "preferences",
        ),
    ] {
        owner.rpc(method, params).await.unwrap();
        // The event may arrive twice, and so may earlier ones.
        while socket.event("records.changed").await.unwrap() != json!({ "what": what }) {}
    }
}

#[tokio::test]
async fn work_on_one_node_is_published_on_the_other() {
    let Some(database) = postgres().await else {
        return;
    };
    let other_database = database.for_another_node();
    let (_one, owner) = light_owner(Options::default().database(database)).await;
    let other = TestServer::start(Options::default().database(other_database)).await;
    let mut socket = other
        .socket(&owner.clone().at(other.local().address()), "/ws")
        .await;
    // Once the other node reports a change, it is listening.
    owner
        .rpc("agents.create", json!({ "id": "a", "name": "A" }))
        .await
        .unwrap();
    while socket.event("records.changed").await.unwrap() != json!({ "what": "agents" }) {}

    // There is no model, so the turn fails, after its first message.
    let text = "€".repeat(6_000);
    let sent = owner.rpc("chat.send", json!({ "text": text })).await;
    let sent = sent.unwrap();
    let message = socket.event("chat.message").await.unwrap();
    assert_eq!(message["content"], text);
    let done = socket.event("chat.done").await.unwrap();
    assert_eq!(
        (&done["session"], &done["stop"]),
        (&sent["session"], &json!("error"))
    );
}
