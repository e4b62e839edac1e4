//! `/api/auth/passkey/register/*` and `/api/auth/passkeys`, with a third-party authenticator.

use crate::steps::{
    finish_registration, light_owner, log_in_by_passkey, register_passkey, stopped_clock,
};
use data_encoding::BASE64URL_NOPAD;
use gatehouse_store::testing::{postgres, run_sql};
use gatehouse_testkit::{Actor, Options, SoftAuthenticator, TestServer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const HERE: &str = "http://localhost:8420";

fn at_localhost(actor: Actor) -> Actor {
    actor.with("host", "localhost:8420").with("origin", HERE)
}

async fn begin(actor: &Actor) -> Value {
    actor
        .post("/api/auth/passkey/register/begin", json!({}))
        .await
        .expect(200)
}

#[tokio::test]
async fn on_each_kind_of_host_a_passkey_is_made_and_logs_in() {
    let options = crate::steps::behind_trusted_proxy();
    let (server, owner) = light_owner(options).await;
    for (host, origin, rp_id) in [
        ("localhost:8420", HERE, "localhost"),
        (
            "app.localhost:8420",
            "http://app.localhost:8420",
            "app.localhost",
        ),
        (
            "app.localhost:8443",
            "https://app.localhost:8443",
            "app.localhost",
        ),
        ("gate.example", "https://gate.example", "gate.example"),
        (
            "gate.example:8443",
            "https://gate.example:8443",
            "gate.example",
        ),
        (
            "deep.gate.example",
            "https://deep.gate.example",
            "deep.gate.example",
        ),
    ] {
        let place = |actor: Actor| actor.with("host", host).with("origin", origin);
        let mut authenticator = SoftAuthenticator::on(origin);
        let begun = begin(&place(owner.clone())).await;
        assert_eq!(begun["options"]["publicKey"]["rp"]["id"], rp_id);
        let Some(credential) = authenticator.create(&begun["options"]).await else {
            // The `passkey` crate's client accepts plain HTTP only on `localhost` itself.
            assert_eq!(host, "app.localhost:8420");
            continue;
        };
        let made = finish_registration(&place(owner.clone()), &begun, &credential).await;
        assert!(made.expect(200)["id"].as_str().unwrap().starts_with("pk_"));
        assert!(made.session_cookie().is_none(), "setup was complete before");
        let reply = log_in_by_passkey(&place(server.local()), &mut authenticator).await;
        assert_eq!(reply.expect(200), json!({ "ok": true }));
        let session = server.local().session(&reply.session_cookie().unwrap());
        assert_eq!(
            session.get("/api/gon").await.expect(200)["identity"]["method"],
            "Password"
        );
        session
            .post("/api/auth/logout", json!({}))
            .await
            .expect(200);
    }
    let listed = owner.get("/api/auth/passkeys").await.expect(200);
    let passkeys = listed["passkeys"].as_array().unwrap();
    assert!(passkeys.len() >= 5, "{listed}");
    for passkey in passkeys {
        assert!(
            passkey["last_used_at"].is_string() && passkey["created_at"].is_string(),
            "{passkey}"
        );
        assert!(passkey.get("credential").is_none());
    }
}

#[tokio::test]
async fn an_address_has_no_passkeys() {
    let (server, owner) = light_owner(Options::default()).await;
    for host in ["127.0.0.1:8420", "[::1]:8420", "192.0.2.1"] {
        let place = owner.clone().with("host", host);
        let status = place.get("/api/auth/status").await.expect(200);
        assert_eq!(status["webauthn_available"], false, "{host}");
        place
            .post("/api/auth/passkey/register/begin", json!({}))
            .await
            .refused(400, "INVALID_PARAMS");
        let anonymous = server.local().with("host", host);
        anonymous
            .post("/api/auth/passkey/auth/begin", json!({}))
            .await
            .refused(400, "INVALID_PARAMS");
    }
}

#[tokio::test]
async fn behind_a_proxy_the_external_url_names_the_host() {
    let options = Options::default().env("SERVICE_SERVER__EXTERNAL_URL", "https://gate.example");
    let (_server, owner) = light_owner(options).await;
    let rewritten = owner
        .clone()
        .with("host", "10.0.0.5:8420")
        .with("origin", "https://gate.example")
        .with("x-forwarded-host", "gate.example");
    assert_eq!(
        begin(&rewritten).await["options"]["publicKey"]["rp"]["id"],
        "gate.example"
    );
    let mut authenticator = SoftAuthenticator::on("https://gate.example");
    register_passkey(&rewritten, &mut authenticator)
        .await
        .expect(200);
}

#[tokio::test]
async fn what_exists_is_excluded() {
    let (_server, owner) = light_owner(Options::default()).await;
    let here = at_localhost(owner.clone());
    let mut first = SoftAuthenticator::on(HERE);
    let begun = begin(&here).await;
    assert!(
        begun["options"]["publicKey"]["excludeCredentials"]
            .as_array()
            .is_none_or(Vec::is_empty)
    );
    let credential = first.create(&begun["options"]).await.unwrap();
    finish_registration(&here, &begun, &credential)
        .await
        .expect(200);
    let begun = begin(&here).await;
    let excluded = &begun["options"]["publicKey"]["excludeCredentials"];
    assert_eq!(excluded.as_array().unwrap().len(), 1);
    assert_eq!(excluded[0]["id"], credential["id"]);
    let mut second = SoftAuthenticator::on(HERE);
    register_passkey(&here, &mut second).await.expect(200);
    // Passkeys of another host are not listed here.
    let gate = owner
        .with("host", "gate.example")
        .with("origin", "https://gate.example");
    let begun = begin(&gate).await;
    assert!(
        begun["options"]["publicKey"]["excludeCredentials"]
            .as_array()
            .is_none_or(Vec::is_empty)
    );
}

#[tokio::test]
async fn a_registration_from_another_origin_or_for_another_challenge_is_refused() {
    let (_server, owner) = light_owner(Options::default()).await;
    let here = at_localhost(owner.clone());
    let mut authenticator = SoftAuthenticator::on(HERE);
    let (first, second) = (begin(&here).await, begin(&here).await);
    let credential = authenticator.create(&first["options"]).await.unwrap();
    let refused = finish_registration(&here, &second, &credential)
        .await
        .refused(400, "INVALID_PARAMS");
    assert_eq!(refused["field"], "credential");
    // The attempt used up the second challenge. The first is still valid, once.
    finish_registration(&here, &second, &credential)
        .await
        .refused(400, "INVALID_PARAMS");
    finish_registration(&here, &first, &credential)
        .await
        .expect(200);
    finish_registration(&here, &first, &credential)
        .await
        .refused(400, "INVALID_PARAMS");
    // The browser lets a page on a subdomain use the parent domain. The server refuses.
    let mut below = SoftAuthenticator::on("https://evil.gate.example");
    let gate = owner
        .with("host", "gate.example")
        .with("origin", "https://gate.example");
    let begun = begin(&gate).await;
    let credential = below.create(&begun["options"]).await.unwrap();
    finish_registration(&gate, &begun, &credential)
        .await
        .refused(400, "INVALID_PARAMS");
    // A registration does not sign the origin, so an attacker can write any value.
    for origin in [
        "https://evil.example",
        "http://gate.example",
        "https://gate.example.evil.example",
        "null",
    ] {
        let mut honest = SoftAuthenticator::on("https://gate.example");
        let begun = begin(&gate).await;
        let mut credential = honest.create(&begun["options"]).await.unwrap();
        let said = BASE64URL_NOPAD
            .decode(
                credential["response"]["clientDataJSON"]
                    .as_str()
                    .unwrap()
                    .as_bytes(),
            )
            .unwrap();
        let mut said: Value = serde_json::from_slice(&said).unwrap();
        assert_eq!(said["origin"], "https://gate.example");
        said["origin"] = origin.into();
        credential["response"]["clientDataJSON"] =
            BASE64URL_NOPAD.encode(said.to_string().as_bytes()).into();
        finish_registration(&gate, &begun, &credential)
            .await
            .refused(400, "INVALID_PARAMS");
    }
    assert_eq!(
        gate.get("/api/auth/passkeys").await.expect(200)["passkeys"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_challenge_lives_five_minutes() {
    let clock = stopped_clock();
    let (_server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    let here = at_localhost(owner);
    for (wait, status) in [(299_999, 200), (300_000, 400)] {
        let mut authenticator = SoftAuthenticator::on(HERE);
        let begun = begin(&here).await;
        let credential = authenticator.create(&begun["options"]).await.unwrap();
        clock.advance(Duration::from_millis(wait));
        assert_eq!(
            finish_registration(&here, &begun, &credential).await.status,
            status,
            "{wait}"
        );
    }
}

#[tokio::test]
async fn a_client_has_ten_challenges_waiting() {
    let clock = stopped_clock();
    let options = crate::steps::behind_trusted_proxy().clock(Arc::clone(&clock));
    let (server, _owner) = light_owner(options).await;
    let ask = async |client: &str| {
        let caller = server.local().with("host", "gate.example").proxied(client);
        caller.post("/api/auth/passkey/auth/begin", json!({})).await
    };
    for _ in 0..10 {
        ask("203.0.113.9").await.expect(200);
    }
    ask("203.0.113.9").await.refused(429, "RATE_LIMITED");
    ask("203.0.113.10").await.expect(200);
    clock.advance(Duration::from_mins(5));
    ask("203.0.113.9").await.expect(200);
}

#[tokio::test]
async fn a_passkey_is_renamed_and_removed_but_the_last_way_in_stays() {
    let server = TestServer::fresh().await;
    let here = at_localhost(server.local());
    let mut first = SoftAuthenticator::on(HERE);
    let made = register_passkey(&here, &mut first).await;
    let owner = here.clone().session(&made.session_cookie().unwrap());
    let path = |made: &Value| format!("/api/auth/passkeys/{}", made["id"].as_str().unwrap());
    let first_path = path(&made.json());
    owner.delete(&first_path).await.refused(409, "CONFLICT");
    owner.get("/api/gon").await.expect(200);
    let mut second = SoftAuthenticator::on(HERE);
    let other = register_passkey(&owner, &mut second).await.expect(200);
    owner
        .patch(&path(&other), json!({ "name": "phone" }))
        .await
        .expect(200);
    owner
        .patch(&path(&other), json!({ "label": "  the phone " }))
        .await
        .expect(200);
    for name in ["", "  ", &"x".repeat(101), "a\nb"] {
        owner
            .patch(&path(&other), json!({ "name": name }))
            .await
            .refused(400, "INVALID_PARAMS");
    }
    owner
        .patch("/api/auth/passkeys/pk_none", json!({ "name": "x" }))
        .await
        .refused(404, "NOT_FOUND");
    let listed = owner.get("/api/auth/passkeys").await.expect(200);
    let names: Vec<_> = listed["passkeys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|passkey| passkey["name"].clone())
        .collect();
    assert_eq!(names, ["laptop", "the phone"]);
    owner.delete(&first_path).await.expect(200);
    owner.delete(&first_path).await.refused(404, "NOT_FOUND");
    log_in_by_passkey(&here, &mut second).await.expect(200);
    let begun = here
        .post("/api/auth/passkey/auth/begin", json!({}))
        .await
        .expect(200);
    let credential = first.get(&begun["options"]).await.unwrap();
    crate::steps::finish_login(&here, &begun, &credential)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    owner.delete(&path(&other)).await.refused(409, "CONFLICT");
}

/// Logs in with the passkey, and returns the session.
async fn session_of(server: &TestServer, authenticator: &mut SoftAuthenticator) -> Actor {
    let login = log_in_by_passkey(&at_localhost(server.local()), authenticator).await;
    server.local().session(&login.session_cookie().unwrap())
}

#[tokio::test]
async fn a_removed_passkey_ends_the_sessions_that_it_opened_except_the_one_that_removes_it() {
    let (server, owner) = light_owner(Options::default()).await;
    let here = at_localhost(owner.clone());
    let (mut lost, mut other) = (SoftAuthenticator::on(HERE), SoftAuthenticator::on(HERE));
    let path = |made: &Value| format!("/api/auth/passkeys/{}", made["id"].as_str().unwrap());
    let lost_path = path(&register_passkey(&here, &mut lost).await.expect(200));
    let other_path = path(&register_passkey(&here, &mut other).await.expect(200));
    let of_lost = session_of(&server, &mut lost).await;
    let again = session_of(&server, &mut lost).await;
    let mut socket = server.socket(&of_lost, "/ws").await;
    let of_other = session_of(&server, &mut other).await;
    owner.delete(&lost_path).await.expect(200);
    assert_eq!(socket.closed().await, 4401);
    for ended in [&of_lost, &again] {
        let refused = ended.get("/api/gon").await;
        refused.refused(401, "AUTH_NOT_AUTHENTICATED");
    }
    owner.get("/api/gon").await.expect(200);
    of_other.get("/api/gon").await.expect(200);

    let second = session_of(&server, &mut other).await;
    of_other.delete(&other_path).await.expect(200);
    of_other.get("/api/gon").await.expect(200);
    let refused = second.get("/api/gon").await;
    refused.refused(401, "AUTH_NOT_AUTHENTICATED");
    owner.get("/api/gon").await.expect(200);
}

/// Earlier versions did not record which passkey opened a session.
#[tokio::test]
async fn a_session_whose_passkey_is_unknown_ends_with_any_passkey() {
    let clock = stopped_clock();
    let (mut server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    let here = at_localhost(owner.clone());
    let mut authenticator = SoftAuthenticator::on(HERE);
    let made = register_passkey(&here, &mut authenticator)
        .await
        .expect(200);
    let session = session_of(&server, &mut authenticator).await;
    let database = server.stop().await;
    let forget = "UPDATE auth_sessions SET passkey_id = NULL";
    run_sql(&database.location, forget).await;
    let server = TestServer::start(Options::default().database(database).clock(clock)).await;
    let address = server.local().address();
    let (owner, session) = (owner.at(address), session.at(address));
    session.get("/api/gon").await.expect(200);
    let path = format!("/api/auth/passkeys/{}", made["id"].as_str().unwrap());
    owner.delete(&path).await.expect(200);
    let refused = session.get("/api/gon").await;
    refused.refused(401, "AUTH_NOT_AUTHENTICATED");
    owner.get("/api/gon").await.expect(200);
}

#[tokio::test]
async fn a_removed_passkey_ends_its_sessions_on_other_nodes() {
    let Some(database) = postgres().await else {
        return;
    };
    let other_database = database.for_another_node();
    let (server, owner) = light_owner(Options::default().database(database)).await;
    let other = TestServer::start(Options::default().database(other_database)).await;
    let mut authenticator = SoftAuthenticator::on(HERE);
    let made = register_passkey(&at_localhost(owner.clone()), &mut authenticator).await;
    let session = session_of(&server, &mut authenticator).await;
    let there = session.at(other.local().address());
    let mut socket = other.socket(&there, "/ws").await;
    let id = made.expect(200)["id"].as_str().unwrap().to_owned();
    let path = format!("/api/auth/passkeys/{id}");
    owner.delete(&path).await.expect(200);
    assert_eq!(socket.closed().await, 4401);
    let refused = there.get("/api/gon").await;
    refused.refused(401, "AUTH_NOT_AUTHENTICATED");
}
