//! Sockets opened by the wrong page, with too many permissions, or still open after their credential ended.

use crate::steps::{NEW_PASSWORD, light_owner, new_session};
use gatehouse_testkit::{Actor, Options, PASSWORD, Socket, TestServer};
use serde_json::json;
use std::time::{Duration, Instant};

/// The maximum lifetime of a socket after its credential ended.
const SOON: Duration = Duration::from_secs(1);

/// CVE-2026-25253: any page that the owner had open could connect to the gateway.
#[tokio::test]
async fn cve_2026_25253_a_foreign_page_opens_no_socket() {
    let (server, owner) = light_owner(Options::default()).await;
    let port = server.address().port();
    for path in ["/ws", "/ws/chat"] {
        for origin in [
            "https://evil.example",
            "null",
            "http://127.0.0.1",
            "https://gate.example",
            "file://",
            "",
            "chrome-extension://x",
        ] {
            let page = owner.clone().with("origin", origin);
            assert_eq!(
                Socket::open(&page, path).await.err(),
                Some(403),
                "{path} {origin}"
            );
        }
        for origin in [
            format!("http://127.0.0.1:{port}"),
            format!("http://localhost:{port}"),
        ] {
            let page = owner.clone().with("origin", &origin);
            let mut socket = server.socket(&page, path).await;
            assert!(socket.call("system.status", json!({})).await.unwrap()["result"].is_object());
        }
        let cross_site = owner.clone().with("sec-fetch-site", "cross-site");
        assert_eq!(Socket::open(&cross_site, path).await.err(), Some(403));
        // Without an Origin the client is not a browser.
        drop(server.socket(&owner, path).await);
    }
}

/// Before setup, connections from this machine need no credential.
#[tokio::test]
async fn cve_2026_25253_nor_before_setup() {
    let server = TestServer::fresh().await;
    let page = server.local().with("origin", "https://evil.example");
    assert_eq!(Socket::open(&page, "/ws").await.err(), Some(403));
    page.post("/api/auth/setup", json!({ "password": PASSWORD }))
        .await
        .refused(403, "FORBIDDEN");
}

/// `headroomlabs-ai/headroom#3281`: the authentication middleware did not see upgrades.
#[tokio::test]
async fn headroom_3281_an_upgrade_passes_the_same_gate() {
    let (server, _owner) = light_owner(Options::default()).await;
    for path in [
        "/ws/chat",
        "/ws/",
        "/ws/anything",
        "/api/gon",
        "/api/rpc",
        "/anything",
        "/",
    ] {
        assert_eq!(
            Socket::open(&server.local(), path).await.err(),
            Some(401),
            "{path}"
        );
    }
    let fresh = TestServer::fresh().await;
    assert_eq!(
        Socket::open(&fresh.remote(), "/ws/chat").await.err(),
        Some(401)
    );
    let wrong = server.local().bearer("mk_wrong");
    assert_eq!(Socket::open(&wrong, "/ws/chat").await.err(), Some(401));
}

/// GHSA-rqpp-rjj8-7wv8: clients could declare their own scopes.
#[tokio::test]
async fn ghsa_rqpp_rjj8_7wv8_scopes_come_from_the_credential_alone() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.read"]).await;
    let secret = key.headers()[0].1.trim_start_matches("Bearer ").to_owned();
    let mut socket = server.socket(&server.local(), "/ws").await;
    let params = json!({
        "client": { "id": "x", "scopes": ["operator.admin"], "role": "operator" },
        "auth": { "api_key": secret },
    });
    let answer = socket.call("connect", params).await.unwrap();
    assert_eq!(
        answer["result"]["identity"]["scopes"],
        json!(["operator.read"]),
        "{answer}"
    );
    let answer = socket
        .call("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    assert_eq!(answer["error"]["data"]["code"], "FORBIDDEN");
    let mut socket = server.socket(&server.local(), "/ws").await;
    let params = json!({ "auth": { "api_key": secret, "scopes": ["operator.admin"] } });
    let answer = socket.call("connect", params).await.unwrap();
    assert_eq!(answer["error"]["data"]["code"], "INVALID_PARAMS");
}

