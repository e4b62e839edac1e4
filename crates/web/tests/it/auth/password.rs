//! `POST /api/auth/password/change`.

use crate::steps::{
    NEW_PASSWORD, WRONG_PASSWORD, log_in, new_session, register_passkey, vault_status,
};
use gatehouse_testkit::{Actor, PASSWORD, Reply, SoftAuthenticator, TestServer};
use serde_json::json;

async fn change(actor: &Actor, current: &str, new: &str) -> Reply {
    let body = json!({ "current_password": current, "new_password": new });
    actor.post("/api/auth/password/change", body).await
}

#[tokio::test]
async fn a_change_needs_the_current_one_and_ends_other_sessions() {
    let (server, owner) = TestServer::with_owner().await;
    let other = new_session(&server).await;
    change(&owner, WRONG_PASSWORD, NEW_PASSWORD)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    let body = change(&owner, PASSWORD, "eleven char")
        .await
        .refused(400, "INVALID_PARAMS");
    assert_eq!(body["field"], "new_password");
    let body = owner
        .post(
            "/api/auth/password/change",
            json!({ "new_password": NEW_PASSWORD }),
        )
        .await;
    assert_eq!(
        body.refused(400, "INVALID_PARAMS")["field"],
        "current_password"
    );
    other.get("/api/gon").await.expect(200);
    // `old_password` is an alias of the field.
    let body = json!({ "old_password": PASSWORD, "new_password": NEW_PASSWORD });
    let changed = owner
        .post("/api/auth/password/change", body)
        .await
        .expect(200);
    assert_eq!(changed, json!({ "ok": true }));
    other
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    owner.get("/api/gon").await.expect(200);
    log_in(&server.local(), PASSWORD)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    log_in(&server.local(), NEW_PASSWORD).await.expect(200);
}

#[tokio::test]
async fn the_vault_opens_with_the_new_password_and_the_old_recovery_key() {
    let server = TestServer::fresh().await;
    let (owner, recovery_key) = crate::steps::set_up_with_vault(&server).await;
    owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    change(&owner, PASSWORD, NEW_PASSWORD).await.expect(200);
    let server = server.restart().await;
    let owner = owner.at(server.address());
    let unlock = |password: &str| json!({ "password": password });
    owner
        .post("/api/auth/vault/unlock", unlock(PASSWORD))
        .await
        .refused(423, "VAULT_BAD_KEY");
    owner
        .post("/api/auth/vault/unlock", unlock(NEW_PASSWORD))
        .await
        .expect(200);
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .expect(200);
    owner
        .post(
            "/api/auth/vault/recovery",
            json!({ "recovery_key": recovery_key }),
        )
        .await
        .expect(200);
    assert_eq!(vault_status(&server).await, "unsealed");
}

#[tokio::test]
async fn while_sealed_the_current_password_opens_the_record() {
    let (server, owner) = TestServer::with_owner().await;
    let server = server.restart().await;
    let owner = owner.at(server.address());
    let changed = change(&owner, PASSWORD, NEW_PASSWORD).await.expect(200);
    assert!(changed.get("recovery_key").is_none());
    owner
        .post(
            "/api/auth/vault/unlock",
            json!({ "password": NEW_PASSWORD }),
        )
        .await
        .expect(200);
    owner
        .post("/api/auth/vault/unlock", json!({ "password": PASSWORD }))
        .await
        .refused(423, "VAULT_BAD_KEY");
}

#[tokio::test]
async fn beside_a_passkey_the_first_password_makes_the_vault() {
    let server = TestServer::fresh().await;
    let mut authenticator = SoftAuthenticator::on("http://localhost:8420");
    let here = server.local().with("host", "localhost:8420");
    let made = register_passkey(&here, &mut authenticator).await;
    let owner = here.session(&made.session_cookie().unwrap());
    assert_eq!(vault_status(&server).await, "uninitialized");
    let body = json!({ "new_password": PASSWORD });
    let changed = owner.post("/api/auth/password/change", body.clone()).await;
    assert_eq!(
        changed.expect(200)["recovery_key"].as_str().unwrap().len(),
        39
    );
    assert!(
        changed.session_cookie().is_none(),
        "setup was complete before"
    );
    assert_eq!(vault_status(&server).await, "unsealed");
    owner
        .post("/api/auth/password/change", body)
        .await
        .refused(400, "INVALID_PARAMS");
    log_in(&server.local(), PASSWORD).await.expect(200);
}

#[tokio::test]
async fn on_a_new_server_it_completes_setup() {
    let server = TestServer::fresh().await;
    let body = json!({ "new_password": PASSWORD });
    let changed = server.local().post("/api/auth/password/change", body).await;
    assert!(changed.expect(200)["recovery_key"].is_string());
    let owner = server.local().session(&changed.session_cookie().unwrap());
    owner.get("/api/gon").await.expect(200);
    assert_eq!(server.setup_code(), "");
}

#[tokio::test]
async fn of_two_changes_at_once_one_holds() {
    let (server, owner) = TestServer::with_owner().await;
    let (a, b) = (format!("{NEW_PASSWORD} a"), format!("{NEW_PASSWORD} b"));
    let (first, second) = tokio::join!(change(&owner, PASSWORD, &a), change(&owner, PASSWORD, &b));
    let (winner, loser) = if first.status == 200 {
        (&a, &second)
    } else {
        (&b, &first)
    };
    assert!(matches!(loser.status.as_u16(), 409 | 401), "{}", loser.text);
    log_in(&server.local(), winner).await.expect(200);
    owner
        .post("/api/auth/vault/unlock", json!({ "password": winner }))
        .await
        .expect(200);
}
