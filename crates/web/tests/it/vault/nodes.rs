//! Several nodes on one PostgreSQL database that share the vault's key.

use crate::steps::{set_up_with_vault, vault_status};
use gatehouse_store::testing::{TestDatabase, postgres};
use gatehouse_testkit::{Actor, Options, PASSWORD, TestServer};
use serde_json::json;

fn options(database: TestDatabase) -> Options {
    let secret = "the secret of this cluster: 32 characters or more";
    Options::default()
        .database(database)
        .env("SERVICE_VAULT__CLUSTER_SECRET", secret)
}

/// Waits until the vault is unsealed on this node.
async fn until_unsealed(server: &TestServer, there: &Actor) {
    let mut socket = server.socket(there, "/ws").await;
    while vault_status(server).await != "unsealed" {
        socket.event("vault.status").await.unwrap();
    }
}

#[tokio::test]
async fn an_unlocked_node_unlocks_the_others_and_a_rotation_keeps_them_unlocked() {
    let Some(database) = postgres().await else {
        return;
    };
    let other_database = database.for_another_node();
    let one = TestServer::start(options(database)).await;
    let (owner, _) = set_up_with_vault(&one).await;
    let set = json!({ "key": "A", "value": "1" });
    owner.rpc("env.set", set).await.unwrap();

    let two = TestServer::start(options(other_database)).await;
    let there = owner.clone().at(two.local().address());
    until_unsealed(&two, &there).await;

    let password = json!({ "password": PASSWORD });
    owner
        .post("/api/auth/vault/rotate", password)
        .await
        .expect(200);
    // The write notices the rotation, even if the notification has not arrived.
    let set = json!({ "key": "B", "value": "2" });
    let stored = there.rpc("env.set", set).await.unwrap();
    assert_eq!(stored["encrypted"], 1, "{stored}");
    assert_eq!(vault_status(&two).await, "unsealed");

    let two = two.restart().await;
    let there = owner.clone().at(two.local().address());
    until_unsealed(&two, &there).await;
}
