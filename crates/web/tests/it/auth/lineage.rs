//! A credential that was created with another credential has no more permissions and ends with it.

use crate::steps::{
    behind_trusted_proxy, light_owner, log_in_by_passkey, new_session, register_passkey,
    stopped_clock,
};
use gatehouse_domain::{Clock, ManualClock};
use gatehouse_testkit::{Actor, Options, Socket, SoftAuthenticator, TestServer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

pub(super) const KEYS: &str = "/api/auth/api-keys";

/// Makes a key with the maker's credential. Returns it and its ID.
pub(super) async fn make(server: &TestServer, maker: &Actor, more: Value) -> (Actor, String) {
    let mut body = json!({ "label": "child", "scopes": ["operator.admin"] });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let made = maker.post(KEYS, body).await.expect(200);
    let key = server.local().bearer(made["key"].as_str().unwrap());
    (key, made["id"].as_str().unwrap().to_owned())
}

pub(super) async fn pair(maker: &Actor, more: Value) -> Value {
    let mut params = json!({ "label": "telephone", "scopes": ["operator.pairing"] });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    maker.rpc("pairing.create", params).await.unwrap()
}

/// Pairs a device, then pairs another device from its connection. Returns the device, the connection and the token of
/// the second device.
async fn pair_from_a_device(server: &TestServer, owner: &Actor) -> (Value, Socket, Value) {
    let device = pair(owner, json!({})).await;
    let mut socket = server.socket(&server.remote(), "/ws").await;
    socket
        .connect(json!({ "device_token": device["token"] }))
        .await
        .unwrap();
    let params = json!({ "label": "next", "scopes": ["operator.pairing"] });
    let next = socket.call("pairing.create", params).await.unwrap();
    let next = next["result"]["token"].clone();
    (device, socket, next)
}

pub(super) async fn is_let_in(key: &Actor) -> bool {
    key.get("/api/gon").await.status == 200
}

pub(super) async fn connects(server: &TestServer, token: &Value) -> bool {
    let mut socket = server.socket(&server.remote(), "/ws").await;
    let hello = socket.connect(json!({ "device_token": token })).await;
    hello.is_ok_and(|hello| hello["result"].is_object())
}

pub(super) async fn listed(owner: &Actor, id: &str) -> Value {
    let list = owner.get(KEYS).await.expect(200);
    let keys = list["api_keys"].as_array().unwrap();
    let found = keys.iter().find(|key| key["id"] == id);
    found.cloned().unwrap_or(Value::Null)
}

fn after(clock: &ManualClock, seconds: u64) -> Value {
    json!(clock.now().after(Duration::from_secs(seconds)))
}

fn by_clock() -> (Arc<ManualClock>, Options) {
    let clock = stopped_clock();
    (Arc::clone(&clock), Options::default().clock(clock))
}

#[tokio::test]
async fn what_a_key_made_ends_when_the_key_is_revoked_down_to_the_last() {
    let (server, owner) = light_owner(Options::default()).await;
    let (first, first_id) = make(&server, &owner, json!({})).await;
    let (second, second_id) = make(&server, &first, json!({})).await;
    let (third, _) = make(&server, &second, json!({})).await;
    let device = pair(&third, json!({})).await;
    let mut socket = server.socket(&server.remote(), "/ws").await;
    let token = json!({ "device_token": device["token"] });
    socket.connect(token).await.unwrap();
    let of_device = json!({ "label": "next", "scopes": ["operator.pairing"] });
    let of_device = socket.call("pairing.create", of_device).await.unwrap();
    let of_device = of_device["result"]["token"].clone();
    assert!(connects(&server, &of_device).await);
    let (beside, _) = make(&server, &owner, json!({})).await;

    let item = listed(&owner, &second_id).await;
    assert_eq!(item["made_by"], format!("api_key {first_id}"));
    assert_eq!(
        listed(&owner, &first_id).await["made_by"],
        "session as_owner"
    );

    owner
        .delete(&format!("{KEYS}/{first_id}"))
        .await
        .expect(200);
    assert_eq!(socket.closed().await, 4401);
    for key in [&first, &second, &third] {
        assert!(!is_let_in(key).await);
    }
    for token in [&device["token"], &of_device] {
        assert!(!connects(&server, token).await);
    }
    assert!(is_let_in(&beside).await);
    let devices = owner.rpc("pairing.list", json!({})).await.unwrap();
    assert_eq!(devices["devices"], json!([]));
}

#[tokio::test]
async fn what_a_device_paired_ends_with_the_device() {
    let (server, owner) = light_owner(Options::default()).await;
    let (device, _, next) = pair_from_a_device(&server, &owner).await;
    let list = owner.rpc("pairing.list", json!({})).await.unwrap();
    let mut made_by: Vec<_> = list["devices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|device| device["made_by"].as_str().unwrap().to_owned())
        .collect();
    // Both devices may have been created in the same millisecond.
    made_by.sort();
    let parent = format!("device {}", device["id"].as_str().unwrap());
    assert_eq!(made_by, [parent, "session as_owner".to_owned()]);
    let revoked = json!({ "id": device["id"] });
    owner.rpc("pairing.revoke", revoked).await.unwrap();
    assert!(!connects(&server, &next).await);
}

#[tokio::test]
async fn a_key_makes_nothing_that_outlives_it() {
    let (clock, options) = by_clock();
    let (server, owner) = light_owner(options).await;
    let end = after(&clock, 100);
    let (maker, _) = make(&server, &owner, json!({ "expires_at": end })).await;
    let (heir, heir_id) = make(&server, &maker, json!({})).await;
    assert_eq!(listed(&owner, &heir_id).await["expires_at"], end);
    make(&server, &maker, json!({ "expires_at": end })).await;
    let late = json!(clock.now().after(Duration::from_millis(100_001)));
    let body = json!({ "label": "x", "scopes": ["operator.read"], "expires_at": late });
    let refused = maker.post(KEYS, body).await.refused(403, "FORBIDDEN");
    assert_eq!(refused["field"], "expires_at", "{refused}");
    let device = pair(&maker, json!({})).await;
    let late = json!({ "label": "x", "scopes": ["operator.pairing"], "expires_at": late });
    let late = maker.rpc("pairing.create", late).await;
    assert_eq!(late, Err("FORBIDDEN".to_owned()));
    let mut socket = server.socket(&server.remote(), "/ws").await;
    socket
        .connect(json!({ "device_token": device["token"] }))
        .await
        .unwrap();
    clock.advance(Duration::from_secs(99));
    assert!(is_let_in(&heir).await && connects(&server, &device["token"]).await);
    clock.advance(Duration::from_secs(1));
    assert!(!is_let_in(&heir).await && !connects(&server, &device["token"]).await);
    assert!(!is_let_in(&maker).await);
    assert_eq!(socket.closed().await, 4401);
}

#[tokio::test]
async fn a_key_makes_nothing_for_other_networks() {
    let (server, owner) = light_owner(behind_trusted_proxy()).await;
    let nets = json!({ "allowed_cidrs": ["192.0.2.0/24"] });
    let (maker, _) = make(&server, &owner, nets).await;
    let inside = maker.proxied("192.0.2.7");
    let (heir, heir_id) = make(&server, &inside, json!({})).await;
    assert_eq!(
        listed(&owner, &heir_id).await["allowed_cidrs"],
        json!(["192.0.2.0/24"])
    );
    assert!(is_let_in(&heir.clone().proxied("192.0.2.200")).await);
    assert!(!is_let_in(&heir.proxied("198.51.100.1")).await);
    make(
        &server,
        &inside,
        json!({ "allowed_cidrs": ["192.0.2.0/24", "192.0.2.9"] }),
    )
    .await;
    for wider in [
        json!(["192.0.2.0/23"]),
        json!(["192.0.2.1", "10.0.0.1"]),
        json!(["::/0"]),
    ] {
        let body = json!({ "label": "x", "scopes": ["operator.read"], "allowed_cidrs": wider });
        let refused = inside.post(KEYS, body).await.refused(403, "FORBIDDEN");
        assert_eq!(refused["field"], "allowed_cidrs", "{refused}");
    }
    let device = pair(&inside, json!({})).await;
    for (client, expected) in [("192.0.2.1", true), ("198.51.100.1", false)] {
        let mut socket = server.socket(&server.local().proxied(client), "/ws").await;
        let hello = socket
            .connect(json!({ "device_token": device["token"] }))
            .await;
        assert_eq!(hello.unwrap()["result"].is_object(), expected, "{client}");
    }
}

#[tokio::test]
async fn a_device_may_be_given_an_end_and_networks() {
    let (clock, options) = by_clock();
    let (server, owner) = light_owner(options).await;
    let end = after(&clock, 60);
    let more = json!({ "expires_at": end, "allowed_cidrs": ["127.0.0.0/8"] });
    let device = pair(&owner, more).await;
    let list = owner.rpc("pairing.list", json!({})).await.unwrap();
    assert_eq!(list["devices"][0]["expires_at"], end);
    assert_eq!(list["devices"][0]["allowed_cidrs"], json!(["127.0.0.0/8"]));
    assert!(connects(&server, &device["token"]).await);
    clock.advance(Duration::from_mins(1));
    assert!(!connects(&server, &device["token"]).await);
    let list = owner.rpc("pairing.list", json!({})).await.unwrap();
    assert_eq!(list["devices"][0]["id"], device["id"], "still listed");
    for (more, field) in [
        (json!({ "expires_at": clock.now() }), "expires_at"),
        (json!({ "allowed_cidrs": [] }), "allowed_cidrs"),
        (
            json!({ "allowed_cidrs": vec!["10.0.0.1"; 65] }),
            "allowed_cidrs",
        ),
    ] {
        let mut params = json!({ "label": "x" });
        params[field] = more[field].clone();
        let reply = owner.rpc_reply("pairing.create", params).await.json();
        assert_eq!(reply["error"]["data"]["code"], "INVALID_PARAMS", "{reply}");
        assert_eq!(reply["error"]["data"]["field"], field, "{reply}");
    }
}

/// Returns the caller's own session in the list.
pub(super) async fn own(session: &Actor) -> Value {
    let list = session.get("/api/auth/sessions").await.expect(200);
    let mut sessions = list["sessions"].as_array().unwrap().iter();
    sessions.find(|one| one["current"] == true).unwrap().clone()
}

/// Returns the path that ends a session in the list.
pub(super) fn path_of(session: &Value) -> String {
    format!("/api/auth/sessions/{}", session["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_revoked_session_takes_its_keys_along_unless_they_are_kept() {
    let (server, owner) = TestServer::with_owner().await;
    for (body, stays) in [
        (json!({}), false),
        (json!({ "keep_children": false }), false),
        (json!({ "keep_children": true }), true),
    ] {
        let session = new_session(&server).await;
        let (key, _) = make(&server, &session, json!({})).await;
        let (below, _) = make(&server, &key, json!({})).await;
        let path = path_of(&own(&session).await);
        owner
            .send("DELETE", &path, Some(body.clone()))
            .await
            .expect(200);
        assert!(!is_let_in(&session).await);
        assert_eq!(is_let_in(&key).await, stays, "{body}");
        assert_eq!(is_let_in(&below).await, stays, "{body}");
    }
}

#[tokio::test]
async fn ending_all_other_sessions_takes_their_keys_along_unless_they_are_kept() {
    let (server, owner) = TestServer::with_owner().await;
    let (own, _) = make(&server, &owner, json!({})).await;
    for (body, stays) in [(json!({}), false), (json!({ "keep_children": true }), true)] {
        let session = new_session(&server).await;
        let (key, _) = make(&server, &session, json!({})).await;
        let path = "/api/auth/sessions";
        let ended = owner
            .send("DELETE", path, Some(body.clone()))
            .await
            .expect(200);
        assert_eq!(ended["ended"], 1);
        assert_eq!(is_let_in(&key).await, stays, "{body}");
        assert!(is_let_in(&own).await);
    }
}

#[tokio::test]
async fn a_session_may_keep_what_a_revoked_key_created() {
    let (server, owner) = light_owner(Options::default()).await;
    let here = server.local().with("host", "localhost:8420");
    let (key, key_id) = make(&server, &owner, json!({})).await;
    let (child, child_id) = make(&server, &key, json!({})).await;
    let (other, _) = make(&server, &owner, json!({})).await;
    let (mut authenticator, _) = passkey_of(&key.clone().with("host", "localhost:8420")).await;
    let of_key = session_of(&here, &mut authenticator).await;
    let path = format!("{KEYS}/{key_id}");
    let keep = json!({ "keep_children": true });
    // A leaked key must not be able to leave credentials behind.
    for caller in [&key, &other, &of_key] {
        let reply = caller.send("DELETE", &path, Some(keep.clone())).await;
        let refused = reply.refused(403, "FORBIDDEN");
        assert_eq!(refused["field"], "keep_children", "{refused}");
    }
    assert!(is_let_in(&key).await && is_let_in(&child).await);
    owner.send("DELETE", &path, Some(keep)).await.expect(200);
    assert!(!is_let_in(&key).await && is_let_in(&child).await);
    // The child descends from the key's maker now.
    let item = listed(&owner, &child_id).await;
    assert_eq!(item["made_by"], "session as_owner");
}

/// Revokes a key or a session but keeps the credentials that it created.
pub(super) async fn end_but_keep(owner: &Actor, path: &str) {
    let keep = json!({ "keep_children": true });
    owner.send("DELETE", path, Some(keep)).await.expect(200);
}

#[tokio::test]
async fn what_outlived_its_maker_ends_with_the_maker_of_that_one() {
    let (server, owner) = light_owner(Options::default()).await;
    let here = server.local().with("host", "localhost:8420");
    let (first, first_id) = make(&server, &owner, json!({})).await;
    let (second, second_id) = make(&server, &first, json!({})).await;
    let (third, third_id) = make(&server, &second, json!({})).await;
    let device = pair(&second, json!({})).await;
    let (mut authenticator, _) = passkey_of(&second.clone().with("host", "localhost:8420")).await;
    let session = session_of(&here, &mut authenticator).await;
    passkey_of(&owner.clone().with("host", "localhost:8420")).await;
    end_but_keep(&owner, &format!("{KEYS}/{second_id}")).await;
    assert!(!is_let_in(&second).await);
    // The server loaded the session while its passkey belonged to the second key.
    let (late, _) = make(&server, &session, json!({})).await;
    let of_first = format!("api_key {first_id}");
    assert_eq!(listed(&owner, &third_id).await["made_by"], of_first);
    let later = session_of(&here, &mut authenticator).await;
    for actor in [&third, &session, &late, &later] {
        assert!(is_let_in(actor).await);
    }
    assert!(connects(&server, &device["token"]).await);

    let path = format!("{KEYS}/{first_id}");
    owner.delete(&path).await.expect(200);
    for actor in [&third, &session, &late, &later] {
        assert!(!is_let_in(actor).await);
    }
    assert!(!connects(&server, &device["token"]).await);
    let reply = log_in_by_passkey(&here, &mut authenticator).await;
    reply.refused(401, "INVALID_CREDENTIALS");
}

#[tokio::test]
async fn a_key_that_outlived_two_makers_ends_with_their_session() {
    let (server, owner) = TestServer::with_owner().await;
    let session = new_session(&server).await;
    let (first, first_id) = make(&server, &session, json!({})).await;
    let (second, second_id) = make(&server, &first, json!({})).await;
    let (third, _) = make(&server, &second, json!({})).await;
    for id in [first_id, second_id] {
        end_but_keep(&owner, &format!("{KEYS}/{id}")).await;
    }
    assert!(!is_let_in(&first).await && !is_let_in(&second).await);
    assert!(is_let_in(&third).await);
    owner.delete("/api/auth/sessions").await.expect(200);
    assert!(!is_let_in(&third).await);
}

#[tokio::test]
async fn a_session_may_keep_what_a_revoked_device_paired() {
    let (server, owner) = light_owner(Options::default()).await;
    let (device, mut socket, next) = pair_from_a_device(&server, &owner).await;
    let revoke = json!({ "id": device["id"], "keep_children": true });
    let refused = socket.call("pairing.revoke", revoke.clone()).await.unwrap();
    assert_eq!(refused["error"]["data"]["code"], "FORBIDDEN", "{refused}");
    owner.rpc("pairing.revoke", revoke).await.unwrap();
    assert!(!connects(&server, &device["token"]).await);
    assert!(connects(&server, &next).await);
}

#[tokio::test]
async fn a_key_survives_the_logout_and_the_end_of_the_session_that_made_it() {
    let (clock, options) = by_clock();
    let (server, owner) = light_owner(options).await;
    let (key, _) = make(&server, &owner, json!({})).await;
    clock.advance(Duration::from_hours(24 * 30));
    assert!(!is_let_in(&owner).await);
    assert!(is_let_in(&key).await);
    let (server, owner) = light_owner(Options::default()).await;
    let (key, _) = make(&server, &owner, json!({})).await;
    owner.post("/api/auth/logout", json!({})).await.expect(200);
    assert!(is_let_in(&key).await);
}

#[tokio::test]
async fn a_key_with_limits_opens_no_way_in_without_them() {
    let (clock, options) = by_clock();
    let (server, owner) = light_owner(options).await;
    for limit in [
        json!({ "expires_at": after(&clock, 100) }),
        json!({ "allowed_cidrs": ["127.0.0.0/8"] }),
        json!({ "only": ["/api/auth/*"] }),
    ] {
        let (key, _) = make(&server, &owner, limit).await;
        let key = key.with("host", "localhost");
        for path in ["/api/auth/passkey/register/begin", "/api/auth/reset"] {
            key.post(path, json!({})).await.refused(403, "FORBIDDEN");
        }
    }
    let (key, _) = make(&server, &owner, json!({})).await;
    let key = key.with("host", "localhost");
    let path = "/api/auth/passkey/register/begin";
    key.post(path, json!({})).await.expect(200);
}

/// Registers a passkey with this credential. Returns the authenticator and the passkey's ID.
pub(super) async fn passkey_of(maker: &Actor) -> (SoftAuthenticator, String) {
    let mut authenticator = SoftAuthenticator::on("http://localhost:8420");
    let made = register_passkey(maker, &mut authenticator)
        .await
        .expect(200);
    (authenticator, made["id"].as_str().unwrap().to_owned())
}

/// Logs in with a passkey.
pub(super) async fn session_of(here: &Actor, authenticator: &mut SoftAuthenticator) -> Actor {
    let reply = log_in_by_passkey(here, authenticator).await;
    here.clone().session(&reply.session_cookie().unwrap())
}

#[tokio::test]
async fn a_passkey_that_a_key_registered_ends_with_the_key_and_so_does_what_it_opened() {
    let (server, owner) = light_owner(Options::default()).await;
    let here = server.local().with("host", "localhost:8420");
    let owner = owner.with("host", "localhost:8420");
    let (key, key_id) = make(&server, &owner, json!({})).await;
    let key = key.with("host", "localhost:8420");
    let (mut owners, _) = passkey_of(&owner).await;
    let (mut first, _) = passkey_of(&key).await;
    let session = session_of(&here, &mut first).await;
    let (mut second, _) = passkey_of(&session).await;
    let (below, below_id) = make(&server, &session, json!({})).await;
    let maker = format!("api_key {key_id}");
    let made_by = listed(&owner, &below_id).await["made_by"].clone();
    assert!(
        made_by.as_str().unwrap().starts_with("session "),
        "{made_by}"
    );
    let passkeys = owner.get("/api/auth/passkeys").await.expect(200);
    let passkeys = passkeys["passkeys"].as_array().unwrap();
    let of_key = passkeys
        .iter()
        .filter(|passkey| passkey["made_by"] == maker);
    assert_eq!((passkeys.len(), of_key.count()), (3, 2));
    // The credentials that the session created still belong to the key after the session ends.
    session
        .post("/api/auth/logout", json!({}))
        .await
        .expect(200);
    assert_eq!(listed(&owner, &below_id).await["made_by"], maker);
    let session = session_of(&here, &mut first).await;
    assert!(is_let_in(&session).await && is_let_in(&below).await);
    owner.delete(&format!("{KEYS}/{key_id}")).await.expect(200);
    assert!(!is_let_in(&session).await && !is_let_in(&below).await);
    for authenticator in [&mut first, &mut second] {
        log_in_by_passkey(&here, authenticator)
            .await
            .refused(401, "INVALID_CREDENTIALS");
    }
    log_in_by_passkey(&here, &mut owners).await.expect(200);
}

#[tokio::test]
async fn a_key_whose_passkey_is_the_last_way_in_is_not_revoked() {
    let server = TestServer::fresh().await;
    let here = server.local().with("host", "localhost:8420");
    let mut first = SoftAuthenticator::on("http://localhost:8420");
    let made = register_passkey(&here, &mut first).await;
    let owner = here.clone().session(&made.session_cookie().unwrap());
    let first_id = made.expect(200)["id"].as_str().unwrap().to_owned();
    let (key, key_id) = make(&server, &owner, json!({})).await;
    let (mut keys, _) = passkey_of(&key.with("host", "localhost:8420")).await;
    let path = format!("/api/auth/passkeys/{first_id}");
    owner.delete(&path).await.expect(200);
    let path = format!("{KEYS}/{key_id}");
    owner.delete(&path).await.refused(409, "CONFLICT");
    let session = session_of(&here, &mut keys).await;
    passkey_of(&owner).await;
    owner.delete(&path).await.expect(200);
    assert!(is_let_in(&owner).await && !is_let_in(&session).await);
}
