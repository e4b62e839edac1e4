//! Refreshing tokens: errors, nodes, callers that go away, another URL.

use super::double::Double;
use super::{add, call_tool, connect, shown, test, until};
use crate::steps::{light_owner, stopped_clock};
use axum::http::StatusCode;
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Options, TestServer};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn only_invalid_grant_ends_an_authorization() {
    let (far, url) = Double::start().await;
    let (_server, owner) = light_owner(Options::default()).await;
    add(&owner, &url).await;
    connect(&owner).await;
    // A server in trouble, and one that does not accept the client for a while.
    let tokens = far.data().refresh_tokens.clone();
    let clients = std::mem::take(&mut far.data().clients);
    far.data().access_tokens.clear();
    test(&owner).await;
    let auth = shown(&owner).await["auth"].clone();
    assert_eq!(auth["state"], "failed", "{auth}");
    assert!(
        auth["error"].as_str().unwrap().contains("invalid_client"),
        "{auth}"
    );
    far.data().clients = clients;
    assert_eq!(far.data().refresh_tokens, tokens);
    assert_eq!(test(&owner).await["state"], "connected");
    assert_eq!(shown(&owner).await["auth"]["state"], "connected");
    // The server rotated the token, and its answer was lost.
    far.data().broken.push(StatusCode::BAD_GATEWAY);
    far.data().access_tokens.clear();
    test(&owner).await;
    let auth = shown(&owner).await["auth"].clone();
    assert_eq!(auth["state"], "failed", "{auth}");
    assert!(auth["error"].as_str().unwrap().contains("502"), "{auth}");
    test(&owner).await;
    let auth = shown(&owner).await["auth"].clone();
    assert_eq!(auth["state"], "needed", "{auth}");
    assert!(
        auth["error"]
            .as_str()
            .unwrap()
            .contains("no longer accepts"),
        "{auth}"
    );
    connect(&owner).await;
    // The same client is used again.
    assert_eq!(far.data().clients.len(), 1);
}

#[tokio::test]
async fn another_url_drops_the_authorization() {
    let (_far, url) = Double::start().await;
    let (_server, owner) = light_owner(Options::default()).await;
    add(&owner, &url).await;
    connect(&owner).await;
    let other = url.replace("/mcp", "/other");
    let update = async |url: &str| {
        let params = json!({ "name": "far", "url": url });
        owner.rpc("mcp.update", params).await.unwrap()
    };
    assert_eq!(update(&other).await["auth"]["state"], "needed");
    assert_eq!(update(&url).await["auth"]["state"], "needed");
}

/// One of the nodes refreshes; the other one waits for it.
#[tokio::test]
async fn two_nodes_refresh_once() {
    let Some(database) = postgres().await else {
        return;
    };
    let there = database.for_another_node();
    let clock = stopped_clock();
    let (far, url) = Double::start().await;
    let options = Options::default().database(database).clock(clock.clone());
    let (_one, owner) = light_owner(options).await;
    add(&owner, &url).await;
    let two = TestServer::start(Options::default().database(there).clock(clock.clone())).await;
    let there = owner.clone().at(two.address());
    connect(&owner).await;
    until(&there, "connected").await;
    far.data().token_delay = Duration::from_millis(500);
    for _ in 0..3 {
        let before = far.data().refreshes;
        clock.advance(Duration::from_hours(1));
        far.data().access_tokens.clear();
        let (here, there) = tokio::join!(test(&owner), test(&there));
        assert_eq!(
            (&here["state"], &there["state"]),
            (&json!("connected"), &json!("connected"))
        );
        assert_eq!(far.data().refreshes, before + 1);
    }
    assert!(far.data().refused.is_empty());
    for owner in [&owner, &there] {
        assert_eq!(shown(owner).await["auth"]["state"], "connected");
    }
}

/// The new refresh token is stored although no request waits for it.
#[tokio::test]
async fn a_refresh_whose_caller_went_away_or_whose_gateway_stopped_is_completed() {
    let (far, url) = Double::start().await;
    let (server, owner) = light_owner(Options::default()).await;
    add(&owner, &url).await;
    connect(&owner).await;
    far.data().token_delay = Duration::from_millis(500);
    far.data().access_tokens.clear();
    let left = tokio::time::timeout(Duration::from_millis(200), call_tool(&server)).await;
    assert!(left.is_err());
    let server = server.restart().await;
    let owner = owner.at(server.address());
    until(&owner, "connected").await;
    assert_eq!(far.data().refreshes, 1);
    assert!(far.data().refused.is_empty(), "{:?}", far.data().refused);
    call_tool(&server).await.unwrap();
}

/// A server that returns the refused token again receives only one refresh request.
#[tokio::test]
async fn the_same_token_after_a_refresh_is_not_refreshed_again() {
    let (far, url) = Double::start().await;
    let (_server, owner) = light_owner(Options::default()).await;
    add(&owner, &url).await;
    connect(&owner).await;
    let access = far.data().access_tokens.pop_first().unwrap();
    far.data().same_access = Some(access);
    let now = test(&owner).await;
    assert_eq!(now["auth"]["state"], "failed", "{now}");
    let refreshes = far.data().refreshes;
    assert!((1..10).contains(&refreshes), "{refreshes}");
}

/// An outage of the authorization server is not a missing authorization.
#[tokio::test]
async fn an_outage_is_named() {
    let (far, url) = Double::start().await;
    let (server, owner) = light_owner(Options::default()).await;
    add(&owner, &url).await;
    connect(&owner).await;
    far.data().access_tokens.clear();
    let clients = std::mem::take(&mut far.data().clients);
    let server = server.restart().await;
    let owner = owner.at(server.address());
    let now = until(&owner, "failed").await;
    let problem = now["problem"].as_str().unwrap();
    assert!(problem.contains("invalid_client"), "{problem}");
    far.data().clients = clients;
    until(&owner, "connected").await;
}
