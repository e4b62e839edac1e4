//! Pages, their files and their headers.

use crate::steps::light_owner;
use gatehouse_testkit::{Options, Reply, TestServer, raw_request};
use serde_json::{Value, json};

/// Returns the data embedded in the shell.
fn facts(page: &Reply) -> Value {
    assert_eq!(page.status, 200);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let text = page.text.replace("&quot;", "\"").replace("&amp;", "&");
    let start = text.find("{\"").expect("the facts");
    let end = text[start..].find('}').unwrap() + start;
    serde_json::from_str(&text[start..=end]).unwrap()
}

#[tokio::test]
async fn the_shell_carries_six_facts() {
    let (server, owner) = light_owner(Options::default()).await;
    let expected = json!({
        "product": "Gatehouse", "vault_status": "uninitialized", "voice_enabled": true,
        "has_passkeys": false, "setup_required": false, "auth_disabled": false,
    });
    for path in [
        "/",
        "/onboarding",
        "/settings/security",
        "/nothing",
        "/chat/ses_1?x=y",
    ] {
        for actor in [server.local(), server.remote(), owner.clone()] {
            assert_eq!(facts(&actor.get(path).await), expected, "{path}");
        }
    }
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    let page = facts(&server.remote().get("/").await);
    assert_eq!(
        (&page["auth_disabled"], &page["setup_required"]),
        (&json!(true), &json!(true))
    );
}

#[tokio::test]
async fn who_must_set_up_is_sent_to_onboarding() {
    let server = TestServer::fresh().await;
    for path in ["/", "/settings", "/share"] {
        let reply = server.remote().get(path).await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("location")),
            (303, Some("/onboarding")),
            "{path}"
        );
        assert_eq!(reply.text, "");
    }
    assert_eq!(
        facts(&server.remote().get("/onboarding").await)["setup_required"],
        true
    );
    assert_eq!(
        facts(&server.local().get("/").await)["setup_required"],
        true
    );
    server.set_up().await;
    assert_eq!(
        facts(&server.remote().get("/").await)["setup_required"],
        false
    );
}

/// RFC 8615. Programs request these paths and would accept a page as a valid response.
#[tokio::test]
async fn a_well_known_path_that_does_not_exist_is_404_and_never_a_page() {
    let server = TestServer::fresh().await;
    let before_setup = server.remote();
    let mut replies = vec![before_setup.get("/.well-known/security.txt").await];
    let owner = server.set_up().await;
    let limited = json!({ "label": "k", "scopes": ["operator.read"], "only": ["/metrics"] });
    let created = owner.post("/api/auth/api-keys", limited).await.expect(200);
    let limited = server.remote().bearer(created["key"].as_str().unwrap());
    for actor in [owner, limited, server.remote()] {
        for path in [
            "/.well-known/",
            "/.well-known/security.txt",
            "/.well-known/oauth-authorization-server",
            "/.well-known/oauth-protected-resource/mcp",
        ] {
            replies.push(actor.get(path).await);
        }
        let posted = actor.post("/.well-known/acme-challenge/x", json!({})).await;
        replies.push(posted);
    }
    for reply in replies {
        reply.refused(404, "NOT_FOUND");
    }
    let page = server.remote().get("/.well-knowns").await;
    assert_eq!(facts(&page)["product"], "Gatehouse");
}

#[tokio::test]
async fn every_answer_has_the_security_headers() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut paths = vec![
        "/",
        "/onboarding",
        "/icons/icon.svg",
        "/assets/nothing.js",
        "/health",
        "/api/gon",
        "/api/nothing",
        "/manifest.json",
        "//",
    ];
    paths.extend([
        "/sw.js",
        "/favicon.ico",
        "/share/x",
        "/auth/callback",
        "/ws",
    ]);
    for path in paths {
        for actor in [&owner, &server.remote()] {
            let reply = actor.get(path).await;
            let policy = reply.header("content-security-policy").unwrap_or_default();
            for part in [
                "default-src 'none'",
                "script-src 'self'",
                "frame-ancestors 'none'",
                "base-uri 'none'",
            ] {
                assert!(policy.contains(part), "{path}: {policy}");
            }
            assert!(
                !policy.contains("unsafe-inline")
                    && !policy.contains("unsafe-eval")
                    && !policy.contains('*'),
                "{policy}"
            );
            assert_eq!(
                reply.header("x-content-type-options"),
                Some("nosniff"),
                "{path}"
            );
            assert!(reply.header("referrer-policy").is_some(), "{path}");
            let permissions = reply.header("permissions-policy").unwrap_or_default();
            assert!(
                permissions.contains("microphone=(self)"),
                "{path}: {permissions}"
            );
            assert!(
                reply.header("strict-transport-security").is_none(),
                "{path} came without TLS"
            );
            assert!(
                reply.header("access-control-allow-origin").is_none(),
                "{path}"
            );
            assert!(reply.header("server").is_none() && reply.header("x-powered-by").is_none());
        }
    }
}

