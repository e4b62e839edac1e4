//! `/api/auth/passkey/auth/*`: invalid proofs are refused.

use crate::steps::{
    finish_login, finish_registration, light_owner, log_in_by_passkey, register_passkey,
    stopped_clock,
};
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
        .post("/api/auth/passkey/auth/begin", json!({}))
        .await
        .expect(200)
}

async fn registered(options: Options) -> (TestServer, Actor, SoftAuthenticator) {
    let (server, owner) = light_owner(options).await;
    let mut authenticator = SoftAuthenticator::on(HERE);
    register_passkey(&at_localhost(owner), &mut authenticator)
        .await
        .expect(200);
    let here = at_localhost(server.local());
    (server, here, authenticator)
}

#[tokio::test]
async fn an_answer_to_another_challenge_is_refused() {
    let (_server, here, mut authenticator) = registered(Options::default()).await;
    let (first, second) = (begin(&here).await, begin(&here).await);
    let credential = authenticator.get(&first["options"]).await.unwrap();
    finish_login(&here, &second, &credential)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    let unknown = json!({ "challenge_id": "ch_unknown" });
    finish_login(&here, &unknown, &credential)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    finish_login(&here, &first, &credential).await.expect(200);
    // A second use fails.
    finish_login(&here, &first, &credential)
        .await
        .refused(401, "INVALID_CREDENTIALS");
}

#[tokio::test]
async fn a_registration_s_challenge_is_no_login_s() {
    let (server, owner) = light_owner(Options::default()).await;
    let owner = at_localhost(owner);
    let mut authenticator = SoftAuthenticator::on(HERE);
    register_passkey(&owner, &mut authenticator)
        .await
        .expect(200);
    let here = at_localhost(server.local());
    let begun = owner
        .post("/api/auth/passkey/register/begin", json!({}))
        .await
        .expect(200);
    let mut other = SoftAuthenticator::on(HERE);
    let made = other.create(&begun["options"]).await.unwrap();
    let login = begin(&here).await;
    finish_login(&here, &begun, &made)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    let answer = authenticator.get(&login["options"]).await.unwrap();
    finish_registration(&owner, &login, &answer)
        .await
        .refused(400, "INVALID_PARAMS");
    finish_registration(&owner, &begun, &made).await.expect(200);
}

#[tokio::test]
async fn a_passkey_of_one_host_is_none_on_another() {
    let (server, here, mut authenticator) = registered(Options::default()).await;
    let gate = server
        .local()
        .with("host", "gate.example")
        .with("origin", "https://gate.example");
    let begun = begin(&gate).await;
    assert_eq!(begun["options"]["publicKey"]["rpId"], "gate.example");
    assert!(
        authenticator.get(&begun["options"]).await.is_none(),
        "the browser refuses"
    );
    // An attacker's browser may not refuse. It sends a response for this host to the ceremony of the other host.
    let begun_here = begin(&here).await;
    let credential = authenticator.get(&begun_here["options"]).await.unwrap();
    finish_login(&gate, &begun, &credential)
        .await
        .refused(401, "INVALID_CREDENTIALS");
}

#[tokio::test]
async fn a_signature_by_a_page_of_another_origin_is_refused() {
    let (server, owner) = light_owner(Options::default()).await;
    let gate = |actor: Actor| {
        actor
            .with("host", "gate.example")
            .with("origin", "https://gate.example")
    };
    let mut authenticator = SoftAuthenticator::on("https://gate.example");
    register_passkey(&gate(owner), &mut authenticator)
        .await
        .expect(200);
    let caller = gate(server.local());
    // A page on a subdomain may use the parent domain's passkey, but it is another origin.
    authenticator.move_to("https://evil.gate.example");
    let begun = begin(&caller).await;
    let credential = authenticator.get(&begun["options"]).await.unwrap();
    finish_login(&caller, &begun, &credential)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    authenticator.move_to("https://gate.example");
    log_in_by_passkey(&caller, &mut authenticator)
        .await
        .expect(200);
}

