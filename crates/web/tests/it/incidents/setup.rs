//! Instances that were taken over before their owner set them up.

use gatehouse_testkit::{Options, PASSWORD, Socket, TestServer};
use serde_json::json;

/// CVE-2018-19367: the first visitor of a new instance could set its password.
#[tokio::test]
async fn cve_2018_19367_a_stranger_cannot_set_the_password() {
    let server = TestServer::fresh().await;
    let code = server.setup_code();
    assert!(
        code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()),
        "{code}"
    );
    let password = json!({ "password": PASSWORD });
    for path in ["/api/auth/setup", "/api/auth/passkey/register/begin"] {
        let body = if path.ends_with("setup") {
            password.clone()
        } else {
            json!({})
        };
        server
            .remote()
            .post(path, body)
            .await
            .refused(403, "FORBIDDEN");
    }
    let change = json!({ "new_password": PASSWORD });
    server
        .remote()
        .post("/api/auth/password/change", change)
        .await
        .refused(401, "AUTH_SETUP_REQUIRED");
    server
        .remote()
        .get("/api/gon")
        .await
        .refused(401, "AUTH_SETUP_REQUIRED");
    assert_eq!(
        Socket::open(&server.remote(), "/ws/chat").await.err(),
        Some(401)
    );
    assert_eq!(
        server.local().get("/api/auth/status").await.json()["setup_complete"],
        false
    );
}

/// No public identifier found; CWE-306: after "remove all auth" everyone is allowed, but no remote caller
/// becomes the owner without the new code.
#[tokio::test]
async fn cwe_306_while_setup_is_open_there_is_a_code() {
    let (server, owner) = crate::steps::light_owner(Options::default()).await;
    assert_eq!(server.setup_code(), "");
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    let code = server.setup_code();
    assert_eq!(code.len(), 6);
    server.remote().get("/api/gon").await.expect(200);
    let password = json!({ "password": PASSWORD });
    let change = json!({ "new_password": PASSWORD });
    server
        .remote()
        .post("/api/auth/setup", password)
        .await
        .refused(403, "FORBIDDEN");
    server
        .remote()
        .post("/api/auth/password/change", change)
        .await
        .refused(403, "FORBIDDEN");
    server
        .remote()
        .post("/api/auth/passkey/register/begin", json!({}))
        .await
        .refused(403, "FORBIDDEN");
    let right = json!({ "password": PASSWORD, "setup_code": code });
    server
        .remote()
        .post("/api/auth/setup", right)
        .await
        .expect(200);
    assert_eq!(server.setup_code(), "");
    server
        .remote()
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
}

/// CVE-2026-45675, GHSA-9wcp-79g5-5c3c: several concurrent first users each became the owner.
#[tokio::test]
async fn cve_2026_45675_of_racing_setups_one_wins() {
    let server = TestServer::fresh().await;
    let code = server.setup_code();
    let passwords: Vec<String> = (0..6).map(|n| format!("{PASSWORD} number {n}")).collect();
    let racers = passwords.iter().map(|password| {
        let (actor, body) = (
            server.remote(),
            json!({ "password": password, "setup_code": code }),
        );
        async move { actor.post("/api/auth/setup", body).await }
    });
    let replies = futures_util::future::join_all(racers).await;
    let won: Vec<usize> = (0..replies.len())
        .filter(|index| replies[*index].status == 200)
        .collect();
    assert_eq!(won.len(), 1, "{replies:?}");
    for reply in &replies {
        assert!(
            matches!(reply.status.as_u16(), 200 | 409 | 403),
            "{}",
            reply.text
        );
        assert_eq!(reply.session_cookie().is_some(), reply.status == 200);
    }
    let winner = &passwords[won[0]];
    crate::steps::log_in(&server.remote(), winner)
        .await
        .expect(200);
    let loser = &passwords[(won[0] + 1) % passwords.len()];
    crate::steps::log_in(&server.remote(), loser)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    let owner = server
        .remote()
        .session(&replies[won[0]].session_cookie().unwrap());
    let sessions = owner.get("/api/auth/sessions").await.expect(200);
    assert_eq!(
        sessions["sessions"].as_array().unwrap().len(),
        2,
        "{sessions}"
    );
    // The vault uses the winner's password.
    owner
        .post("/api/auth/vault/unlock", json!({ "password": winner }))
        .await
        .expect(200);
    owner
        .post("/api/auth/vault/unlock", json!({ "password": loser }))
        .await
        .refused(423, "VAULT_BAD_KEY");
}

/// CVE-2026-49352: without configuration a known secret was valid; other products accepted an empty one.
#[tokio::test]
async fn cve_2026_49352_no_credential_is_valid_by_default_or_blank() {
    let fresh = TestServer::fresh().await;
    for password in ["", " ", "admin", "password", "changeme", "gatehouse"] {
        let reply = crate::steps::log_in(&fresh.local(), password).await;
        assert!(
            matches!(reply.status.as_u16(), 401 | 429),
            "{password}: {}",
            reply.text
        );
        let body = json!({ "password": password });
        fresh
            .local()
            .post("/api/auth/setup", body)
            .await
            .refused(400, "INVALID_PARAMS");
    }
    let (server, _owner) = crate::steps::light_owner(Options::default()).await;
    for value in [
        "Bearer ",
        "Bearer",
        "Bearer undefined",
        "Bearer null",
        "Bearer mk_",
        "bearer mk_undefined",
        "Basic YWRtaW46YWRtaW4=",
    ] {
        let caller = server.local().with("authorization", value);
        caller
            .get("/api/gon")
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
    for value in [
        "service_session=",
        "service_session=undefined",
        "service_session=\"\"",
        "service_session",
    ] {
        let caller = server.local().with("cookie", value);
        caller
            .get("/api/gon")
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
    for auth in [
        json!({ "api_key": "" }),
        json!({ "password": "" }),
        json!({ "device_token": "" }),
        json!({}),
    ] {
        let mut socket = server.socket(&server.local(), "/ws").await;
        let answer = socket.connect(auth.clone()).await.unwrap();
        assert!(answer["error"].is_object(), "{auth}: {answer}");
        assert_eq!(socket.closed().await, 4401, "{auth}");
    }
}
