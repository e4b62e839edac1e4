//! `GET /api/auth/status`.

use crate::steps::light_owner;
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::collections::BTreeSet;

async fn status(actor: &Actor) -> Value {
    actor.get("/api/auth/status").await.expect(200)
}

fn fields(status: &Value) -> BTreeSet<&str> {
    status
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

const ALWAYS: [&str; 10] = [
    "setup_required",
    "setup_complete",
    "setup_code_required",
    "has_password",
    "has_passkeys",
    "authenticated",
    "auth_disabled",
    "is_local",
    "webauthn_available",
    "vault_status",
];
const WHEN_AUTHENTICATED: [&str; 3] = ["auth_method", "scopes", "locality"];

#[tokio::test]
async fn before_setup() {
    let server = TestServer::fresh().await;
    let local = status(&server.local().with("host", "localhost")).await;
    assert_eq!(
        fields(&local),
        ALWAYS.into_iter().chain(WHEN_AUTHENTICATED).collect()
    );
    for (field, value) in [
        ("setup_required", json!(true)),
        ("setup_complete", json!(false)),
        ("setup_code_required", json!(false)),
        ("has_password", json!(false)),
        ("authenticated", json!(true)),
        ("auth_method", json!("Loopback")),
        ("is_local", json!(true)),
        ("webauthn_available", json!(true)),
        ("locality", json!({ "local": true })),
        ("vault_status", json!("uninitialized")),
    ] {
        assert_eq!(local[field], value, "{field}");
    }
    let remote = status(&server.remote()).await;
    assert_eq!(fields(&remote), ALWAYS.into_iter().collect());
    assert_eq!(remote["setup_code_required"], true);
    assert_eq!(
        (&remote["authenticated"], &remote["is_local"]),
        (&json!(false), &json!(false))
    );
    // `WebAuthn` does not work on IP addresses.
    assert_eq!(status(&server.local()).await["webauthn_available"], false);
}

#[tokio::test]
async fn after_setup() {
    let (server, owner) = light_owner(Options::default()).await;
    let anonymous = status(&server.local()).await;
    assert_eq!(fields(&anonymous), ALWAYS.into_iter().collect());
    assert_eq!(anonymous["has_password"], true);
    let own = status(&owner).await;
    assert_eq!(own["auth_method"], "Password");
    assert_eq!(
        own["scopes"].as_array().unwrap().len(),
        5,
        "a session holds all: {own}"
    );
    let key = server.api_key(&owner, &["operator.pairing"]).await;
    let by_key = status(&key).await;
    assert_eq!(
        (&by_key["auth_method"], &by_key["scopes"]),
        (&json!("ApiKey"), &json!(["operator.pairing"]))
    );
}

#[tokio::test]
async fn the_failed_check_is_shown_to_the_owner() {
    let (server, owner) = light_owner(Options::default()).await;
    let cookie = owner.headers()[0].1.clone();
    let from = |name: &str, value: &str| server.local().with("cookie", &cookie).with(name, value);
    let check = async |actor: &Actor| status(actor).await["locality"]["failed_check"].clone();
    assert_eq!(check(&from("host", "gate.example")).await, "host");
    assert_eq!(
        check(&from("x-real-ip", "203.0.113.9")).await,
        "forwarding_header"
    );
    assert_eq!(check(&owner).await, Value::Null);
    assert!(status(&server.remote()).await.get("locality").is_none());
}
