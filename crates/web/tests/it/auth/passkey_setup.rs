//! Setup with a passkey as the first credential.

use crate::steps::{finish_registration, log_in_by_passkey, register_passkey, vault_status};
use gatehouse_testkit::{Actor, SoftAuthenticator, TestServer};
use serde_json::{Value, json};

const HERE: &str = "http://localhost:8420";

fn at_localhost(actor: Actor) -> Actor {
    actor.with("host", "localhost:8420").with("origin", HERE)
}

async fn begin(actor: &Actor) -> Value {
    let begun = actor.post("/api/auth/passkey/register/begin", json!({}));
    begun.await.expect(200)
}

#[tokio::test]
async fn setup_by_passkey_alone_makes_no_vault() {
    let server = TestServer::fresh().await;
    let here = at_localhost(server.local());
    let mut authenticator = SoftAuthenticator::on(HERE);
    let made = register_passkey(&here, &mut authenticator).await;
    made.expect(200);
    let owner = here.clone().session(&made.session_cookie().unwrap());
    let status = owner.get("/api/auth/status").await.expect(200);
    for (field, value) in [
        ("setup_complete", true),
        ("has_passkeys", true),
        ("has_password", false),
        ("auth_disabled", false),
    ] {
        assert_eq!(status[field], value, "{field}");
    }
    assert_eq!(vault_status(&server).await, "uninitialized");
    assert_eq!(server.setup_code(), "");
    // An uninitialized vault blocks nothing.
    let set = owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    assert_eq!(set["encrypted"], 0);
    server
        .local()
        .post(
            "/api/auth/setup",
            json!({ "password": gatehouse_testkit::PASSWORD }),
        )
        .await
        .refused(409, "CONFLICT");
    log_in_by_passkey(&here, &mut authenticator)
        .await
        .expect(200);
    let sessions = owner.get("/api/auth/sessions").await.expect(200);
    assert!(
        sessions["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .all(|session| session["login_method"] == "passkey")
    );
}

#[tokio::test]
async fn setup_by_passkey_from_far_away_needs_the_code() {
    let server = TestServer::fresh().await;
    let code = server.setup_code();
    let remote = server.remote().with("origin", "https://gate.example");
    remote
        .post("/api/auth/passkey/register/begin", json!({}))
        .await
        .refused(403, "FORBIDDEN");
    let wrong = json!({ "setup_code": "not it" });
    remote
        .post("/api/auth/passkey/register/begin", wrong)
        .await
        .refused(403, "FORBIDDEN");
    let begun = remote
        .post(
            "/api/auth/passkey/register/begin",
            json!({ "setup_code": code }),
        )
        .await
        .expect(200);
    let mut authenticator = SoftAuthenticator::on("https://gate.example");
    let credential = authenticator.create(&begun["options"]).await.unwrap();
    finish_registration(&remote, &begun, &credential)
        .await
        .refused(403, "FORBIDDEN");
    let body = json!({
        "challenge_id": begun["challenge_id"], "name": "phone", "credential": credential, "code": code,
    });
    let made = remote.post("/api/auth/passkey/register/finish", body).await;
    made.expect(200);
    remote
        .session(&made.session_cookie().unwrap())
        .get("/api/gon")
        .await
        .expect(200);
}

#[tokio::test]
async fn of_two_first_passkeys_at_once_one_becomes_the_owner_s() {
    let server = TestServer::fresh().await;
    let here = at_localhost(server.local());
    let (mut a, mut b) = (SoftAuthenticator::on(HERE), SoftAuthenticator::on(HERE));
    let (begun_a, begun_b) = (begin(&here).await, begin(&here).await);
    let (answer_a, answer_b) = (
        a.create(&begun_a["options"]).await.unwrap(),
        b.create(&begun_b["options"]).await.unwrap(),
    );
    let (first, second) = tokio::join!(
        finish_registration(&here, &begun_a, &answer_a),
        finish_registration(&here, &begun_b, &answer_b),
    );
    let mut statuses = [first.status.as_u16(), second.status.as_u16()];
    statuses.sort_unstable();
    assert!(
        statuses == [200, 409] || statuses == [200, 401],
        "{statuses:?}"
    );
}
