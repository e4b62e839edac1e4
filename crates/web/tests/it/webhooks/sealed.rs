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
    // The same after a restart.
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
