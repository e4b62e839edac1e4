//! Authorizations while the vault is sealed, and after its key was rotated.

use super::double::Double;
use super::{add, agree, begin, call_tool, callback, test, until};
use gatehouse_testkit::{Actor, Options, PASSWORD, TestServer};
use serde_json::json;

async fn vault(owner: &Actor, action: &str) {
    let path = format!("/api/auth/vault/{action}");
    let password = json!({ "password": PASSWORD });
    owner.post(&path, password).await.expect(200);
}

async fn start() -> (Double, TestServer, Actor) {
    let (far, url) = Double::start().await;
    let server = TestServer::start(Options::default()).await;
    let owner = server.set_up().await;
    add(&owner, &url).await;
    (far, server, owner)
}

#[tokio::test]
async fn a_callback_to_a_sealed_vault_gets_no_tokens_and_works_after_the_unlock() {
    let (far, server, owner) = start().await;
    let path = agree(&begin(&owner).await).await;
    let seal = owner.post("/api/auth/vault/seal", json!({})).await;
    seal.expect(200);
    let refused = callback(&owner, &path).await;
    assert_eq!(refused.status, 423, "{}", refused.text);
    assert!(far.data().access_tokens.is_empty());
    vault(&owner, "unlock").await;
    assert_eq!(callback(&owner, &path).await.status, 303);
    until(&owner, "connected").await;

    // The stored tokens are used after a restart, which seals the vault.
    let server = server.restart().await;
    let owner = owner.at(server.address());
    vault(&owner, "unlock").await;
    assert_eq!(test(&owner).await["state"], "connected");
    call_tool(&server).await.unwrap();
    assert_eq!(far.data().refreshes, 0);
}

#[tokio::test]
async fn an_authorization_outlives_rotations_of_the_key() {
    let (far, server, owner) = start().await;
    // The authorization waits for its callback during the first rotation.
    let path = agree(&begin(&owner).await).await;
    vault(&owner, "rotate").await;
    assert_eq!(callback(&owner, &path).await.status, 303);
    until(&owner, "connected").await;

    vault(&owner, "rotate").await;
    far.data().access_tokens.clear();
    assert_eq!(test(&owner).await["state"], "connected");
    assert_eq!(far.data().refreshes, 1);
    let server = server.restart().await;
    let owner = owner.at(server.address());
    vault(&owner, "unlock").await;
    far.data().access_tokens.clear();
    assert_eq!(test(&owner).await["state"], "connected");
    assert_eq!(far.data().refreshes, 2);
    assert!(far.data().refused.is_empty(), "{:?}", far.data().refused);
}
