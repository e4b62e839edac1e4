//! `POST /api/auth/reset`.

use crate::steps::{light_owner, log_in, set_up_with_vault, vault_status};
use gatehouse_testkit::{Options, PASSWORD, TestServer};
use serde_json::json;

#[tokio::test]
async fn every_credential_goes_and_the_secrets_stay() {
    let server = TestServer::fresh().await;
    let (owner, recovery_key) = set_up_with_vault(&server).await;
    let key = server.api_key(&owner, &["operator.read"]).await;
    owner
        .rpc("env.set", json!({ "key": "KEPT", "value": "v" }))
        .await
        .unwrap();
    let reply = owner.post("/api/auth/reset", json!({})).await;
    let body = reply.expect(200);
    let kept: Vec<&str> = body["kept"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|word| word.as_str())
        .collect();
    assert!(
        kept.contains(&"vault") && kept.contains(&"secrets"),
        "{body}"
    );
    assert!(reply.header("set-cookie").unwrap().contains("Max-Age=0"));
    let status = server.local().get("/api/auth/status").await.expect(200);
    for (field, value) in [
        ("setup_required", true),
        ("setup_complete", false),
        ("auth_disabled", true),
        ("has_password", false),
        ("has_passkeys", false),
        ("authenticated", true),
    ] {
        assert_eq!(status[field], value, "{field}");
    }
    assert_eq!(status["auth_method"], "Loopback");
    // As specified, everyone is allowed. The old credentials have no effect.
    let gon = server.remote().get("/api/gon").await.expect(200);
    assert_eq!(gon["identity"]["method"], "Loopback");
    for caller in [&owner, &key] {
        assert_eq!(
            caller.get("/api/gon").await.expect(200)["identity"]["method"],
            "Loopback"
        );
    }
    assert_eq!(vault_status(&server).await, "unsealed");
    let setup = server
        .local()
        .post("/api/auth/setup", json!({ "password": "a third password" }))
        .await;
    assert!(
        setup.expect(200).get("recovery_key").is_none(),
        "the vault has one already"
    );
    for caller in [&owner, &key] {
        caller
            .get("/api/gon")
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
    let owner = server.local().session(&setup.session_cookie().unwrap());
    let listed = owner.rpc("env.list", json!({})).await.unwrap();
    assert_eq!(listed["env_variables"][0]["key"], "KEPT");
    // The vault was open, so the new password now wraps its key. The recovery key still works.
    owner
        .post(
            "/api/auth/vault/unlock",
            json!({ "password": "a third password" }),
        )
        .await
        .expect(200);
    owner
        .post(
            "/api/auth/vault/recovery",
            json!({ "recovery_key": recovery_key }),
        )
        .await
        .expect(200);
    log_in(&server.local(), PASSWORD)
        .await
        .refused(401, "INVALID_CREDENTIALS");
}

#[tokio::test]
async fn after_a_reset_while_sealed_the_record_keeps_its_password() {
    let (server, owner) = TestServer::with_owner().await;
    let server = server.restart().await;
    let owner = owner.at(server.address());
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    let third = "a third password";
    let setup = server
        .local()
        .post("/api/auth/setup", json!({ "password": third }))
        .await;
    assert!(setup.expect(200).get("recovery_key").is_none());
    assert_eq!(vault_status(&server).await, "sealed");
    let owner = server.local().session(&setup.session_cookie().unwrap());
    owner
        .post("/api/auth/vault/unlock", json!({ "password": third }))
        .await
        .refused(423, "VAULT_BAD_KEY");
    owner
        .post("/api/auth/vault/unlock", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    // The next password change wraps the key again.
    let body = json!({ "current_password": third, "new_password": "a fourth password" });
    owner
        .post("/api/auth/password/change", body)
        .await
        .expect(200);
    owner
        .post("/api/auth/vault/unlock", json!({ "password": PASSWORD }))
        .await
        .refused(423, "VAULT_BAD_KEY");
    owner
        .post(
            "/api/auth/vault/unlock",
            json!({ "password": "a fourth password" }),
        )
        .await
        .expect(200);
}

#[tokio::test]
async fn auth_stays_disabled_over_a_restart_and_ends_with_setup() {
    let (server, owner) = light_owner(Options::default()).await;
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    let code = server.setup_code();
    let server = server.restart().await;
    assert_eq!(server.setup_code(), code);
    server.remote().get("/api/gon").await.expect(200);
    server
        .local()
        .post("/api/auth/setup", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    let server = server.restart().await;
    server
        .remote()
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
}

#[tokio::test]
async fn the_operator_may_keep_a_disabled_gate_to_this_machine() {
    let options = Options::default().env("SERVICE_AUTH__DISABLED_SCOPE", "local");
    let (server, owner) = light_owner(options).await;
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    server.local().get("/api/gon").await.expect(200);
    server
        .remote()
        .get("/api/gon")
        .await
        .refused(401, "AUTH_SETUP_REQUIRED");
}