#[tokio::test]
async fn what_was_signed_cannot_be_changed() {
    let (_server, here, mut authenticator) = registered(Options::default()).await;
    for pointer in [
        "/response/signature",
        "/response/authenticatorData",
        "/response/clientDataJSON",
    ] {
        let begun = begin(&here).await;
        let mut credential = authenticator.get(&begun["options"]).await.unwrap();
        let text = credential
            .pointer(pointer)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        let last = if text.ends_with('A') { "B" } else { "A" };
        let middle = text.len() / 2;
        let changed = format!("{}{last}{}", &text[..middle], &text[middle + 1..]);
        *credential.pointer_mut(pointer).unwrap() = if changed == text {
            format!("A{}", &text[1..]).into()
        } else {
            changed.into()
        };
        let reply = finish_login(&here, &begun, &credential).await;
        assert!(
            matches!(reply.status.as_u16(), 400 | 401),
            "{pointer}: {}",
            reply.text
        );
        assert!(reply.session_cookie().is_none());
    }
    log_in_by_passkey(&here, &mut authenticator)
        .await
        .expect(200);
}

#[tokio::test]
async fn what_is_no_credential_is_refused() {
    let (_server, here, _authenticator) = registered(Options::default()).await;
    for credential in [
        json!({}),
        json!("text"),
        json!({ "id": "AAAA", "rawId": "AAAA" }),
        json!(null),
        json!([]),
    ] {
        let begun = begin(&here).await;
        let reply = finish_login(&here, &begun, &credential).await;
        assert!(
            matches!(reply.status.as_u16(), 400 | 401),
            "{credential}: {}",
            reply.text
        );
    }
}

#[tokio::test]
async fn a_counter_that_goes_back_is_a_copy() {
    let (_server, here, mut authenticator) = registered(Options::default()).await;
    authenticator.passkey_mut().unwrap().counter = Some(10);
    log_in_by_passkey(&here, &mut authenticator)
        .await
        .expect(200);
    log_in_by_passkey(&here, &mut authenticator)
        .await
        .expect(200);
    authenticator.passkey_mut().unwrap().counter = Some(5);
    log_in_by_passkey(&here, &mut authenticator)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    authenticator.passkey_mut().unwrap().counter = Some(100);
    log_in_by_passkey(&here, &mut authenticator)
        .await
        .expect(200);
}

#[tokio::test]
async fn a_challenge_expires() {
    let clock = stopped_clock();
    let (_server, here, mut authenticator) =
        registered(Options::default().clock(Arc::clone(&clock))).await;
    for (wait, status) in [(299_999, 200), (300_000, 401)] {
        let begun = begin(&here).await;
        let credential = authenticator.get(&begun["options"]).await.unwrap();
        clock.advance(Duration::from_millis(wait));
        assert_eq!(
            finish_login(&here, &begun, &credential).await.status,
            status,
            "{wait}"
        );
    }
}

#[tokio::test]
async fn a_passkey_confirms() {
    let clock = stopped_clock();
    let (server, here, mut authenticator) =
        registered(Options::default().clock(Arc::clone(&clock))).await;
    let reply = log_in_by_passkey(&here, &mut authenticator).await;
    let owner = at_localhost(server.local()).session(&reply.session_cookie().unwrap());
    clock.advance(Duration::from_hours(1));
    owner
        .post("/api/auth/reset", json!({}))
        .await
        .refused(403, "CONFIRMATION_REQUIRED");
    let begun = begin(&owner).await;
    let credential = authenticator.get(&begun["options"]).await.unwrap();
    let body = json!({ "challenge_id": begun["challenge_id"], "credential": credential });
    owner
        .post("/api/auth/confirm", body.clone())
        .await
        .expect(200);
    owner
        .post("/api/auth/confirm", body)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    owner.post("/api/auth/reset", json!({})).await.expect(200);
}
