//! `/api/auth/api-keys`.

use crate::steps::{behind_trusted_proxy, light_owner, start_of_tests, stopped_clock};
use gatehouse_testkit::{Actor, Options};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

async fn create(owner: &Actor, body: Value) -> Value {
    owner.post("/api/auth/api-keys", body).await.expect(200)
}

async fn keys(owner: &Actor) -> Vec<Value> {
    owner.get("/api/auth/api-keys").await.expect(200)["api_keys"]
        .as_array()
        .unwrap()
        .clone()
}

#[tokio::test]
async fn a_key_is_shown_once_and_kept_as_a_hash() {
    let (server, owner) = light_owner(Options::default()).await;
    let made = create(
        &owner,
        json!({ "name": "ci", "scopes": ["operator.read", "operator.write"] }),
    )
    .await;
    let key = made["key"].as_str().unwrap();
    assert!(key.starts_with("mk_") && key.len() == 46, "{key}");
    assert_eq!(made["prefix"], key[..11]);
    assert_eq!(made["scopes"], json!(["operator.read", "operator.write"]));
    let listed = keys(&owner).await;
    assert_eq!(listed[0]["id"], made["id"]);
    assert_eq!(
        (&listed[0]["label"], &listed[0]["prefix"]),
        (&json!("ci"), &made["prefix"])
    );
    assert!(listed[0].get("last_used_at").is_none() && listed[0].get("expires_at").is_none());
    assert!(!listed[0].to_string().contains(&key[11..]));
    for name in ["gatehouse.db", "gatehouse.db-wal"] {
        let file = crate::steps::file(&server.directory().join(name));
        assert!(
            !file.is_empty()
                && !file
                    .windows(32)
                    .any(|bytes| bytes == &key.as_bytes()[11..43])
        );
    }
    let caller = server.local().bearer(key);
    let gon = caller.get("/api/gon").await.expect(200);
    assert_eq!(
        gon["identity"],
        json!({ "method": "ApiKey", "scopes": ["operator.read", "operator.write"] })
    );
    assert!(keys(&owner).await[0]["last_used_at"].is_string());
}

#[tokio::test]
async fn a_key_needs_scopes_that_exist_and_a_label() {
    let (_server, owner) = light_owner(Options::default()).await;
    for (body, field) in [
        (json!({ "label": "x" }), "scopes"),
        (json!({ "label": "x", "scopes": [] }), "scopes"),
        (
            json!({ "label": "x", "scopes": ["operator.everything"] }),
            "scopes",
        ),
        (json!({ "label": "x", "scopes": "operator.read" }), "scopes"),
        (json!({ "label": "", "scopes": ["operator.read"] }), "label"),
        (
            json!({ "label": "x".repeat(101), "scopes": ["operator.read"] }),
            "label",
        ),
        (
            json!({ "label": "x", "scopes": ["operator.read"], "allowed_cidrs": [] }),
            "allowed_cidrs",
        ),
        (
            json!({ "label": "x", "scopes": ["operator.read"], "allowed_cidrs": ["10.0.0.0/33"] }),
            "allowed_cidrs",
        ),
        (
            json!({ "label": "x", "scopes": ["operator.read"], "expires_at": "2020-01-01T00:00:00Z" }),
            "expires_at",
        ),
        (
            json!({ "label": "x", "scopes": ["operator.read"], "expires_at": "tomorrow" }),
            "expires_at",
        ),
    ] {
        let refused = owner
            .post("/api/auth/api-keys", body.clone())
            .await
            .refused(400, "INVALID_PARAMS");
        assert_eq!(refused["field"], field, "{body}");
    }
    create(
        &owner,
        json!({ "label": "x".repeat(100), "scopes": ["operator.read"] }),
    )
    .await;
    assert_eq!(keys(&owner).await.len(), 1);
}

