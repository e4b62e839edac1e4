//! Bypasses of the gate: alternative path spellings, other methods, and tokens in other places.

use crate::steps::light_owner;
use gatehouse_testkit::{Options, Socket, raw_request};
use serde_json::json;

/// Text that only `/api/gon` returns.
const DATA: &str = "\"identity\"";

/// GHSA-8j2w-6fmm-m587: the gate and the handler interpreted the path differently.
#[tokio::test]
async fn ghsa_8j2w_6fmm_m587_another_spelling_is_another_path() {
    let (server, owner) = light_owner(Options::default()).await;
    let cookie = format!("Cookie: {}", owner.headers()[0].1);
    for path in [
        "/API/gon",
        "/api%2Fgon",
        "/api/GON",
        "/%61pi/gon",
        "/api/gon/",
        "/api/gon%20",
        "/api/gon%00",
    ] {
        for headers in [
            vec!["Host: localhost"],
            vec!["Host: localhost", cookie.as_str()],
        ] {
            let (status, answer) =
                raw_request(server.address(), &format!("GET {path}"), &headers).await;
            assert!(!answer.contains(DATA), "{path}: {answer}");
            assert!(status < 500, "{path}: {answer}");
        }
    }
    assert!(owner.get("/api/gon").await.text.contains(DATA));
}

/// CVE-2026-48020, CVE-2026-40912: a public prefix and dot segments led to a protected path.
#[tokio::test]
async fn cve_2026_48020_dot_segments_are_refused_before_anything_else() {
    let (server, _owner) = light_owner(Options::default()).await;
    for path in [
        "/assets/../api/gon",
        "/assets/%2e%2e/api/gon",
        "/assets/%2E%2E/api/gon",
        "/assets/.%2e/api/gon",
        "/api/auth/../gon",
        "/api/auth/./status",
        "/api%2e/gon",
        "/assets/..%2fapi/gon",
        "/icons/..%2Fapi%2Fgon",
        "/api/auth/%2e%2e%2fgon",
        "/..",
        "/api/..",
    ] {
        let (status, answer) = raw_request(
            server.address(),
            &format!("GET {path}"),
            &["Host: localhost"],
        )
        .await;
        assert!(
            status == 400 && answer.contains("INVALID_REQUEST"),
            "{path}: {answer}"
        );
    }
}

/// No public identifier found; CWE-50, CWE-551: doubled slashes and path parameters.
#[tokio::test]
async fn cwe_551_doubled_slashes_and_path_parameters_are_refused() {
    let (server, _owner) = light_owner(Options::default()).await;
    for path in [
        "//api/gon",
        "/api//gon",
        "/assets//../api/gon",
        "/api/gon;x=1",
        "/api/auth;/gon",
        "/;/api/gon",
        "/api/gon%3b",
        "/api/auth/status//",
    ] {
        let (status, answer) = raw_request(
            server.address(),
            &format!("GET {path}"),
            &["Host: localhost"],
        )
        .await;
        assert!(
            status == 400 && answer.contains("INVALID_REQUEST"),
            "{path}: {answer}"
        );
    }
}

/// GHSA-qrp7-cvwr-j2c6: one component treated an encoded backslash as a separator, another as a letter.
#[tokio::test]
async fn ghsa_qrp7_cvwr_j2c6_backslashes_are_refused() {
    let (server, _owner) = light_owner(Options::default()).await;
    for path in [
        "/assets%5c..%5capi%5cgon",
        "/assets/%5C",
        "/assets\\..\\api\\gon",
        "/api%5cgon",
    ] {
        let (status, answer) = raw_request(
            server.address(),
            &format!("GET {path}"),
            &["Host: localhost"],
        )
        .await;
        assert_eq!(status, 400, "{path}: {answer}");
    }
}

/// GHSA-rrmm-9v76-h3p4 (CVE-2026-44848): endpoints below an allowed prefix were not checked themselves.
#[tokio::test]
async fn ghsa_rrmm_9v76_h3p4_below_a_public_prefix_each_endpoint_asks_for_itself() {
    let (server, _owner) = light_owner(Options::default()).await;
    for (method, path) in [
        ("POST", "/api/auth/logout"),
        ("POST", "/api/auth/confirm"),
        ("POST", "/api/auth/password/change"),
        ("GET", "/api/auth/sessions"),
        ("DELETE", "/api/auth/sessions"),
        ("DELETE", "/api/auth/sessions/as_owner"),
        ("GET", "/api/auth/api-keys"),
        ("POST", "/api/auth/api-keys"),
        ("DELETE", "/api/auth/api-keys/key_x"),
        ("POST", "/api/auth/passkey/register/begin"),
        ("POST", "/api/auth/passkey/register/finish"),
        ("GET", "/api/auth/passkeys"),
        ("PATCH", "/api/auth/passkeys/pk_x"),
        ("DELETE", "/api/auth/passkeys/pk_x"),
        ("POST", "/api/auth/reset"),
        ("POST", "/api/auth/vault/initialize"),
        ("POST", "/api/auth/vault/unlock"),
        ("POST", "/api/auth/vault/recovery"),
        ("POST", "/api/auth/vault/disable"),
        ("POST", "/api/auth/vault/enable"),
        ("POST", "/api/auth/vault/seal"),
        ("POST", "/api/auth/vault/rotate"),
        ("POST", "/api/auth/vault/recovery-key"),
    ] {
        let body = (method != "GET").then(|| json!({}));
        let reply = server.local().send(method, path, body).await;
        assert_eq!(
            reply.code(),
            "AUTH_NOT_AUTHENTICATED",
            "{method} {path}: {}",
            reply.text
        );
        assert_eq!(reply.status, 401, "{method} {path}");
    }
}

