//! Vaults that were lost, accessible without authentication, or left half changed.

use crate::steps::{light_owner, log_in, set_up_with_vault, tampered, vault_status};
use gatehouse_testkit::{Options, PASSWORD, TestServer};
use serde_json::json;

/// `hashicorp/vault#3140`: a vault was initialized again over data that only the old one could read.
#[tokio::test]
async fn vault_3140_no_vault_is_made_over_encrypted_rows() {
    let (server, owner) = TestServer::with_owner().await;
    owner
        .rpc("env.set", json!({ "key": "TOKEN", "value": "kept" }))
        .await
        .unwrap();
    let server = tampered(server, "DELETE FROM vault").await;
    let owner = owner.at(server.address());
    assert_eq!(vault_status(&server).await, "sealed");
    let password = json!({ "password": PASSWORD });
    owner
        .post("/api/auth/vault/initialize", password.clone())
        .await
        .refused(409, "CONFLICT");
    owner
        .post("/api/auth/vault/unlock", password.clone())
        .await
        .refused(409, "CONFLICT");
    log_in(&server.local(), PASSWORD).await.expect(200);
    // Setting the first password again does not create one either.
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    let again = server
        .local()
        .post("/api/auth/setup", password.clone())
        .await
        .expect(200);
    assert_eq!(again["recovery_key"], serde_json::Value::Null);
    assert_eq!(vault_status(&server).await, "sealed");
    server.local().get("/health").await.expect(200);
}

/// CVE-2026-5807 (HCSEC-2026-08): the endpoints that create new keys required no credential.
#[tokio::test]
async fn cve_2026_5807_new_keys_are_made_for_the_confirmed_owner_alone() {
    let (server, owner) = TestServer::with_owner().await;
    let password = json!({ "password": PASSWORD });
    for path in [
        "/api/auth/vault/rotate",
        "/api/auth/vault/recovery-key",
        "/api/auth/vault/disable",
    ] {
        server
            .local()
            .post(path, password.clone())
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
        for scope in ["operator.read", "operator.write", "operator.pairing"] {
            let key = server.api_key(&owner, &[scope]).await;
            key.post(path, password.clone())
                .await
                .refused(403, "FORBIDDEN");
        }
    }
    assert_eq!(vault_status(&server).await, "unsealed");
}

/// No public identifier found; CWE-362: rows written while the vault was being disabled stayed encrypted,
/// with no key left to read them.
#[tokio::test]
async fn cwe_362_switching_the_vault_off_leaves_no_row_encrypted() {
    let (server, owner) = TestServer::with_owner().await;
    for n in 0..20 {
        owner
            .rpc(
                "env.set",
                json!({ "key": format!("BEFORE_{n}"), "value": "v" }),
            )
            .await
            .unwrap();
    }
    let writes = (0..40).map(|n| {
        let owner = owner.clone();
        async move {
            let params = json!({ "key": format!("DURING_{n}"), "value": "v" });
            owner.rpc("env.set", params).await.unwrap()["encrypted"].clone()
        }
    });
    let disable = owner.post("/api/auth/vault/disable", json!({}));
    let (_written, disabled) = tokio::join!(futures_util::future::join_all(writes), disable);
    let report = disabled.expect(200);
    assert_eq!(report["status"], "disabled");
    assert!(
        report["report"]["env_vars"].as_u64().unwrap() >= 20,
        "{report}"
    );
    let listed = owner
        .rpc("env.list", json!({ "limit": 500 }))
        .await
        .unwrap();
    let rows = listed["env_variables"].as_array().unwrap();
    assert_eq!(rows.len(), 60);
    assert!(rows.iter().all(|row| row["encrypted"] == 0), "{listed}");
    let server = server.restart().await;
    assert_eq!(vault_status(&server).await, "disabled");
}

/// `moltis-org/moltis#1046`: a password set before the vault existed never became its key.
#[tokio::test]
async fn moltis_1046_a_vault_can_be_made_for_a_password_that_exists() {
    let options = Options::default().env("SERVICE_AUTH__VAULT_ENABLED", "false");
    let mut server = TestServer::start(options).await;
    server.set_up().await;
    assert_eq!(vault_status(&server).await, "disabled");
    let database = server.stop().await;
    let server = TestServer::start(Options::default().database(database)).await;
    assert_eq!(vault_status(&server).await, "uninitialized");
    let owner = crate::steps::new_session(&server).await;
    let wrong = json!({ "password": crate::steps::WRONG_PASSWORD });
    owner
        .post("/api/auth/vault/initialize", wrong)
        .await
        .refused(423, "VAULT_BAD_KEY");
    let made = owner
        .post(
            "/api/auth/vault/initialize",
            json!({ "password": PASSWORD }),
        )
        .await
        .expect(200);
    assert_eq!(made["status"], "unsealed");
    assert_eq!(made["recovery_key"].as_str().unwrap().len(), 39);
}

/// CVE-2023-28432: an endpoint returned the environment with every secret in it.
#[tokio::test]
async fn cve_2023_28432_secrets_go_in_and_never_out() {
    let server = TestServer::fresh().await;
    let (owner, recovery_key) = set_up_with_vault(&server).await;
    let secret = "sk-7f3a9c1e5b-do-not-show";
    owner
        .rpc("env.set", json!({ "key": "TOKEN", "value": secret }))
        .await
        .unwrap();
    owner
        .rpc(
            "providers.set_key",
            json!({ "id": "openai", "key": secret }),
        )
        .await
        .unwrap();
    let made = owner
        .rpc("ssh_keys.generate", json!({ "name": "deploy" }))
        .await
        .unwrap();
    assert!(!made.to_string().contains("PRIVATE KEY"));
    let mut shown = String::new();
    for (method, params) in [
        ("env.list", json!({})),
        ("ssh_keys.list", json!({})),
        ("providers.list", json!({})),
        ("config.get", json!({})),
        ("audit.list", json!({ "limit": 500 })),
        ("system.status", json!({})),
        ("system.doctor", json!({})),
        ("rpc.discover", json!({})),
    ] {
        shown += &owner.rpc(method, params).await.unwrap().to_string();
    }
    for path in [
        "/api/gon",
        "/api/bootstrap",
        "/metrics",
        "/health",
        "/api/auth/status",
        "/api/auth/sessions",
        "/api/auth/api-keys",
        "/",
    ] {
        shown += &owner.get(path).await.text;
    }
    for hidden in [secret, PASSWORD, &recovery_key, "PRIVATE KEY"] {
        assert!(!shown.contains(hidden), "{hidden}");
    }
}

/// No public identifier found; CWE-209: the guard's response, or the order of checks, revealed the vault's
/// state to strangers.
#[tokio::test]
async fn cwe_209_a_stranger_hears_401_before_423() {
    let (server, _owner) = light_owner(Options::default()).await;
    server
        .local()
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    let (server, _, credentials) = crate::prepared::start(
        crate::prepared::Setup::Complete,
        crate::prepared::Vault::Sealed,
        false,
    )
    .await;
    for path in ["/api/rpc", "/api/nothing", "/v1/models", "/api"] {
        server
            .local()
            .get(path)
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
        let known = server.local().bearer(credentials.of("operator.read"));
        let body = known.get(path).await.refused(423, "VAULT_SEALED");
        assert_eq!(body["status"], "sealed");
    }
}
