//! The requests that a sealed vault blocks.

use crate::prepared::{Setup, Vault, start};
use crate::steps::light_owner;
use gatehouse_testkit::{Options, TestServer};
use serde_json::json;

#[tokio::test]
async fn while_sealed_every_api_path_but_the_listed_is_423() {
    let (server, _, credentials) = start(Setup::Complete, Vault::Sealed, false).await;
    let owner = server.local().session(credentials.of("session"));
    for path in [
        "/api",
        "/api/rpc",
        "/api/openapi.json",
        "/api/openrpc.json",
        "/api/nothing",
        "/api/authx",
        "/v1/models",
        "/v1/x",
        "/mcp",
        "/api/webhooks",
    ] {
        let reply = owner.get(path).await;
        let body = reply.refused(423, "VAULT_SEALED");
        assert_eq!(body["status"], "sealed", "{path}");
        assert!(body["error"].is_string(), "{path}");
    }
    owner
        .rpc_reply("system.status", json!({}))
        .await
        .refused(423, "VAULT_SEALED");
    for path in [
        "/api/gon",
        "/api/bootstrap",
        "/api/sessions",
        "/api/auth/status",
        "/api/auth/sessions",
        "/api/auth/vault/status",
        "/",
        "/health",
        "/favicon.ico",
        "/metrics",
        "/manifest.json",
        "/sw.js",
    ] {
        owner.get(path).await.expect(200);
    }
    owner
        .get("/api/sessions/ses_none/messages")
        .await
        .refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn while_there_is_no_vault_nothing_is_blocked() {
    let (_server, owner) = light_owner(Options::default()).await;
    owner.rpc("system.status", json!({})).await.unwrap();
    owner.get("/api/openapi.json").await.expect(200);
    owner.get("/api/nothing").await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn on_a_socket_each_method_decides() {
    let (server, _, credentials) = start(Setup::Complete, Vault::Sealed, false).await;
    let owner = server.local().session(credentials.of("session"));
    let mut socket = server.socket(&owner, "/ws").await;
    let hello = socket.connect(json!({})).await.unwrap();
    assert_eq!(hello["result"]["vault_status"], "sealed");
    for method in [
        "system.status",
        "env.list",
        "ssh_keys.list",
        "providers.list",
        "config.get",
        "audit.list",
    ] {
        let answer = socket.call(method, json!({})).await.unwrap();
        assert!(answer["result"].is_object(), "{method}: {answer}");
    }
    let set = socket
        .call("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    assert_eq!(set["result"]["encrypted"], 0, "{set}");
    assert!(set["result"]["warning"].is_string(), "{set}");
    let made = socket
        .call("ssh_keys.generate", json!({ "name": "k" }))
        .await
        .unwrap();
    assert_eq!(made["result"]["encrypted"], 0, "{made}");
    assert!(made["result"]["warning"].is_string(), "{made}");
    let refused = socket
        .call("providers.set_key", json!({ "id": "openai", "key": "k" }))
        .await
        .unwrap();
    assert_eq!(
        refused["error"]["data"],
        json!({ "code": "VAULT_SEALED", "status": "sealed" })
    );
}

#[tokio::test]
async fn plaintext_while_sealed_can_be_forbidden() {
    let options = Options::default().env("SERVICE_VAULT__PLAINTEXT_WHILE_SEALED", "false");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .expect(200);
    let mut socket = server.socket(&owner, "/ws").await;
    for (method, params) in [
        ("env.set", json!({ "key": "A", "value": "b" })),
        ("ssh_keys.generate", json!({ "name": "k" })),
    ] {
        let refused = socket.call(method, params).await.unwrap();
        assert_eq!(refused["error"]["data"]["code"], "VAULT_SEALED", "{method}");
    }
}

#[tokio::test]
async fn what_was_written_while_sealed_is_migrated_at_the_next_unseal() {
    let (server, owner) = TestServer::with_owner().await;
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .expect(200);
    let mut socket = server.socket(&owner, "/ws").await;
    socket
        .call("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    socket
        .call("ssh_keys.generate", json!({ "name": "k" }))
        .await
        .unwrap();
    let unlock = json!({ "password": gatehouse_testkit::PASSWORD });
    owner
        .post("/api/auth/vault/unlock", unlock)
        .await
        .expect(200);
    let env = owner.rpc("env.list", json!({})).await.unwrap();
    let ssh = owner.rpc("ssh_keys.list", json!({})).await.unwrap();
    assert_eq!(
        (
            &env["env_variables"][0]["encrypted"],
            &ssh["ssh_keys"][0]["encrypted"]
        ),
        (&json!(1), &json!(1))
    );
}
