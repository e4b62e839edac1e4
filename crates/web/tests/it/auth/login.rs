//! `POST /api/auth/login`.

use crate::steps::{WRONG_PASSWORD, log_in};
use gatehouse_testkit::{PASSWORD, TestServer};
use serde_json::json;

#[tokio::test]
async fn the_right_password_logs_in_and_a_wrong_one_does_not() {
    let (server, _owner) = TestServer::with_owner().await;
    let reply = log_in(&server.remote(), PASSWORD).await;
    assert_eq!(reply.expect(200), json!({ "ok": true }));
    let session = server.remote().session(&reply.session_cookie().unwrap());
    assert_eq!(
        session.get("/api/gon").await.expect(200)["identity"]["method"],
        "Password"
    );
    for wrong in [
        WRONG_PASSWORD,
        "",
        &PASSWORD.to_uppercase(),
        &format!("{PASSWORD} "),
    ] {
        let reply = log_in(&server.remote(), wrong).await;
        reply.refused(401, "INVALID_CREDENTIALS");
        assert!(reply.session_cookie().is_none());
    }
}

#[tokio::test]
async fn a_login_unseals() {
    let (server, _owner) = TestServer::with_owner().await;
    let server = server.restart().await;
    assert_eq!(crate::steps::vault_status(&server).await, "sealed");
    log_in(&server.local(), WRONG_PASSWORD)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    assert_eq!(crate::steps::vault_status(&server).await, "sealed");
    log_in(&server.local(), PASSWORD).await.expect(200);
    assert_eq!(crate::steps::vault_status(&server).await, "unsealed");
}

#[tokio::test]
async fn before_setup_nobody_logs_in() {
    let server = TestServer::fresh().await;
    for actor in [server.local(), server.remote()] {
        let reply = log_in(&actor, PASSWORD).await;
        reply.refused(401, "INVALID_CREDENTIALS");
    }
}

#[tokio::test]
async fn behind_tls_the_cookie_is_secure_and_below_localhost_it_is_shared() {
    let options = crate::steps::behind_trusted_proxy();
    let server = TestServer::start(options).await;
    server.set_up().await;
    let over_tls = server
        .remote()
        .proxied("203.0.113.9")
        .with("x-forwarded-proto", "https");
    let reply = log_in(&over_tls, PASSWORD).await;
    let cookie = reply.header("set-cookie").unwrap();
    assert!(
        cookie.contains("; Secure") && !cookie.contains("Domain"),
        "{cookie}"
    );
    assert!(reply.header("strict-transport-security").is_some());
    let below = server.local().with("host", "app.localhost:8420");
    let reply = log_in(&below, PASSWORD).await;
    let cookie = reply.header("set-cookie").unwrap();
    assert!(
        cookie.contains("; Domain=localhost") && !cookie.contains("Secure"),
        "{cookie}"
    );
    let reply = below
        .clone()
        .session(&reply.session_cookie().unwrap())
        .post("/api/auth/logout", json!({}))
        .await;
    let cleared: Vec<_> = reply
        .headers
        .get_all("set-cookie")
        .iter()
        .map(|line| line.to_str().unwrap())
        .collect();
    assert_eq!(cleared.len(), 2);
    assert!(
        cleared.iter().all(|line| line.contains("Max-Age=0")),
        "{cleared:?}"
    );
    assert!(
        cleared.iter().any(|line| line.contains("Domain=localhost")),
        "{cleared:?}"
    );
}

#[tokio::test]
async fn an_untrusted_peer_s_word_about_tls_is_not_believed() {
    let (server, _owner) = TestServer::with_owner().await;
    let claims = server.remote().with("x-forwarded-proto", "https");
    let reply = log_in(&claims, PASSWORD).await;
    assert!(!reply.header("set-cookie").unwrap().contains("Secure"));
    assert!(reply.header("strict-transport-security").is_none());
}
