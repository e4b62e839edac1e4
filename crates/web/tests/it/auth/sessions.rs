//! `POST /api/auth/logout`, `GET` and `DELETE /api/auth/sessions`.

use crate::steps::{light_owner, new_session, stopped_clock};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

async fn sessions(owner: &Actor) -> Vec<Value> {
    owner.get("/api/auth/sessions").await.expect(200)["sessions"]
        .as_array()
        .unwrap()
        .clone()
}

#[tokio::test]
async fn a_logout_ends_this_session_alone() {
    let (server, owner) = TestServer::with_owner().await;
    let other = new_session(&server).await;
    let reply = other.post("/api/auth/logout", json!({})).await;
    assert_eq!(reply.expect(200), json!({ "ok": true }));
    assert!(reply.header("set-cookie").unwrap().contains("Max-Age=0"));
    other
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    other
        .post("/api/auth/logout", json!({}))
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    owner.get("/api/gon").await.expect(200);
}

#[tokio::test]
async fn a_key_has_nothing_to_log_out() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.read"]).await;
    key.post("/api/auth/logout", json!({})).await.expect(200);
    key.get("/api/gon").await.expect(200);
    let fresh = TestServer::fresh().await;
    fresh
        .local()
        .post("/api/auth/logout", json!({}))
        .await
        .expect(200);
}

#[tokio::test]
async fn the_list_says_which_is_mine() {
    let (server, owner) = TestServer::with_owner().await;
    let other = new_session(&server).await;
    let listed = sessions(&owner).await;
    assert_eq!(listed.len(), 2);
    assert_eq!(
        listed
            .iter()
            .filter(|session| session["current"] == true)
            .count(),
        1
    );
    for session in &listed {
        assert!(
            session["id"].as_str().unwrap().starts_with("as_"),
            "{session}"
        );
        assert_eq!(session["login_method"], "password");
        assert_eq!(session["client_ip"], "127.0.0.1");
        for time in ["created_at", "last_seen_at", "expires_at", "confirmed_at"] {
            assert!(session[time].as_str().unwrap().ends_with('Z'), "{session}");
        }
        assert!(session.get("token_hash").is_none() && session.get("token").is_none());
    }
    let mine = listed
        .iter()
        .find(|session| session["current"] == true)
        .unwrap()["id"]
        .clone();
    let not_mine = listed
        .iter()
        .find(|session| session["current"] == false)
        .unwrap();
    let path = format!("/api/auth/sessions/{}", not_mine["id"].as_str().unwrap());
    owner.delete(&path).await.expect(200);
    other
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    owner.delete(&path).await.refused(404, "NOT_FOUND");
    let own = format!("/api/auth/sessions/{}", mine.as_str().unwrap());
    let reply = owner.delete(&own).await;
    reply.expect(200);
    assert!(reply.header("set-cookie").unwrap().contains("Max-Age=0"));
    owner
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
}

#[tokio::test]
async fn all_others_end_at_once() {
    let (server, owner) = TestServer::with_owner().await;
    let others = [new_session(&server).await, new_session(&server).await];
    assert_eq!(
        owner.delete("/api/auth/sessions").await.expect(200),
        json!({ "ok": true, "ended": 2 })
    );
    for other in &others {
        other
            .get("/api/gon")
            .await
            .refused(401, "AUTH_NOT_AUTHENTICATED");
    }
    assert_eq!(sessions(&owner).await.len(), 1);
    assert_eq!(
        owner.delete("/api/auth/sessions").await.expect(200)["ended"],
        0
    );
}

#[tokio::test]
async fn a_session_lives_thirty_days_and_no_longer() {
    let clock = stopped_clock();
    let (server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    clock.advance(Duration::from_hours(720) - Duration::from_millis(1));
    owner.get("/api/gon").await.expect(200);
    let mut socket = server.socket(&owner, "/ws").await;
    clock.advance(Duration::from_millis(1));
    // Using the session did not extend it.
    owner
        .get("/api/gon")
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
    assert_eq!(socket.closed().await, 4401);
}

#[tokio::test]
async fn a_session_survives_a_restart() {
    let clock = stopped_clock();
    let (server, owner) = light_owner(Options::default().clock(clock)).await;
    let server = server.restart().await;
    owner.at(server.address()).get("/api/gon").await.expect(200);
}
