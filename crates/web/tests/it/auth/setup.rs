//! `POST /api/auth/setup`.

use crate::steps::{
    NEW_PASSWORD, by_clock, log_in, set_up_with_vault, stopped_clock, vault_status,
};
use gatehouse_testkit::{Options, PASSWORD, TestServer};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn the_first_password_makes_a_session_and_a_vault() {
    let server = TestServer::fresh().await;
    assert_eq!(vault_status(&server).await, "uninitialized");
    let reply = server
        .local()
        .post("/api/auth/setup", json!({ "password": PASSWORD }))
        .await;
    let body = reply.expect(200);
    assert_eq!(body["ok"], true);
    let key = body["recovery_key"].as_str().unwrap();
    assert_eq!((key.len(), key.split('-').count()), (39, 8));
    assert_eq!(vault_status(&server).await, "unsealed");
    let cookie = reply.header("set-cookie").unwrap();
    for attribute in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(
        !cookie.contains("Secure") && !cookie.contains("Domain"),
        "{cookie}"
    );
    let owner = server.local().session(&reply.session_cookie().unwrap());
    let status = owner.get("/api/auth/status").await.expect(200);
    assert_eq!(
        (&status["authenticated"], &status["auth_method"]),
        (&json!(true), &json!("Password"))
    );
    server
        .local()
        .post("/api/auth/setup", json!({ "password": NEW_PASSWORD }))
        .await
        .refused(409, "CONFLICT");
    owner
        .post("/api/auth/setup", json!({ "password": NEW_PASSWORD }))
        .await
        .refused(409, "CONFLICT");
    log_in(&server.local(), PASSWORD).await.expect(200);
}

#[tokio::test]
async fn a_password_has_twelve_characters() {
    let server = TestServer::fresh().await;
    for short in ["", "12345678901", "ééééééééééé", "    "] {
        let body = server
            .local()
            .post("/api/auth/setup", json!({ "password": short }))
            .await;
        assert_eq!(
            body.refused(400, "INVALID_PARAMS")["field"],
            "password",
            "{short}"
        );
    }
    assert_eq!(
        server.local().get("/api/auth/status").await.json()["setup_complete"],
        false
    );
    server
        .local()
        .post("/api/auth/setup", json!({ "password": "éééééééééééé" }))
        .await
        .expect(200);
    log_in(&server.local(), "éééééééééééé").await.expect(200);
}

#[tokio::test]
async fn a_remote_caller_needs_the_live_code() {
    let server = TestServer::fresh().await;
    let code = server.setup_code();
    let wrong = format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000);
    for body in [
        json!({ "password": PASSWORD }),
        json!({ "password": PASSWORD, "setup_code": wrong }),
        json!({ "password": PASSWORD, "setup_code": "" }),
        json!({ "password": PASSWORD, "setup_code": null }),
        json!({ "password": PASSWORD, "setup_code": format!("{code} ") }),
        json!({}),
    ] {
        server
            .remote()
            .post("/api/auth/setup", body)
            .await
            .refused(403, "FORBIDDEN");
    }
    // The code is checked first. With a valid code the body is checked.
    let short = json!({ "password": "short", "setup_code": code });
    server
        .remote()
        .post("/api/auth/setup", short)
        .await
        .refused(400, "INVALID_PARAMS");
    for (name, value) in [("password", json!(5)), ("surplus", json!(1))] {
        let mut body = json!({ "password": PASSWORD, "setup_code": wrong });
        body[name] = value;
        let remote = server.remote();
        let reply = remote.post("/api/auth/setup", body.clone()).await;
        reply.refused(403, "FORBIDDEN");
        body["setup_code"] = json!(code);
        let reply = remote.post("/api/auth/setup", body).await;
        reply.refused(400, "INVALID_PARAMS");
    }
    let right = json!({ "password": PASSWORD, "code": code });
    let reply = server.remote().post("/api/auth/setup", right).await;
    reply.expect(200);
    assert_eq!(server.setup_code(), "");
    server
        .remote()
        .session(&reply.session_cookie().unwrap())
        .get("/api/gon")
        .await
        .expect(200);
}

#[tokio::test]
async fn a_local_caller_s_code_is_ignored_unless_it_is_demanded() {
    let server = TestServer::fresh().await;
    let body = json!({ "password": PASSWORD, "setup_code": "anything" });
    server
        .local()
        .post("/api/auth/setup", body)
        .await
        .expect(200);
    let options = Options::default().env("SERVICE_AUTH__LOCAL_SETUP_CODE", "true");
    let server = TestServer::start(options).await;
    let status = server.local().get("/api/auth/status").await.expect(200);
    assert_eq!(status["setup_code_required"], true);
    server
        .local()
        .post("/api/auth/setup", json!({ "password": PASSWORD }))
        .await
        .refused(403, "FORBIDDEN");
    let right = json!({ "password": PASSWORD, "setup_code": server.setup_code() });
    server
        .local()
        .post("/api/auth/setup", right)
        .await
        .expect(200);
}

#[tokio::test]
async fn the_code_survives_a_restart() {
    let server = TestServer::fresh().await;
    let code = server.setup_code();
    let server = server.restart().await;
    assert_eq!(server.setup_code(), code);
    set_up_with_vault(&server).await;
    let server = server.restart().await;
    assert_eq!(server.setup_code(), "");
}

#[tokio::test]
async fn after_five_used_up_codes_remote_setup_is_closed_until_a_restart() {
    let clock = stopped_clock();
    let server = by_clock(&clock).await;
    let guess = async |server: &TestServer, code: &str| {
        let body = json!({ "password": PASSWORD, "setup_code": code });
        server.remote().post("/api/auth/setup", body).await
    };
    for used_up in 1..=5 {
        for _ in 0..10 {
            guess(&server, "x").await.refused(403, "FORBIDDEN");
        }
        // The first code is replaced immediately, later ones after ten minutes.
        if used_up == 1 {
            continue;
        }
        if used_up == 2 {
            clock.advance(Duration::from_millis(599_999));
            guess(&server, "x").await.refused(429, "RATE_LIMITED");
            clock.advance(Duration::from_millis(1));
        } else {
            clock.advance(Duration::from_mins(10));
        }
    }
    let last = server.setup_code();
    guess(&server, &last).await.refused(403, "FORBIDDEN");
    clock.advance(Duration::from_hours(24));
    guess(&server, &last).await.refused(403, "FORBIDDEN");
    let server = server.restart().await;
    let code = server.setup_code();
    assert_eq!(code.len(), 6);
    guess(&server, &code).await.expect(200);
}

#[tokio::test]
async fn without_a_vault_there_is_no_recovery_key() {
    let options = Options::default().env("SERVICE_AUTH__VAULT_ENABLED", "false");
    let server = TestServer::start(options).await;
    let reply = server
        .local()
        .post("/api/auth/setup", json!({ "password": PASSWORD }))
        .await;
    assert!(
        reply.expect(200).get("recovery_key").is_none(),
        "{}",
        reply.text
    );
    assert_eq!(vault_status(&server).await, "disabled");
    let owner = server.local().session(&reply.session_cookie().unwrap());
    let set = owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    assert_eq!(set["encrypted"], 0);
}
