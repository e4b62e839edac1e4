//! Webhooks while the vault is sealed, and after it is opened again.

use super::{made, send};
use gatehouse_testkit::{PASSWORD, TestServer};
use serde_json::json;

#[tokio::test]
async fn senders_are_asked_to_retry_until_the_vault_is_open() {
    let (server, owner) = TestServer::with_owner().await;
    let hook = made(&owner, json!({})).await;
    let remote = server.remote();
    let good = [("x-webhook-secret", hook.secret())];
    send(&remote, &hook.path(), &good, "1").await.expect(202);
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .expect(200);
    let sealed = send(&remote, &hook.path(), &good, "2").await;
    assert_eq!(sealed.refused(423, "VAULT_SEALED")["status"], "sealed");
    send(&remote, &hook.path(), &[], "2")
        .await
        .refused(423, "VAULT_SEALED");
    let unknown = send(&remote, "/api/webhooks/ingest/wh_none", &good, "2").await;
    unknown.refused(404, "NOT_FOUND");
    // The responses are the same after a restart.
    let cookie_owner = owner.clone();
    let server = server.restart().await;
    let (remote, owner) = (
        remote.at(server.address()),
        cookie_owner.at(server.address()),
    );
    send(&remote, &hook.path(), &good, "2")
        .await
        .refused(423, "VAULT_SEALED");
    let unlock = json!({ "password": PASSWORD });
    owner
        .post("/api/auth/vault/unlock", unlock)
        .await
        .expect(200);
    send(&remote, &hook.path(), &good, "2").await.expect(202);
    let listed = super::deliveries(&owner, &hook).await;
    assert_eq!(listed.len(), 2, "what was refused left no row");
}

#[tokio::test]
async fn deliveries_are_held_until_the_vault_is_open_if_the_owner_wants_it() {
    let (server, owner) = TestServer::with_owner().await;
    let hook = made(&owner, json!({ "deliver_only": true })).await;
    let hold = json!({ "key": "vault.hold_while_sealed", "value": true });
    owner.rpc("config.set", hold).await.unwrap();
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .expect(200);
    let server = server.restart().await;
    let (remote, owner) = (
        server.remote().at(server.address()),
        owner.at(server.address()),
    );
    let good = [("x-webhook-secret", hook.secret())];
    let accepted = send(&remote, &hook.path(), &good, "1").await.expect(202);
    assert_eq!(accepted["status"], "accepted");
    let forged = [("x-webhook-secret", "wrong")];
    let forged = send(&remote, &hook.path(), &forged, "2").await.expect(202);
    let unlock = json!({ "password": PASSWORD });
    owner
        .post("/api/auth/vault/unlock", unlock)
        .await
        .expect(200);
    let of = |id: &serde_json::Value| json!({ "id": id });
    let get = "webhooks.delivery.get";
    let wait = async |id: &serde_json::Value, status: &str| loop {
        match owner.rpc(get, of(id)).await {
            Ok(delivery) if delivery["status"] == status => return delivery,
            _ => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
        }
    };
    wait(&accepted["delivery_id"], "completed").await;
    let rejected = wait(&forged["delivery_id"], "rejected").await;
    assert_eq!(rejected["error"], "wrong_signature");
}
