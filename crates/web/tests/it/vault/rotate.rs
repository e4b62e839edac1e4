//! `POST /api/auth/vault/rotate`.

use crate::steps::{WRONG_PASSWORD, set_up_with_vault, vault_status};
use gatehouse_testkit::{Options, PASSWORD, TestServer};
use serde_json::json;

#[tokio::test]
async fn a_rotation_makes_new_keys_and_the_old_recovery_key_dies() {
    let server = TestServer::fresh().await;
    let (owner, old) = set_up_with_vault(&server).await;
    owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    owner
        .rpc("ssh_keys.generate", json!({ "name": "k" }))
        .await
        .unwrap();
    owner
        .rpc(
            "providers.set_key",
            json!({ "id": "openai", "key": "sk-test-0001" }),
        )
        .await
        .unwrap();
    let copy = server.directory().join("provider_keys.json.enc");
    let before = crate::steps::file(&copy);
    let wrong = json!({ "password": WRONG_PASSWORD });
    owner
        .post("/api/auth/vault/rotate", wrong)
        .await
        .refused(423, "VAULT_BAD_KEY");
    let rotated = owner
        .post("/api/auth/vault/rotate", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    assert_eq!(
        (&rotated["ok"], &rotated["status"]),
        (&json!(true), &json!("unsealed"))
    );
    let new = rotated["recovery_key"].as_str().unwrap();
    assert_ne!(new, old);
    assert_ne!(crate::steps::file(&copy), before);
    owner
        .post("/api/auth/vault/recovery", json!({ "recovery_key": old }))
        .await
        .refused(423, "VAULT_BAD_KEY");
    let server = server.restart().await;
    let owner = owner.at(server.address());
    owner
        .post("/api/auth/vault/recovery", json!({ "recovery_key": new }))
        .await
        .expect(200);
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .expect(200);
    owner
        .post("/api/auth/vault/unlock", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    // Disabling the vault decrypts every row, which shows that all are readable.
    let done = owner
        .post("/api/auth/vault/disable", json!({}))
        .await
        .expect(200);
    assert_eq!(
        (&done["report"]["env_vars"], &done["report"]["ssh_keys"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(done["report"]["provider_keys"], 1);
}

#[tokio::test]
async fn a_rotation_from_sealed_opens() {
    let (server, owner) = TestServer::with_owner().await;
    owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    let server = server.restart().await;
    let owner = owner.at(server.address());
    let reply = owner
        .post("/api/auth/vault/rotate", json!({ "password": PASSWORD }))
        .await;
    reply.expect(200);
    assert_eq!(vault_status(&server).await, "unsealed");
}

#[tokio::test]
async fn an_auto_unseal_key_stops_working_with_the_rotation() {
    let server = TestServer::fresh().await;
    let (owner, key) = set_up_with_vault(&server).await;
    owner
        .post("/api/auth/vault/rotate", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    let mut server = server;
    let database = server.stop().await;
    let options = Options::default()
        .database(database)
        .env("SERVICE_VAULT_AUTO_UNSEAL_KEY", &key);
    let server = TestServer::start(options).await;
    assert_eq!(vault_status(&server).await, "sealed");
}

#[tokio::test]
async fn writes_during_a_rotation_are_readable_after_it() {
    let (server, owner) = TestServer::with_owner().await;
    let writes = (0..30).map(|n| {
        let owner = owner.clone();
        async move {
            owner
                .rpc("env.set", json!({ "key": format!("K_{n}"), "value": "v" }))
                .await
                .unwrap()
        }
    });
    let rotate = owner.post("/api/auth/vault/rotate", json!({ "password": PASSWORD }));
    let (_written, rotated) = tokio::join!(futures_util::future::join_all(writes), rotate);
    rotated.expect(200);
    let done = owner
        .post("/api/auth/vault/disable", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    assert_eq!(done["report"]["env_vars"], 30);
    assert_eq!(vault_status(&server).await, "disabled");
}