#[tokio::test]
async fn a_key_does_what_its_scopes_say() {
    let (server, owner) = light_owner(Options::default()).await;
    let read = server.api_key(&owner, &["operator.read"]).await;
    let write = server.api_key(&owner, &["operator.write"]).await;
    let admin = server.api_key(&owner, &["operator.admin"]).await;
    let pairing = server.api_key(&owner, &["operator.pairing"]).await;
    for (key, read_ok, write_ok) in [
        (&read, true, false),
        (&write, false, true),
        (&admin, true, true),
        (&pairing, false, false),
    ] {
        let expect = |ok: bool| {
            if ok {
                Ok(())
            } else {
                Err("FORBIDDEN".to_owned())
            }
        };
        let listed = key.rpc("env.list", json!({})).await.map(drop);
        assert_eq!(listed, expect(read_ok));
        let set = key
            .rpc("env.set", json!({ "key": "A", "value": "b" }))
            .await
            .map(drop);
        assert_eq!(set, expect(write_ok));
        key.rpc("system.status", json!({})).await.unwrap();
    }
    let body = read
        .post(
            "/api/auth/api-keys",
            json!({ "label": "x", "scopes": ["operator.read"] }),
        )
        .await;
    assert_eq!(
        body.refused(403, "FORBIDDEN")["required_scope"],
        "operator.admin"
    );
    read.get("/api/auth/api-keys").await.expect(200);
    write
        .get("/api/auth/api-keys")
        .await
        .refused(403, "FORBIDDEN");
}

#[tokio::test]
async fn a_key_ends_when_it_says() {
    let clock = stopped_clock();
    let (server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    let end = start_of_tests().after(Duration::from_hours(1));
    let made = create(
        &owner,
        json!({ "label": "x", "scopes": ["operator.read"], "expires_at": end.to_string() }),
    )
    .await;
    let key = server.local().bearer(made["key"].as_str().unwrap());
    let mut socket = server.socket(&key, "/ws").await;
    clock.advance(Duration::from_millis(3_599_999));
    key.get("/api/gon").await.expect(200);
    clock.advance(Duration::from_millis(1));
    key.get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    assert_eq!(socket.closed().await, 4401);
}

#[tokio::test]
async fn a_key_works_from_its_networks_alone() {
    let (server, owner) = light_owner(behind_trusted_proxy()).await;
    let body = json!({
        "label": "x", "scopes": ["operator.read"], "allowed_cidrs": ["203.0.113.0/24", "2001:db8::/32"],
    });
    let made = create(&owner, body).await;
    let from = |address: &str| {
        server
            .local()
            .bearer(made["key"].as_str().unwrap())
            .proxied(address)
    };
    for inside in [
        "203.0.113.0",
        "203.0.113.255",
        "::ffff:203.0.113.9",
        "2001:db8:ffff::1",
    ] {
        from(inside).get("/api/gon").await.expect(200);
    }
    for outside in ["203.0.112.255", "203.0.114.0", "2001:db9::1", "10.0.0.1"] {
        from(outside)
            .get("/api/gon")
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
    let listed = keys(&owner).await;
    assert_eq!(
        listed[0]["allowed_cidrs"],
        json!(["203.0.113.0/24", "2001:db8::/32"])
    );
}

#[tokio::test]
async fn a_revoked_key_is_gone() {
    let (server, owner) = light_owner(Options::default()).await;
    let made = create(&owner, json!({ "label": "x", "scopes": ["operator.read"] })).await;
    let path = format!("/api/auth/api-keys/{}", made["id"].as_str().unwrap());
    let key = server.local().bearer(made["key"].as_str().unwrap());
    key.get("/api/gon").await.expect(200);
    owner.delete(&path).await.expect(200);
    key.get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    owner.delete(&path).await.refused(404, "NOT_FOUND");
    assert!(keys(&owner).await.is_empty());
}

#[tokio::test]
async fn a_session_and_a_key_beside_each_other_is_the_session() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.read"]).await;
    let both = owner.clone().with("authorization", &key.headers()[0].1);
    assert_eq!(
        both.get("/api/gon").await.expect(200)["identity"]["method"],
        "Password"
    );
    let stale = server
        .local()
        .session("stale")
        .with("authorization", &key.headers()[0].1);
    assert_eq!(
        stale.get("/api/gon").await.expect(200)["identity"]["method"],
        "ApiKey"
    );
}

#[tokio::test]
async fn keys_minted_from_far_away_while_auth_was_disabled_die_with_it() {
    let (server, owner) = light_owner(Options::default()).await;
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    let mint = json!({ "label": "x", "scopes": ["operator.read"] });
    let far = create(&server.remote(), mint.clone()).await;
    let near = create(&server.local(), mint).await;
    let setup = json!({ "password": gatehouse_testkit::PASSWORD });
    server
        .local()
        .post("/api/auth/setup", setup)
        .await
        .expect(200);
    let status = |made: &Value| server.local().bearer(made["key"].as_str().unwrap());
    status(&far)
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    status(&near).get("/api/gon").await.expect(200);
}
