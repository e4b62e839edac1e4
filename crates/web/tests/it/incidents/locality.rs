//! Requests that were mistaken for local ones or for the owner's page.

use gatehouse_testkit::{Actor, Options, TestServer, raw_request};
use serde_json::json;

/// `mnfst/llm-gateway#2157`, `LuthienResearch/luthien-proxy#779`: a proxy on the same host made everyone on
/// the internet local.
#[tokio::test]
async fn llm_gateway_2157_a_bare_proxy_is_declared_by_the_operator() {
    let options = Options::default().env("SERVICE_BEHIND_PROXY", "true");
    let server = TestServer::start(options).await;
    server
        .local()
        .get("/api/gon")
        .await
        .refused(401, "AUTH_SETUP_REQUIRED");
    let status = server.local().get("/api/auth/status").await.expect(200);
    assert_eq!(status["is_local"], false);
    assert_eq!(status["setup_code_required"], true);
    let password = json!({ "password": gatehouse_testkit::PASSWORD });
    server
        .local()
        .post("/api/auth/setup", password)
        .await
        .refused(403, "FORBIDDEN");
}

/// A proxy that sends a forwarding header.
#[tokio::test]
async fn luthien_proxy_779_any_forwarding_header_makes_a_request_remote() {
    let server = TestServer::fresh().await;
    server.local().get("/api/gon").await.expect(200);
    for name in [
        "X-Forwarded-For",
        "X-Real-IP",
        "CF-Connecting-IP",
        "Forwarded",
    ] {
        let proxied = server.local().with(name, "203.0.113.9");
        proxied
            .get("/api/gon")
            .await
            .refused(401, "AUTH_SETUP_REQUIRED");
    }
}

/// CVE-2026-35656: a forged loopback hop in X-Forwarded-For made its sender local.
#[tokio::test]
async fn cve_2026_35656_a_loopback_address_in_a_header_is_no_loopback_connection() {
    let server = TestServer::start(crate::steps::behind_trusted_proxy()).await;
    for value in [
        "127.0.0.1",
        "::1",
        "203.0.113.9, 127.0.0.1",
        "127.0.0.1, 203.0.113.9",
    ] {
        let forged = server.local().proxied(value);
        forged
            .get("/api/gon")
            .await
            .refused(401, "AUTH_SETUP_REQUIRED");
        assert_eq!(
            forged.get("/api/auth/status").await.json()["is_local"],
            false,
            "{value}"
        );
    }
}

/// No public identifier found; CWE-290: a check of the header's value misses an empty header.
#[tokio::test]
async fn cwe_290_an_empty_forwarding_header_counts() {
    let server = TestServer::fresh().await;
    for name in [
        "X-Forwarded-For",
        "X-Real-IP",
        "CF-Connecting-IP",
        "Forwarded",
    ] {
        let answer = server.local().with(name, "").get("/api/gon").await;
        answer.refused(401, "AUTH_SETUP_REQUIRED");
    }
}

/// CVE-2024-45410: a client declared a forwarding header hop-by-hop, which removed it.
#[tokio::test]
async fn cve_2024_45410_connection_does_not_take_headers_away() {
    let server = TestServer::fresh().await;
    let headers = [
        "Host: localhost",
        "X-Forwarded-For: 203.0.113.9",
        "Connection: X-Forwarded-For",
    ];
    let (status, answer) = raw_request(server.address(), "GET /api/gon", &headers).await;
    assert_eq!(status, 401, "{answer}");
}

