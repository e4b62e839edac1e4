//! `pairing.*`: a device's token opens `/ws` and nothing else, until it is revoked.

use gatehouse_testkit::{Actor, TestServer};
use serde_json::{Value, json};

async fn pair(server: &TestServer, owner: &Actor, scopes: Value) -> (String, String) {
    let params = match scopes {
        Value::Null => json!({ "label": "telephone" }),
        scopes => json!({ "label": "telephone", "scopes": scopes }),
    };
    let made = owner.rpc("pairing.create", params).await.unwrap();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    let (id, token) = (text("id"), text("token"));
    assert!(id.starts_with("dev_") && token.starts_with("gd_") && token.len() == 46);
    let mut socket = server.socket(&server.remote(), "/ws").await;
    let hello = socket.connect(json!({ "device_token": token })).await;
    assert_eq!(hello.unwrap()["result"]["identity"]["method"], "ApiKey");
    (id, token)
}

#[tokio::test]
async fn a_device_does_what_it_was_paired_for_and_no_more() {
    let (server, owner) = TestServer::with_owner().await;
    let (_, token) = pair(&server, &owner, json!(["operator.read"])).await;
    let mut socket = server.socket(&server.remote(), "/ws").await;
    let hello = socket.connect(json!({ "device_token": token })).await;
    let scopes = json!(["operator.read"]);
    assert_eq!(hello.unwrap()["result"]["identity"]["scopes"], scopes);
    let read = socket.call("env.list", json!({})).await.unwrap();
    assert!(read["result"].is_object(), "{read}");
    let write = socket.call("env.set", json!({ "key": "A", "value": "b" }));
    assert_eq!(write.await.unwrap()["error"]["data"]["code"], "FORBIDDEN");
    // The token does not work over HTTP, as a Bearer token or otherwise.
    let http = server.remote().bearer(&token).get("/api/gon").await;
    http.refused(401, "AUTH_NOT_AUTHENTICATED");
}

#[tokio::test]
async fn the_list_says_who_is_online_and_a_revoked_one_is_cut_off() {
    let (server, owner) = TestServer::with_owner().await;
    let (id, token) = pair(&server, &owner, Value::Null).await;
    let mut socket = server.socket(&server.remote(), "/ws").await;
    let hello = socket.connect(json!({ "device_token": token })).await;
    let scopes = json!(["operator.read", "operator.write"]);
    assert_eq!(hello.unwrap()["result"]["identity"]["scopes"], scopes);
    let listed = owner.rpc("pairing.list", json!({})).await.unwrap();
    let device = &listed["devices"][0];
    assert_eq!(device["id"], json!(id));
    assert_eq!(device["label"], "telephone");
    assert_eq!(device["online"], true);
    assert!(device["last_seen_at"].is_string(), "{device}");
    assert!(!listed.to_string().contains(&token));

    let gone = owner.rpc("pairing.revoke", json!({ "id": id })).await;
    assert_eq!(gone.unwrap(), json!({ "ok": true }));
    assert_eq!(socket.closed().await, 4401);
    let mut again = server.socket(&server.remote(), "/ws").await;
    let refused = again.connect(json!({ "device_token": token })).await;
    assert_eq!(
        refused.unwrap()["error"]["data"]["code"],
        "INVALID_CREDENTIALS"
    );
    assert_eq!(again.closed().await, 4401);
    let twice = owner.rpc_reply("pairing.revoke", json!({ "id": id })).await;
    assert_eq!(twice.json()["error"]["data"]["code"], "NOT_FOUND");
    let listed = owner.rpc("pairing.list", json!({})).await.unwrap();
    assert_eq!(listed, json!({ "devices": [] }));
}

#[tokio::test]
async fn nobody_pairs_a_wider_device_than_themselves() {
    let (server, owner) = TestServer::with_owner().await;
    let key = server.api_key(&owner, &["operator.pairing"]).await;
    for (params, code) in [
        (
            json!({ "label": "x", "scopes": ["operator.read"] }),
            "FORBIDDEN",
        ),
        (json!({ "label": "x" }), "INVALID_PARAMS"),
        (json!({ "label": "x", "scopes": [] }), "INVALID_PARAMS"),
        (json!({ "label": "x", "scopes": ["all"] }), "INVALID_PARAMS"),
        (json!({ "label": " " }), "INVALID_PARAMS"),
        (json!({ "label": "x".repeat(101) }), "INVALID_PARAMS"),
        (json!({ "scopes": ["operator.pairing"] }), "INVALID_PARAMS"),
    ] {
        let refused = key.rpc_reply("pairing.create", params.clone()).await;
        assert_eq!(
            refused.json()["error"]["data"]["code"],
            code,
            "{params}: {}",
            refused.text
        );
    }
    let params = json!({ "label": "x".repeat(100), "scopes": ["operator.pairing"] });
    key.rpc("pairing.create", params).await.unwrap();
    let reader = server.api_key(&owner, &["operator.read"]).await;
    let refused = reader.rpc_reply("pairing.list", json!({})).await;
    assert_eq!(refused.json()["error"]["data"]["code"], "FORBIDDEN");
}

#[tokio::test]
async fn a_device_outlives_a_restart_and_not_a_reset() {
    let (server, owner) = TestServer::with_owner().await;
    let (_, token) = pair(&server, &owner, Value::Null).await;
    let server = server.restart().await;
    let owner = owner.at(server.address());
    let mut socket = server.socket(&server.remote(), "/ws").await;
    let hello = socket.connect(json!({ "device_token": token })).await;
    assert!(hello.unwrap()["result"].is_object());
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    assert_eq!(socket.closed().await, 4401);
}
