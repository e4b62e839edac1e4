//! MCP servers that are connected with an account (OAuth).

mod double;
mod refresh;
mod sdk;
mod vault;

use crate::steps::{light_owner, new_session, stopped_clock};
use double::{Client, Double};
use gatehouse_agents::{Audience, ToolContext, ToolError};
use gatehouse_domain::id::{SessionId, TurnId};
use gatehouse_testkit::{Actor, Options, Reply, TestServer};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use url::Url;

async fn shown(owner: &Actor) -> Value {
    let listed = owner.rpc("mcp.list", json!({})).await.unwrap();
    listed["servers"][0].clone()
}

async fn add(owner: &Actor, url: &str) -> Value {
    let params = json!({ "name": "far", "url": url });
    owner.rpc("mcp.create", params).await.unwrap()
}

/// Agrees at the authorization server, as the person. Returns the path to which it sends the browser back.
async fn agree(url: &str) -> String {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let answer = client
        .no_proxy()
        .build()
        .unwrap()
        .get(url)
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 302, "{url}");
    let back = answer.headers()["location"].to_str().unwrap();
    let back = Url::parse(back).unwrap();
    assert_eq!(back.path(), "/auth/callback/far");
    format!("{}?{}", back.path(), back.query().unwrap())
}

async fn begin(owner: &Actor) -> String {
    let begun = owner.rpc("mcp.authorize", json!({ "name": "far" })).await;
    begun.unwrap()["url"].as_str().unwrap().to_owned()
}

async fn callback(owner: &Actor, path: &str) -> Reply {
    owner.get(path).await
}

/// Checks that the response is a page for the person, with this status and text.
fn is_refusal(reply: &Reply, status: u16, text: &str) {
    assert_eq!(reply.status, status, "{}", reply.text);
    assert!(reply.text.starts_with("<!doctype html>"), "{}", reply.text);
    assert!(reply.text.contains(text), "{}", reply.text);
}

async fn connect(owner: &Actor) {
    let path = agree(&begin(owner).await).await;
    let reply = callback(owner, &path).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    assert_eq!(reply.header("location"), Some("/settings/mcp"));
    until(owner, "connected").await;
}

