//! `auth.local_setup_code = true`: before setup, nothing permanent can be created without the code.

use gatehouse_testkit::{Options, PASSWORD, TestServer};
use serde_json::json;

async fn server() -> TestServer {
    TestServer::start(Options::default().env("SERVICE_AUTH__LOCAL_SETUP_CODE", "true")).await
}

#[tokio::test]
async fn another_local_user_makes_nothing_that_outlives_setup() {
    let server = server().await;
    let local = server.local();
    local.get("/api/gon").await.expect(200);
    local.rpc("env.list", json!({})).await.unwrap();
    let body = json!({ "label": "x", "scopes": ["operator.admin"] });
    let refused = local.post("/api/auth/api-keys", body).await;
    refused.refused(403, "FORBIDDEN");
    assert!(refused.text.contains("setup"), "{}", refused.text);
    for (method, params) in [
        ("pairing.create", json!({ "label": "x" })),
        (
            "config.set",
            json!({ "key": "metrics.enabled", "value": false }),
        ),
        ("env.set", json!({ "key": "A", "value": "b" })),
        ("webhooks.create", json!({ "name": "x" })),
        ("agents.create", json!({ "id": "x", "name": "X" })),
        ("ssh_keys.generate", json!({ "name": "x" })),
        (
            "providers.set_key",
            json!({ "id": "openai", "key": "sk-x" }),
        ),
    ] {
        let outcome = local.rpc(method, params).await;
        assert_eq!(outcome, Err("FORBIDDEN".to_owned()), "{method}");
    }
    for path in ["/api/auth/passkey/register/begin", "/api/auth/reset"] {
        local.post(path, json!({})).await.refused(403, "FORBIDDEN");
    }
    let code = server.setup_code();
    let body = json!({ "password": PASSWORD, "setup_code": code });
    let setup = local.post("/api/auth/setup", body).await;
    setup.expect(200);
    let owner = server.local().session(&setup.session_cookie().unwrap());
    let keys = owner.get("/api/auth/api-keys").await.expect(200);
    assert_eq!(keys["api_keys"], json!([]));
    let devices = owner.rpc("pairing.list", json!({})).await.unwrap();
    assert_eq!(devices["devices"], json!([]));
    owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
}

#[tokio::test]
async fn with_the_code_setup_completes_by_every_way() {
    let by_change = server().await;
    let code = by_change.setup_code();
    let body = json!({ "new_password": PASSWORD, "setup_code": code });
    let changed = by_change
        .local()
        .post("/api/auth/password/change", body)
        .await;
    changed.expect(200);
    let by_passkey = server().await;
    let body = json!({ "setup_code": by_passkey.setup_code() });
    let path = "/api/auth/passkey/register/begin";
    let by_name = by_passkey.local().with("host", "localhost");
    by_name.post(path, body).await.expect(200);
}

#[tokio::test]
async fn without_the_setting_what_a_local_caller_makes_before_setup_stays() {
    let server = TestServer::fresh().await;
    let key = server.api_key(&server.local(), &["operator.read"]).await;
    server.set_up().await;
    key.get("/api/gon").await.expect(200);
}

#[tokio::test]
async fn while_auth_is_disabled_the_setting_holds_too() {
    let server = server().await;
    server.app().services().auth.offline_reset().await.unwrap();
    for caller in [server.local(), server.remote()] {
        caller.get("/api/gon").await.expect(200);
        let body = json!({ "label": "x", "scopes": ["operator.admin"] });
        let refused = caller.post("/api/auth/api-keys", body).await;
        refused.refused(403, "FORBIDDEN");
    }
}

#[tokio::test]
async fn a_first_password_by_change_still_encrypts_what_was_stored_before() {
    let server = TestServer::fresh().await;
    let local = server.local();
    let stored = json!({ "key": "A", "value": "b" });
    let stored = local.rpc("env.set", stored).await.unwrap();
    assert_eq!(stored["encrypted"], 0);
    let body = json!({ "new_password": PASSWORD });
    let changed = local.post("/api/auth/password/change", body).await;
    changed.expect(200);
    let owner = server.local().session(&changed.session_cookie().unwrap());
    let listed = owner.rpc("env.list", json!({})).await.unwrap();
    assert_eq!(listed["env_variables"][0]["encrypted"], 1, "{listed}");
}
