//! Credentials that had too many permissions or were valid for too long.

use crate::steps::{finish_login, light_owner, log_in, log_in_by_passkey, register_passkey};
use gatehouse_testkit::{Options, PASSWORD, SoftAuthenticator, TestServer};
use serde_json::json;

/// CVE-2026-32922 (GHSA-4jpw-hj22-2xmc): a caller who may pair devices could mint tokens with every scope.
#[tokio::test]
async fn cve_2026_32922_no_key_mints_what_it_does_not_hold() {
    let (server, owner) = light_owner(Options::default()).await;
    let scopes = [
        "operator.read",
        "operator.write",
        "operator.approvals",
        "operator.pairing",
    ];
    for held in scopes {
        let key = server.api_key(&owner, &[held]).await;
        for wanted in scopes.into_iter().chain(["operator.admin"]) {
            let body = json!({ "label": "wider", "scopes": [wanted] });
            key.post("/api/auth/api-keys", body)
                .await
                .refused(403, "FORBIDDEN");
        }
        let body = json!({ "label": "wider", "scopes": [held, "operator.admin"] });
        key.post("/api/auth/api-keys", body)
            .await
            .refused(403, "FORBIDDEN");
    }
    let listed = owner.get("/api/auth/api-keys").await.expect(200);
    assert_eq!(listed["api_keys"].as_array().unwrap().len(), scopes.len());
    let admin = server.api_key(&owner, &["operator.admin"]).await;
    let body = json!({ "label": "narrower", "scopes": ["operator.read"] });
    admin.post("/api/auth/api-keys", body).await.expect(200);
}

/// CVE-2020-5205 (GHSA-v2wf-c3j6-wpvw): a session ID set before the login was still valid after it.
#[tokio::test]
async fn cve_2020_5205_a_login_makes_its_own_session() {
    let server = TestServer::fresh().await;
    server.set_up().await;
    let fixed = "A".repeat(43);
    let victim = server.local().session(&fixed);
    let reply = log_in(&victim, PASSWORD).await;
    reply.expect(200);
    let cookie = reply.session_cookie().unwrap();
    assert_ne!(cookie, fixed);
    victim
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    let again = log_in(&server.local().session(&cookie), PASSWORD)
        .await
        .session_cookie()
        .unwrap();
    assert_ne!(again, cookie);
}

/// No public identifier found; CWE-1275: the cookie was sent to unintended hosts and with unintended
/// requests.
#[tokio::test]
async fn cwe_1275_the_cookie_is_for_this_host_alone() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut authenticator = SoftAuthenticator::on("http://localhost:8420");
    let here = owner.with("host", "localhost:8420");
    register_passkey(&here, &mut authenticator)
        .await
        .expect(200);
    for (host, shared) in [("localhost:8420", false), ("LOCALHOST", false)] {
        let caller = server.local().with("host", host);
        authenticator.move_to(&format!("http://{host}"));
        let reply = log_in_by_passkey(&caller, &mut authenticator).await;
        let cookie = reply.header("set-cookie").unwrap().to_owned();
        for attribute in [
            "; HttpOnly",
            "; SameSite=Strict",
            "; Path=/",
            "; Max-Age=2592000",
        ] {
            assert!(cookie.contains(attribute), "{cookie}");
        }
        assert_eq!(cookie.contains("Domain="), shared, "{host}: {cookie}");
        assert!(!cookie.contains("Secure"), "{cookie}");
    }
}

/// CVE-2026-28787: the client chose the challenge, so one response was valid forever.
#[tokio::test]
async fn cve_2026_28787_an_answer_is_good_for_its_own_challenge_once() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut authenticator = SoftAuthenticator::on("http://localhost:8420");
    let here = owner.with("host", "localhost:8420");
    register_passkey(&here, &mut authenticator)
        .await
        .expect(200);
    let caller = server.local().with("host", "localhost:8420");
    let ask = async || {
        caller
            .post("/api/auth/passkey/auth/begin", json!({}))
            .await
            .expect(200)
    };
    let begun = ask().await;
    let captured = authenticator.get(&begun["options"]).await.unwrap();
    finish_login(&caller, &begun, &captured).await.expect(200);
    finish_login(&caller, &begun, &captured)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    finish_login(&caller, &ask().await, &captured)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    let own_challenge = json!({
        "challenge_id": begun["challenge_id"], "credential": captured, "challenge": "AAAA",
    });
    let reply = caller
        .post("/api/auth/passkey/auth/finish", own_challenge)
        .await;
    reply.refused(400, "INVALID_PARAMS");
}