/// CVE-2026-53832: an identity header from a program on the same host was trusted.
#[tokio::test]
async fn cve_2026_53832_no_header_names_the_caller() {
    let (server, _owner) = crate::steps::light_owner(Options::default()).await;
    for name in [
        "X-Forwarded-User",
        "Remote-User",
        "X-Remote-User",
        "X-Auth-Request-Email",
    ] {
        let forged = server.local().with(name, "admin");
        forged
            .get("/api/gon")
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
}

/// CVE-2025-29927: an internal header of the framework made the middleware skip its check. Similar headers
/// rewrite the path behind the gate.
#[tokio::test]
async fn cve_2025_29927_no_header_leads_around_the_gate() {
    let (server, _owner) = crate::steps::light_owner(Options::default()).await;
    for (name, value) in [
        (
            "x-middleware-subrequest",
            "middleware:middleware:middleware:middleware:middleware",
        ),
        ("x-original-url", "/health"),
        ("x-rewrite-url", "/health"),
        ("x-forwarded-prefix", "/health"),
        ("x-forwarded-uri", "/health"),
    ] {
        let caller = server.local().with(name, value);
        caller
            .get("/api/gon")
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
        let on_a_public_path = server.local().with(name, "/api/gon");
        assert_eq!(
            on_a_public_path.get("/health").await.expect(200)["status"],
            "ok"
        );
    }
}

/// CVE-2025-66414, CVE-2026-34742: a name that only starts or ends like loopback counted as loopback.
#[tokio::test]
async fn cve_2025_66414_a_host_is_loopback_by_its_whole_name() {
    let server = TestServer::fresh().await;
    for host in [
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example",
        "localhostx",
        "xlocalhost",
        "0x7f.1",
        "2130706433",
        "127.1",
        "0.0.0.0",
        "[::ffff:192.0.2.1]",
    ] {
        let (status, answer) = raw_request(
            server.address(),
            "GET /api/gon",
            &[&format!("Host: {host}")],
        )
        .await;
        assert_eq!(status, 401, "{host}: {answer}");
    }
    for host in [
        "localhost",
        "LOCALHOST.:8420",
        "app.localhost",
        "127.9.9.9",
        "[::1]:1",
        "[::ffff:127.0.0.1]",
    ] {
        let (status, answer) = raw_request(
            server.address(),
            "GET /api/gon",
            &[&format!("Host: {host}")],
        )
        .await;
        assert_eq!(status, 200, "{host}: {answer}");
    }
}

/// CVE-2026-48710: a `/`, `?` or `#` in the Host header changed the path that the middleware checked.
#[tokio::test]
async fn cve_2026_48710_a_malformed_host_neither_moves_the_path_nor_is_local() {
    let (server, owner) = crate::steps::light_owner(Options::default()).await;
    let cookie = &owner.headers()[0].1;
    for host in [
        "localhost/health?x=",
        "localhost/health",
        "localhost?",
        "localhost#",
        "localhost,evil",
        "a@localhost",
        "localhost:99999",
        "",
    ] {
        let host = format!("Host: {host}");
        let (status, answer) = raw_request(server.address(), "GET /api/gon", &[&host]).await;
        assert!(matches!(status, 400 | 401), "{host}: {answer}");
        let cookie = format!("Cookie: {cookie}");
        let (status, answer) =
            raw_request(server.address(), "GET /api/gon", &[&host, &cookie]).await;
        assert!(
            status == 400 || answer.contains("\"Password\""),
            "{host}: {answer}"
        );
    }
    let fresh = TestServer::fresh().await;
    for host in [
        "Host: localhost/health",
        "Host: localhost:99999",
        "Host: a@localhost",
    ] {
        let (status, answer) = raw_request(fresh.address(), "GET /api/gon", &[host]).await;
        assert!(matches!(status, 400 | 401), "{host}: {answer}");
    }
}

/// CVE-2025-66414, CVE-2026-11624: a page with a DNS name rebound to this machine used a server that
/// required no credential.
#[tokio::test]
async fn cve_2026_11624_while_auth_is_disabled_a_rebound_name_is_refused() {
    let (server, owner) = crate::steps::light_owner(Options::default()).await;
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    let rebound: Actor = server
        .local()
        .with("host", "evil.example")
        .with("origin", "http://evil.example");
    let call = |actor: &Actor| {
        let actor = actor.clone();
        async move { actor.rpc_reply("system.status", json!({})).await }
    };
    call(&rebound).await.refused(403, "FORBIDDEN");
    rebound.get("/api/gon").await.refused(403, "FORBIDDEN");
    assert_eq!(
        gatehouse_testkit::Socket::open(&rebound, "/ws").await.err(),
        Some(403)
    );
    let own = server
        .local()
        .with("host", "localhost:8420")
        .with("origin", "http://localhost:8420");
    call(&own).await.expect(200);
    let by_address = server
        .local()
        .with("host", "192.0.2.1")
        .with("origin", "http://192.0.2.1");
    call(&by_address).await.expect(200);
}

/// GHSA-5m6w-wvh7-57vm: a header with underscores was mistaken for the one with hyphens.
#[tokio::test]
async fn ghsa_5m6w_wvh7_57vm_underscores_are_no_hyphens() {
    let (server, owner) = crate::steps::light_owner(Options::default()).await;
    let cookie = owner.headers()[0].1.clone();
    let foreign = server
        .local()
        .with("cookie", &cookie)
        .with("origin", "https://evil.example");
    let underscored = foreign.clone().with("X_Forwarded_Host", "evil.example");
    underscored
        .post("/api/auth/logout", json!({}))
        .await
        .refused(403, "FORBIDDEN");
    let hyphenated = foreign.with("X-Forwarded-Host", "evil.example");
    hyphenated
        .post("/api/auth/logout", json!({}))
        .await
        .expect(200);
}