#[tokio::test]
async fn no_page_has_inline_script_or_style() {
    let server = TestServer::fresh().await;
    let page = server.local().get("/").await.text;
    let lower = page.to_lowercase();
    for tag in lower.split("<script").skip(1) {
        assert!(tag.split('>').next().unwrap().contains("src="), "{tag}");
    }
    assert!(
        !lower.contains("<style") && !lower.contains(" style=") && !lower.contains("javascript:")
    );
    for handler in [" onclick=", " onload=", " onerror=", " onsubmit="] {
        assert!(!lower.contains(handler), "{handler}");
    }
    // Every file that it names exists.
    for part in page
        .split(['"', '\''])
        .filter(|part| part.starts_with("/assets/") || part.starts_with("/icons/"))
    {
        server.remote().get(part).await.expect(200);
    }
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let (server, owner) = light_owner(Options::default()).await;
    let cookie = format!("Cookie: {}", owner.headers()[0].1);
    for path in [
        "/",
        "/health",
        "/icons/icon.svg",
        "/api/gon",
        "/manifest.json",
    ] {
        let headers = ["Host: localhost", cookie.as_str()];
        let (status, answer) =
            raw_request(server.address(), &format!("HEAD {path}"), &headers).await;
        assert_eq!(status, 200, "{path}: {answer}");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, "", "{path}");
    }
    let (status, answer) =
        raw_request(server.address(), "HEAD /api/gon", &["Host: localhost"]).await;
    assert_eq!(status, 401);
    assert_eq!(answer.split_once("\r\n\r\n").unwrap().1, "");
}

#[tokio::test]
async fn pages_take_no_other_method() {
    let (_server, owner) = light_owner(Options::default()).await;
    for path in ["/", "/onboarding", "/health", "/manifest.json"] {
        for method in ["POST", "PUT", "DELETE"] {
            let reply = owner.send(method, path, None).await;
            reply.refused(405, "METHOD_NOT_ALLOWED");
            assert!(reply.header("allow").unwrap().contains("GET"), "{path}");
        }
    }
    owner
        .send("POST", "/nothing", None)
        .await
        .refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn health_tells_its_version_to_who_may_know() {
    let (server, owner) = light_owner(Options::default()).await;
    assert_eq!(
        server.remote().get("/health").await.expect(200),
        json!({ "status": "ok" })
    );
    assert!(server.local().get("/health").await.expect(200)["version"].is_string());
    let cookie = owner.headers()[0].1.clone();
    assert!(
        server
            .remote()
            .with("cookie", &cookie)
            .get("/health")
            .await
            .expect(200)["version"]
            .is_string()
    );
}

#[tokio::test]
async fn an_oauth_callback_without_a_flow_is_400() {
    let (server, _owner) = light_owner(Options::default()).await;
    for query in ["", "?code=x&state=y"] {
        server
            .remote()
            .get(&format!("/auth/callback{query}"))
            .await
            .refused(400, "INVALID_REQUEST");
    }
}

#[tokio::test]
async fn metrics_are_for_who_may_read() {
    let (server, owner) = light_owner(Options::default()).await;
    server
        .local()
        .get("/metrics")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    let pairing = server.api_key(&owner, &["operator.pairing"]).await;
    pairing.get("/metrics").await.refused(403, "FORBIDDEN");
    let reply = owner.get("/metrics").await;
    reply.expect(200);
    assert!(
        reply
            .header("content-type")
            .unwrap()
            .starts_with("text/plain")
    );
}