/// CVE-2010-0738: only GET and POST were protected, so HEAD bypassed the check.
#[tokio::test]
async fn cve_2010_0738_no_method_is_outside_the_gate() {
    let (server, owner) = light_owner(Options::default()).await;
    let cookie = format!("Cookie: {}", owner.headers()[0].1);
    for method in [
        "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get", "GETS",
    ] {
        for path in ["/api/gon", "/api/auth/api-keys", "/metrics", "/ws/chat"] {
            let line = format!("{method} {path}");
            let (status, answer) = raw_request(server.address(), &line, &["Host: localhost"]).await;
            assert!(matches!(status, 401 | 405), "{line}: {answer}");
            assert!(
                !answer.to_ascii_lowercase().contains("access-control-allow"),
                "{answer}"
            );
        }
        let line = format!("{method} /api/gon");
        let (status, answer) =
            raw_request(server.address(), &line, &["Host: localhost", &cookie]).await;
        assert_eq!(
            status,
            if method == "HEAD" { 200 } else { 405 },
            "{line}: {answer}"
        );
    }
}

/// `senchalabs/connect#1036`: a header or field turned a harmless method into another.
#[tokio::test]
async fn connect_1036_the_method_is_the_one_on_the_request_line() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = json!({ "label": "stays", "scopes": ["operator.read"] });
    let id = owner.post("/api/auth/api-keys", key).await.expect(200)["id"].clone();
    let path = format!("/api/auth/api-keys/{}", id.as_str().unwrap());
    for name in [
        "X-HTTP-Method-Override",
        "X-HTTP-Method",
        "X-Method-Override",
    ] {
        let caller = owner.clone().with(name, "DELETE");
        caller
            .post(&path, json!({}))
            .await
            .refused(405, "METHOD_NOT_ALLOWED");
        let path = format!("{path}?_method=DELETE");
        caller
            .post(&path, json!({ "_method": "DELETE" }))
            .await
            .refused(405, "METHOD_NOT_ALLOWED");
        server
            .local()
            .with(name, "GET")
            .post("/api/gon", json!({}))
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
    let keys = owner.get("/api/auth/api-keys").await.expect(200);
    assert_eq!(keys["api_keys"][0]["id"], id);
}

/// CVE-2026-26196, `openclaw/openclaw#77097`: tokens were accepted in the URL, where logs record them.
#[tokio::test]
async fn cve_2026_26196_no_credential_is_taken_from_a_url() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.admin"]).await;
    let secret = key.headers()[0].1.trim_start_matches("Bearer ").to_owned();
    key.get("/api/gon").await.expect(200);
    for name in [
        "token",
        "access_token",
        "api_key",
        "key",
        "authorization",
        "service_session",
        "auth",
    ] {
        let query = format!("?{name}={secret}");
        let reply = server.local().get(&format!("/api/gon{query}")).await;
        reply.refused(401, "AUTH_NOT_AUTHENTICATED");
        assert!(!reply.text.contains(&secret));
        let socket = Socket::open(&server.local(), &format!("/ws/chat{query}")).await;
        assert_eq!(socket.err(), Some(401), "{name}");
    }
    for header in [
        "X-Api-Key",
        "X-Auth-Token",
        "Sec-WebSocket-Protocol",
        "Proxy-Authorization",
    ] {
        let caller = server.local().with(header, &secret);
        caller
            .get("/api/gon")
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
}

/// CVE-2026-25593: a client on the same machine changed the settings without a credential.
#[tokio::test]
async fn cve_2026_25593_after_setup_local_clients_need_a_credential_too() {
    let (server, _owner) = light_owner(Options::default()).await;
    let change = json!({ "key": "log.level", "value": "trace" });
    let reply = server.local().rpc_reply("config.set", change.clone()).await;
    reply.refused(401, "AUTH_NOT_AUTHENTICATED");
    let mut socket = server.socket(&server.local(), "/ws").await;
    let answer = socket.call("config.set", change).await.unwrap();
    assert_eq!(answer["error"]["data"]["code"], "AUTH_NOT_AUTHENTICATED");
    assert_eq!(socket.closed().await, 4401);
}

/// CVE-2026-40293: a public page contained the key.
#[tokio::test]
async fn cve_2026_40293_the_anonymous_page_carries_no_data() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.read"]).await;
    let secret = key.headers()[0].1.trim_start_matches("Bearer ").to_owned();
    owner
        .rpc(
            "env.set",
            json!({ "key": "SHOWN_NOWHERE", "value": "d41d8cd98f" }),
        )
        .await
        .unwrap();
    let page = server.remote().get("/").await;
    assert_eq!(page.status, 200);
    let version = owner.get("/health").await.json()["version"]
        .as_str()
        .unwrap()
        .to_owned();
    for hidden in [
        secret.as_str(),
        "SHOWN_NOWHERE",
        "d41d8cd98f",
        "as_owner",
        &version,
        "127.0.0.1",
    ] {
        assert!(!page.text.contains(hidden), "{hidden}");
    }
    assert_eq!(page.text, server.local().get("/").await.text);
    assert_eq!(page.text, owner.get("/").await.text);
}
