//! Bodies that were accepted by mistake, or that harmed the server.

use crate::steps::light_owner;
use gatehouse_testkit::{Options, PASSWORD, TestServer};
use serde_json::json;

/// CVE-2022-41919: JSON was accepted under a content type that a foreign page may send without a CORS
/// preflight.
#[tokio::test]
async fn cve_2022_41919_json_is_taken_as_json_only() {
    let server = TestServer::fresh().await;
    let body = json!({ "password": PASSWORD }).to_string();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/json",
        "application/jsonx",
        "application/json-patch+json",
        "text/plain; application/json",
    ] {
        let reply = server
            .local()
            .send_bytes("POST", "/api/auth/setup", Some(kind), body.clone())
            .await;
        reply.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    assert_eq!(
        server.local().get("/api/auth/status").await.json()["setup_complete"],
        false
    );
}

/// CVE-2026-3419: the text after the content type was ignored.
#[tokio::test]
async fn cve_2026_3419_a_content_type_with_something_behind_it_is_another() {
    let server = TestServer::fresh().await;
    for kind in [
        "application/json garbage",
        "application/json, text/plain",
        "application/json/x",
    ] {
        let reply = server
            .local()
            .send_bytes("POST", "/api/auth/login", Some(kind), "{}")
            .await;
        reply.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    for kind in ["application/json", "Application/JSON ; charset=utf-8"] {
        let reply = server
            .local()
            .send_bytes("POST", "/api/auth/login", Some(kind), "{}")
            .await;
        reply.refused(400, "INVALID_PARAMS");
    }
}

/// GHSA-2234-fmw7-43wr: without a content type the protection against foreign pages did not run.
#[tokio::test]
async fn ghsa_2234_fmw7_43wr_a_foreign_page_is_refused_whatever_it_calls_its_body() {
    let (server, owner) = light_owner(Options::default()).await;
    let cookie = owner.headers()[0].1.clone();
    let from = |name: &str, value: &str| server.local().with("cookie", &cookie).with(name, value);
    for page in [
        from("origin", "https://evil.example"),
        from("origin", "null"),
        from("origin", "http://127.0.0.1"),
        from("sec-fetch-site", "cross-site"),
        from("origin", "https://localhost"),
        from("origin", "http://localhost.evil.example"),
    ] {
        for kind in [None, Some("application/json"), Some("text/plain")] {
            let reply = page.send_bytes("POST", "/api/auth/logout", kind, "").await;
            reply.refused(403, "FORBIDDEN");
            let reply = page
                .send_bytes("DELETE", "/api/auth/sessions", kind, "")
                .await;
            reply.refused(403, "FORBIDDEN");
        }
    }
    // None of the requests had an effect.
    owner.get("/api/gon").await.expect(200);
    let own = from("origin", &format!("http://{}", server.address()));
    own.send_bytes("POST", "/api/auth/logout", None, "")
        .await
        .expect(200);
}

/// CVE-2026-28478: bodies of any size were kept in memory.
#[tokio::test]
async fn cve_2026_28478_a_body_is_read_to_its_limit_and_no_further() {
    let server = TestServer::fresh().await;
    let whole = |size: usize| format!("{{\"password\":\"{}\"}}", "x".repeat(size - 15));
    let send = async |size: usize| {
        let kind = Some("application/json");
        server
            .local()
            .send_bytes("POST", "/api/auth/login", kind, whole(size))
            .await
    };
    assert_eq!(whole(100).len(), 100);
    let reply = send(64 * 1024).await;
    assert_ne!(reply.status, 413, "{}", reply.text);
    let body = send(64 * 1024 + 1).await.refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(body["max_bytes"], 64 * 1024);
    send(8 * 1024 * 1024)
        .await
        .refused(413, "PAYLOAD_TOO_LARGE");
    server.local().get("/health").await.expect(200);
}

/// CVE-2022-42004: nested JSON exhausted the stack.
#[tokio::test]
async fn cve_2022_42004_nested_json_is_refused() {
    let (server, owner) = light_owner(Options::default()).await;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let bomb = format!("{}1{}", open.repeat(9_000), close.repeat(9_000));
        let inside = format!("{{\"password\":{bomb}}}");
        for body in [bomb.clone(), inside] {
            let kind = Some("application/json");
            let reply = server
                .local()
                .send_bytes("POST", "/api/auth/login", kind, body)
                .await;
            assert_eq!(reply.status, 400, "{}", reply.text);
        }
        let call = format!("{{\"id\":1,\"method\":\"env.list\",\"params\":{bomb}}}");
        let reply = owner
            .send_bytes("POST", "/api/rpc", Some("application/json"), call)
            .await;
        assert!(
            reply.status == 400 || reply.json()["error"].is_object(),
            "{}",
            reply.text
        );
    }
    server.local().get("/health").await.expect(200);
}
