//! Opening the vault when the server starts.

use crate::steps::{log_in, set_up_with_vault, vault_status};
use gatehouse_testkit::{Options, PASSWORD, TestServer};
use serde_json::json;

const FILE: &str = "SERVICE_VAULT_AUTO_UNSEAL_KEY_FILE";
const VALUE: &str = "SERVICE_VAULT_AUTO_UNSEAL_KEY";

#[tokio::test]
async fn after_a_restart_it_is_sealed_until_a_login() {
    let (server, owner) = TestServer::with_owner().await;
    owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    let server = server.restart().await;
    let owner = owner.at(server.address());
    assert_eq!(vault_status(&server).await, "sealed");
    owner
        .rpc_reply("env.list", json!({}))
        .await
        .refused(423, "VAULT_SEALED");
    log_in(&server.local(), PASSWORD).await.expect(200);
    assert_eq!(vault_status(&server).await, "unsealed");
    owner.rpc("env.list", json!({})).await.unwrap();
}

#[tokio::test]
async fn a_configured_key_opens_it_at_the_start() {
    let server = TestServer::fresh().await;
    let (owner, key) = set_up_with_vault(&server).await;
    owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    let mut server = server;
    let mut database = server.stop().await;
    let file = database.directory().join("unseal.key");
    tokio::fs::write(&file, format!("{}\n", key.to_lowercase()))
        .await
        .unwrap();
    let missing = database.directory().join("missing.key");
    let (file, missing) = (file.display().to_string(), missing.display().to_string());
    for (settings, expected) in [
        (vec![(FILE, file.as_str())], "unsealed"),
        (vec![(VALUE, key.as_str())], "unsealed"),
        // The file takes precedence; if it does not open the vault, the value is tried.
        (
            vec![(FILE, missing.as_str()), (VALUE, key.as_str())],
            "unsealed",
        ),
        (vec![(FILE, missing.as_str())], "sealed"),
        (vec![(VALUE, "ABCD-EFGH")], "sealed"),
        (vec![(VALUE, PASSWORD)], "sealed"),
        (vec![], "sealed"),
    ] {
        let mut options = Options::default().database(database);
        for (name, value) in &settings {
            options = options.env(name, value);
        }
        let mut server = TestServer::start(options).await;
        assert_eq!(vault_status(&server).await, expected, "{settings:?}");
        database = server.stop().await;
    }
}

#[tokio::test]
async fn a_login_whose_password_does_not_open_the_vault_is_a_login() {
    let (server, owner) = TestServer::with_owner().await;
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .expect(200);
    // After a reset while sealed, the vault's password differs from the login password.
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    let other = "the login's own password";
    server
        .local()
        .post("/api/auth/setup", json!({ "password": other }))
        .await
        .expect(200);
    let reply = log_in(&server.local(), other).await;
    reply.expect(200);
    assert_eq!(vault_status(&server).await, "sealed");
    let owner = server.local().session(&reply.session_cookie().unwrap());
    owner
        .post("/api/auth/vault/unlock", json!({ "password": other }))
        .await
        .refused(423, "VAULT_BAD_KEY");
    owner
        .post("/api/auth/vault/unlock", json!({ "password": PASSWORD }))
        .await
        .expect(200);
}

#[tokio::test]
async fn a_login_by_passkey_leaves_it_sealed() {
    let (server, owner) = TestServer::with_owner().await;
    let origin = "http://localhost:8420";
    let here = |actor: gatehouse_testkit::Actor| {
        actor.with("host", "localhost:8420").with("origin", origin)
    };
    let mut authenticator = gatehouse_testkit::SoftAuthenticator::on(origin);
    crate::steps::register_passkey(&here(owner), &mut authenticator)
        .await
        .expect(200);
    let server = server.restart().await;
    crate::steps::log_in_by_passkey(&here(server.local()), &mut authenticator)
        .await
        .expect(200);
    assert_eq!(vault_status(&server).await, "sealed");
}

#[tokio::test]
async fn a_weakened_record_is_not_used() {
    let (server, _owner) = TestServer::with_owner().await;
    let weak = r#"UPDATE vault SET kdf_params = '{"m_cost":8,"t_cost":1,"p_cost":1}'"#;
    let server = crate::steps::tampered(server, weak).await;
    assert_eq!(vault_status(&server).await, "sealed");
    let reply = log_in(&server.local(), PASSWORD).await;
    reply.expect(200);
    assert_eq!(vault_status(&server).await, "sealed");
    let owner = server.local().session(&reply.session_cookie().unwrap());
    let unlock = owner
        .post("/api/auth/vault/unlock", json!({ "password": PASSWORD }))
        .await;
    assert!(
        matches!(unlock.status.as_u16(), 423 | 409 | 500),
        "{}",
        unlock.text
    );
    server.local().get("/health").await.expect(200);
}