async fn ends_soon(socket: &mut Socket) {
    let begun = Instant::now();
    assert_eq!(socket.closed().await, 4401);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

async fn works(socket: &mut Socket) {
    let answer = socket.call("system.status", json!({})).await.unwrap();
    assert!(answer["result"].is_object(), "{answer}");
}

/// CVE-2026-34503, GHSA-m8wm-r5vq-qjpg: a revoked token stayed valid in open sockets or in a cache.
#[tokio::test]
async fn cve_2026_34503_a_revoked_key_ends_at_once() {
    let (server, owner) = light_owner(Options::default()).await;
    let made = owner
        .post(
            "/api/auth/api-keys",
            json!({ "label": "k", "scopes": ["operator.read"] }),
        )
        .await;
    let made = made.expect(200);
    let (id, secret) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let key = server.local().bearer(secret);
    let mut by_header = server.socket(&key, "/ws/chat").await;
    let mut by_message = server.socket(&server.local(), "/ws").await;
    by_message
        .connect(json!({ "api_key": secret }))
        .await
        .unwrap();
    let mut of_owner = server.socket(&owner, "/ws/chat").await;
    for socket in [&mut by_header, &mut by_message, &mut of_owner] {
        works(socket).await;
    }
    owner
        .delete(&format!("/api/auth/api-keys/{id}"))
        .await
        .expect(200);
    ends_soon(&mut by_header).await;
    ends_soon(&mut by_message).await;
    key.get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    works(&mut of_owner).await;
}

/// CVE-2026-9162: "end all sessions" left their sockets open.
#[tokio::test]
async fn cve_2026_9162_ending_all_other_sessions_ends_their_sockets() {
    let (server, owner) = TestServer::with_owner().await;
    let other = new_session(&server).await;
    let mut own = server.socket(&owner, "/ws").await;
    let mut others = server.socket(&other, "/ws").await;
    works(&mut others).await;
    assert_eq!(
        owner.delete("/api/auth/sessions").await.expect(200)["ended"],
        1
    );
    ends_soon(&mut others).await;
    works(&mut own).await;
}

/// `kubestellar/console#4906`, `warp-tech/warpgate#2106`: a socket stayed open after the logout.
#[tokio::test]
async fn kubestellar_4906_logout_ends_the_session_s_sockets() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut sockets = [
        server.socket(&owner, "/ws").await,
        server.socket(&owner, "/ws/chat").await,
    ];
    for socket in &mut sockets {
        works(socket).await;
    }
    owner.post("/api/auth/logout", json!({})).await.expect(200);
    for socket in &mut sockets {
        ends_soon(socket).await;
    }
    owner
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
}

/// `heypinchy/pinchy#1059`: a password change left an attacker's socket open.
#[tokio::test]
async fn pinchy_1059_a_password_change_ends_other_sessions_and_password_sockets() {
    let (server, owner) = TestServer::with_owner().await;
    let thief = new_session(&server).await;
    let mut of_thief = server.socket(&thief, "/ws").await;
    let mut by_password = server.socket(&server.local(), "/ws").await;
    by_password
        .connect(json!({ "password": PASSWORD }))
        .await
        .unwrap();
    let mut own = server.socket(&owner, "/ws").await;
    for socket in [&mut of_thief, &mut by_password, &mut own] {
        works(socket).await;
    }
    let change = json!({ "current_password": PASSWORD, "new_password": NEW_PASSWORD });
    owner
        .post("/api/auth/password/change", change)
        .await
        .expect(200);
    ends_soon(&mut of_thief).await;
    ends_soon(&mut by_password).await;
    thief
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    works(&mut own).await;
}

/// CVE-2026-44553: an open socket kept permissions that had been revoked.
#[tokio::test]
async fn cve_2026_44553_reset_ends_every_socket() {
    let (server, owner) = light_owner(Options::default()).await;
    let key: Actor = server.api_key(&owner, &["operator.admin"]).await;
    let mut sockets = [
        server.socket(&owner, "/ws").await,
        server.socket(&key, "/ws/chat").await,
    ];
    for socket in &mut sockets {
        works(socket).await;
    }
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    for socket in &mut sockets {
        ends_soon(socket).await;
    }
}

/// CVE-2026-41399: silent sockets were not counted.
#[tokio::test]
async fn cve_2026_41399_a_client_holds_twenty_unauthenticated_sockets() {
    let (server, owner) = light_owner(Options::default()).await;
    let mut held = Vec::new();
    for _ in 0..20 {
        held.push(server.socket(&server.local(), "/ws").await);
    }
    assert_eq!(Socket::open(&server.local(), "/ws").await.err(), Some(429));
    let mut own = server.socket(&owner, "/ws").await;
    works(&mut own).await;
    // An authenticated socket frees its slot.
    let key = server.api_key(&owner, &["operator.read"]).await;
    let secret = key.headers()[0].1.trim_start_matches("Bearer ").to_owned();
    let mut first = held.remove(0);
    first.connect(json!({ "api_key": secret })).await.unwrap();
    drop(server.socket(&server.local(), "/ws").await);
}