/// Waits until the server is in this state.
async fn until(owner: &Actor, state: &str) -> Value {
    let waiting = async {
        loop {
            let now = shown(owner).await;
            if now["state"] == state {
                return now;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let there = tokio::time::timeout(Duration::from_secs(30), waiting).await;
    if let Ok(now) = there {
        return now;
    }
    panic!("{}", shown(owner).await)
}

async fn test(owner: &Actor) -> Value {
    owner
        .rpc("mcp.test", json!({ "name": "far" }))
        .await
        .unwrap()
}

async fn call_tool(server: &TestServer) -> Result<String, ToolError> {
    let tools = server.app().services().agents.tools();
    let tool = tools.find("mcp__far__add").unwrap();
    let context = ToolContext {
        session: SessionId::from_text("ses_1"),
        turn: TurnId::from_text("turn_1"),
        actor: gatehouse_domain::Actor::system(),
        ceiling: Audience::Trusted,
        cancel: CancellationToken::new(),
        files: gatehouse_agents::ReturnedFiles::default(),
    };
    tool.call(&context, json!({})).await
}

#[tokio::test]
async fn a_server_is_connected_refreshed_and_disconnected() {
    let clock = stopped_clock();
    let (far, url) = Double::start().await;
    let (server, owner) = light_owner(Options::default().clock(clock.clone())).await;
    let added = add(&owner, &url).await;
    assert_eq!(added["state"], "failed", "{added}");
    assert_eq!(added["auth"]["state"], "needed", "{added}");
    assert_eq!(added["auth"]["kind"], "oauth");
    connect(&owner).await;
    let now = shown(&owner).await;
    assert_eq!(now["auth"]["state"], "connected", "{now}");
    let issuer = url.replace("/mcp", "/as");
    assert_eq!(now["auth"]["issuer"], issuer);
    // The server repeats the token, but no caller sees it.
    let text = now.to_string();
    let shows = |far: &Double| {
        let data = far.data();
        let mut secrets = data.access_tokens.iter().chain(&data.refresh_tokens);
        secrets.any(|secret| text.contains(secret))
    };
    assert!(!shows(&far), "{text}");

    assert_eq!(far.data().refreshes, 0);
    clock.advance(Duration::from_hours(1));
    assert_eq!(test(&owner).await["state"], "connected");
    assert_eq!(far.data().refreshes, 1);
    // A token that the server refuses early is refreshed too.
    far.data().access_tokens.clear();
    assert_eq!(test(&owner).await["state"], "connected");
    assert_eq!(far.data().refreshes, 2);

    far.data().access_tokens.clear();
    let answer = call_tool(&server).await.unwrap();
    assert!(answer.starts_with("5, and you sent"), "{answer}");
    assert!(!answer.contains("access-"), "{answer}");
    assert_eq!(far.data().refreshes, 3);

    let gone = owner.rpc("mcp.disconnect", json!({ "name": "far" })).await;
    assert_eq!(gone, Ok(json!({ "revoked": true })));
    // The refresh token and the access token.
    assert_eq!(far.data().revoked.len(), 2);
    let now = until(&owner, "failed").await;
    assert_eq!(now["auth"]["state"], "needed", "{now}");
    assert!(far.data().refused.is_empty(), "{:?}", far.data().refused);
}

#[tokio::test]
async fn a_state_works_once_and_in_its_session_only() {
    let (_far, url) = Double::start().await;
    let (server, owner) = TestServer::with_owner().await;
    add(&owner, &url).await;
    let path = agree(&begin(&owner).await).await;
    // The browser sends no cookie with the redirect; the page opens the address again.
    let first = server.local().get(&path).await;
    assert_eq!(first.status, 200, "{}", first.text);
    assert!(
        first.text.contains("http-equiv=\"refresh\""),
        "{}",
        first.text
    );
    let stranger = server.local().get(&format!("{path}&again")).await;
    is_refusal(&stranger, 401, "Log in");
    let other = new_session(&server).await;
    is_refusal(&callback(&other, &path).await, 400, "No authorization");
    let wrong = path.replacen("state=", "state=x", 1);
    is_refusal(&callback(&owner, &wrong).await, 400, "No authorization");
    let head = owner.send("HEAD", &path, None).await;
    assert_ne!(head.status, 303);
    assert_eq!(callback(&owner, &path).await.status, 303);
    until(&owner, "connected").await;
    is_refusal(&callback(&owner, &path).await, 400, "No authorization");
    assert_eq!(shown(&owner).await["auth"]["state"], "connected");
}

#[tokio::test]
async fn a_state_expires_after_ten_minutes() {
    let clock = stopped_clock();
    let (_far, url) = Double::start().await;
    let (_server, owner) = light_owner(Options::default().clock(clock.clone())).await;
    add(&owner, &url).await;
    let old = agree(&begin(&owner).await).await;
    clock.advance(Duration::from_mins(10));
    is_refusal(&callback(&owner, &old).await, 400, "No authorization");
    let path = agree(&begin(&owner).await).await;
    clock.advance(Duration::from_secs(599));
    assert_eq!(callback(&owner, &path).await.status, 303);
    until(&owner, "connected").await;
}

#[tokio::test]
async fn a_denial_and_another_issuer_are_shown_and_give_no_tokens() {
    let (far, url) = Double::start().await;
    let (_server, owner) = light_owner(Options::default()).await;
    add(&owner, &url).await;
    let path = agree(&format!("{}&deny=1", begin(&owner).await)).await;
    assert_eq!(callback(&owner, &path).await.status, 303);
    let auth = shown(&owner).await["auth"].clone();
    assert_eq!(
        (&auth["state"], &auth["error"]),
        (&json!("needed"), &json!("The authorization was denied."))
    );
    assert!(auth.get("changed_at").is_none());
    for (from, to) in [("%2Fas", "%2Fevil"), ("&iss=", "&isss=")] {
        let path = agree(&begin(&owner).await).await;
        let path = path.replacen(from, to, 1);
        assert_eq!(callback(&owner, &path).await.status, 303);
        let auth = shown(&owner).await["auth"].clone();
        assert_eq!(auth["state"], "needed", "{path}");
        assert!(
            auth["error"]
                .as_str()
                .unwrap()
                .contains("another authorization server"),
            "{auth}"
        );
    }
    assert!(far.data().access_tokens.is_empty());
    // Without the feature, an answer without `iss` is complete.
    far.data().supports_iss = false;
    let path = agree(&begin(&owner).await)
        .await
        .replacen("&iss=", "&isss=", 1);
    callback(&owner, &path).await;
    until(&owner, "connected").await;
}

#[tokio::test]
async fn a_client_that_a_person_registered_can_be_replaced() {
    let (far, url) = Double::start().await;
    far.data().offers_registration = false;
    let (_server, owner) = light_owner(Options::default()).await;
    let added = add(&owner, &url).await;
    let redirect = added["auth"]["redirect_url"].as_str().unwrap().to_owned();
    let none = owner
        .rpc_reply("mcp.authorize", json!({ "name": "far" }))
        .await;
    assert!(none.text.contains("\"client_id\""), "{}", none.text);
    let with = async |id: &str, secret: Option<&str>| {
        let params = json!({ "name": "far", "client_id": id, "client_secret": secret });
        let begun = owner.rpc("mcp.authorize", params).await.unwrap();
        begun["url"].as_str().unwrap().to_owned()
    };
    with("wrong", None).await;
    let own = Client {
        redirect_uri: Some(redirect),
        secret: Some("s3cret: %/+".to_owned()),
    };
    far.data().clients.insert("own id".to_owned(), own);
    let path = agree(&with("own id", Some("s3cret: %/+")).await).await;
    callback(&owner, &path).await;
    let now = until(&owner, "connected").await;
    assert_eq!(now["auth"]["client_id"], "own id");
    assert!(now["auth"]["changed_at"].is_string());
    assert!(!now.to_string().contains("s3cret"));
    // The client stays for the next time.
    connect(&owner).await;
    // Another client does not end what works until the person has agreed to it.
    let path = agree(&begin(&owner).await).await;
    is_refusal(
        &callback(&owner, &path.replacen("code=", "error=access_denied&x=", 1)).await,
        502,
        "denied",
    );
    with("another", None).await;
    assert_eq!(test(&owner).await["auth"]["state"], "connected");
    let gone = owner.rpc("mcp.disconnect", json!({ "name": "far" })).await;
    assert_eq!(gone, Ok(json!({ "revoked": true })));
}

#[tokio::test]
async fn a_server_without_pkce_is_refused() {
    let (far, url) = Double::start().await;
    let (_server, owner) = light_owner(Options::default()).await;
    add(&owner, &url).await;
    for methods in [json!(["plain"]), json!([])] {
        far.data().methods = methods;
        let refused = owner.rpc("mcp.authorize", json!({ "name": "far" })).await;
        assert_eq!(refused, Err("PROVIDER_FAILED".to_owned()));
    }
}

#[tokio::test]
async fn an_api_key_cannot_begin_and_a_server_that_revokes_nothing_is_only_forgotten() {
    let (far, url) = Double::start().await;
    let (server, owner) = light_owner(Options::default()).await;
    add(&owner, &url).await;
    let key = server.api_key(&owner, &["operator.admin"]).await;
    let refused = key.rpc("mcp.authorize", json!({ "name": "far" })).await;
    assert_eq!(refused, Err("FORBIDDEN".to_owned()));
    far.data().offers_revocation = false;
    far.data().expires_in = Value::Null;
    connect(&owner).await;
    assert!(shown(&owner).await["auth"].get("expires_at").is_none());
    let gone = owner.rpc("mcp.disconnect", json!({ "name": "far" })).await;
    assert_eq!(gone, Ok(json!({ "revoked": false })));
}

#[tokio::test]
async fn a_session_that_ends_during_the_exchange_stores_nothing() {
    let (far, url) = Double::start().await;
    let (server, owner) = TestServer::with_owner().await;
    add(&owner, &url).await;
    let path = agree(&begin(&owner).await).await;
    far.data().token_delay = Duration::from_millis(500);
    let other = new_session(&server).await;
    let ending = async {
        while far.data().access_tokens.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        owner.post("/api/auth/logout", json!({})).await.expect(200);
    };
    let (reply, ()) = tokio::join!(callback(&owner, &path), ending);
    is_refusal(&reply, 401, "not connected");
    assert_eq!(shown(&other).await["auth"]["state"], "needed");
    // Nobody could use them.
    assert_eq!(far.data().revoked.len(), 2);
}

#[tokio::test]
async fn a_deleted_server_is_disconnected() {
    let (far, url) = Double::start().await;
    let (_server, owner) = light_owner(Options::default()).await;
    add(&owner, &url).await;
    connect(&owner).await;
    let deleted = owner.rpc("mcp.delete", json!({ "name": "far" })).await;
    deleted.unwrap();
    assert_eq!(far.data().revoked.len(), 2);
    assert_eq!(add(&owner, &url).await["auth"]["state"], "needed");
}
