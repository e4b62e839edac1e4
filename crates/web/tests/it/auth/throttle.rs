//! Rate limits for unauthenticated clients.

use crate::steps::{PATIENT, behind_trusted_proxy, light_owner, log_in, stopped_clock};
use gatehouse_domain::ManualClock;
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Actor, Options, Reply, Socket, TestServer};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

async fn limited() -> (TestServer, Actor, Arc<ManualClock>) {
    let clock = stopped_clock();
    let (server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    (server, owner, clock)
}

fn is_too_many(reply: &Reply, seconds: u64) {
    let body = reply.refused(429, "RATE_LIMITED");
    assert_eq!(body["retry_after_seconds"], seconds);
    assert_eq!(
        reply.header("retry-after"),
        Some(seconds.to_string().as_str())
    );
}

#[tokio::test]
async fn each_class_has_its_limit() {
    let (server, _owner, clock) = limited().await;
    for (path, limit, status) in [
        ("/api/auth/status", 120, 200),
        ("/api/gon", 180, 401),
        ("/share/x", 90, 404),
        ("/ws", 30, 400),
    ] {
        for number in 0..limit {
            let reply = server.local().get(path).await;
            assert_eq!(
                reply.status, status,
                "{path}, request {number}: {}",
                reply.text
            );
        }
        is_too_many(&server.local().get(path).await, 60);
        clock.advance(Duration::from_millis(59_999));
        is_too_many(&server.local().get(path).await, 1);
        clock.advance(Duration::from_millis(1));
        assert_eq!(server.local().get(path).await.status, status);
        clock.advance(PATIENT);
    }
}

#[tokio::test]
async fn a_class_is_one_over_all_its_paths() {
    let (server, _owner, clock) = limited().await;
    let api = [
        "/api/gon",
        "/api/nothing",
        "/v1/models",
        "/mcp",
        "/metrics",
        "/api",
        "/api/sessions",
    ];
    for number in 0..180 {
        server
            .local()
            .get(api[number % api.len()])
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
    for path in api {
        is_too_many(&server.local().get(path).await, 60);
    }
    // Other classes and pages have separate limits.
    server.local().get("/api/auth/status").await.expect(200);
    for path in ["/health", "/", "/favicon.ico"] {
        assert_eq!(server.local().get(path).await.status, 200, "{path}");
    }
    clock.advance(PATIENT);
    for path in ["/ws", "/ws/chat"].iter().cycle().take(30) {
        assert!(matches!(
            server.local().get(path).await.status.as_u16(),
            400 | 401
        ));
    }
    assert_eq!(Socket::open(&server.local(), "/ws").await.err(), Some(429));
    is_too_many(&server.local().get("/ws/chat").await, 60);
}

#[tokio::test]
async fn five_logins_in_any_sixty_seconds() {
    let clock = stopped_clock();
    let server = crate::steps::by_clock(&clock).await;
    server.set_up().await;
    let password = gatehouse_testkit::PASSWORD;
    // At 0, 20, 40, 50 and 59 seconds.
    for pause in [0, 20, 20, 10, 9] {
        clock.advance(Duration::from_secs(pause));
        log_in(&server.local(), password).await.expect(200);
    }
    is_too_many(&log_in(&server.local(), password).await, 1);
    is_too_many(
        &server
            .local()
            .post("/api/auth/login", json!({ "nonsense": 1 }))
            .await,
        1,
    );
    clock.advance(Duration::from_secs(1));
    // The first request has left the window. Refused requests were not counted.
    log_in(&server.local(), password).await.expect(200);
    is_too_many(&log_in(&server.local(), password).await, 20);
    // The rest of `/api/auth` has its own limit.
    server.local().get("/api/auth/status").await.expect(200);
}

#[tokio::test]
async fn nodes_of_a_database_share_the_limit_of_logins() {
    let Some(database) = postgres().await else {
        return;
    };
    let clock = stopped_clock();
    let there = database.for_another_node();
    let options = |database| {
        behind_trusted_proxy()
            .clock(Arc::clone(&clock))
            .database(database)
    };
    let one = TestServer::start(options(database)).await;
    one.set_up().await;
    let two = TestServer::start(options(there)).await;
    // A server with a manual clock does not measure the clock of the database.
    for node in [&one, &two] {
        let services = node.app().services();
        services.store.ignore_database_clock(false);
        let measured = services.store.measure_clock(&services.clock).await;
        assert!(measured.unwrap().is_some());
        services.store.ignore_database_clock(true);
    }
    let nodes = [&one, &two].map(|node| node.local().proxied("203.0.113.5"));
    for number in 0..5 {
        let wrong = log_in(&nodes[number % 2], "not the password").await;
        wrong.refused(401, "INVALID_CREDENTIALS");
    }
    for node in &nodes {
        let reply = log_in(node, gatehouse_testkit::PASSWORD).await;
        let body = reply.refused(429, "RATE_LIMITED");
        let seconds = body["retry_after_seconds"].as_u64().unwrap();
        assert!((59..=61).contains(&seconds), "{seconds}");
    }
    clock.advance(PATIENT);
    log_in(&nodes[1], gatehouse_testkit::PASSWORD)
        .await
        .expect(200);
}

#[tokio::test]
async fn who_is_recognised_is_not_counted() {
    let (server, owner, _clock) = limited().await;
    let key = server.api_key(&owner, &["operator.read"]).await;
    for caller in [&owner, &key] {
        for _ in 0..200 {
            caller.get("/api/gon").await.expect(200);
        }
    }
    // Authenticated requests did not use up the limit of others.
    server
        .local()
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
}

#[tokio::test]
async fn nobody_is_counted_while_everybody_is_let_in() {
    let fresh = TestServer::fresh().await;
    for _ in 0..130 {
        fresh.local().get("/api/auth/status").await.expect(200);
    }
    // Remote callers are counted.
    for _ in 0..120 {
        fresh.remote().get("/api/auth/status").await.expect(200);
    }
    fresh
        .remote()
        .get("/api/auth/status")
        .await
        .refused(429, "RATE_LIMITED");
    let (server, owner, _clock) = limited().await;
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    for _ in 0..130 {
        server.remote().get("/api/auth/status").await.expect(200);
    }
}

#[tokio::test]
async fn a_page_says_429_too_where_it_is_shared() {
    let (server, _owner, _clock) = limited().await;
    for _ in 0..90 {
        server
            .remote()
            .get("/share/unknown")
            .await
            .refused(404, "NOT_FOUND");
    }
    is_too_many(&server.remote().get("/share/other").await, 60);
}

#[tokio::test]
async fn behind_an_unnamed_proxy_the_proxy_has_ten_times_the_limit() {
    let clock = stopped_clock();
    let options = Options::default()
        .env("SERVICE_BEHIND_PROXY", "true")
        .clock(Arc::clone(&clock));
    let (server, _owner) = light_owner(options).await;
    let ask = async |client: u32| {
        server
            .local()
            .proxied(&format!("203.0.113.{client}"))
            .get("/ws")
            .await
            .status
            .as_u16()
    };
    for client in 0..10 {
        for _ in 0..30 {
            assert_eq!(ask(client).await, 400);
        }
        assert_eq!(ask(client).await, 429, "client {client}");
    }
    assert_eq!(ask(11).await, 429, "the proxy itself");
    clock.advance(PATIENT);
    assert_eq!(ask(11).await, 400);
}
