//! Which browsers can subscribe, and how a subscription is removed.

use super::service::PushService;
use super::{listed, new_subscription};
use crate::steps::{light_owner, new_session};
use gatehouse_testkit::{Options, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn removing_a_browser_is_recorded_and_others_need_the_scope_of_devices() {
    let (server, owner) = light_owner(Options::default()).await;
    let (service, _pushed) = PushService::start().await;
    let new = new_subscription(&service.keys(), 1);
    let key = server
        .api_key(&owner, &["operator.read", "operator.write"])
        .await;
    let refused = key.rpc("push.subscribe", new.clone()).await.unwrap_err();
    assert_eq!(refused, "FORBIDDEN");
    let mut socket = server.socket(&owner, "/ws").await;
    let changed = json!({ "what": "push" });
    let made = owner.rpc("push.subscribe", new).await.unwrap();
    assert_eq!(socket.event("records.changed").await.unwrap(), changed);
    let refused = key.rpc("push.unsubscribe", made.clone()).await.unwrap_err();
    assert_eq!(refused, "FORBIDDEN");
    owner.rpc("push.unsubscribe", made.clone()).await.unwrap();
    assert_eq!(socket.event("records.changed").await.unwrap(), changed);
    let again = owner
        .rpc("push.unsubscribe", made.clone())
        .await
        .unwrap_err();
    assert_eq!(again, "NOT_FOUND");
    for kind in ["push.subscribed", "push.removed"] {
        let rows = owner
            .rpc("audit.list", json!({ "kind": kind }))
            .await
            .unwrap();
        let rows = rows["events"].as_array().unwrap();
        assert_eq!(rows.len(), 1, "{kind}");
        assert_eq!(rows[0]["detail"]["subscription"], made["id"]);
    }
}

#[tokio::test]
async fn an_endpoint_is_https_on_the_public_internet_with_valid_keys() {
    let (_server, owner) = light_owner(Options::default()).await;
    let (service, _pushed) = PushService::start().await;
    let subscribe = async |endpoint: &str, keys: Value| {
        let new = json!({ "endpoint": endpoint, "keys": keys });
        let answer = owner.rpc_reply("push.subscribe", new).await.expect(200);
        answer["error"]["data"]["field"].clone()
    };
    for endpoint in [
        "http://push.example/1",
        "https://127.0.0.1/1",
        "https://[::1]/1",
        "https://10.0.0.1/1",
        "https://169.254.169.254/1",
        "https://user@push.example/1",
        "push",
    ] {
        let blamed = subscribe(endpoint, service.keys()).await;
        assert_eq!(blamed, "endpoint", "{endpoint}");
    }
    let limit = format!("https://push.example/{:0>2027}", 1);
    assert_eq!(limit.len(), 2_048);
    assert_eq!(subscribe(&limit, service.keys()).await, Value::Null);
    let past = format!("{limit}1");
    assert_eq!(subscribe(&past, service.keys()).await, "endpoint");
    for name in ["p256dh", "auth"] {
        let mut keys = service.keys();
        keys[name] = json!("AAAA");
        assert_eq!(subscribe("https://push.example/2", keys).await, "keys");
    }
}

#[tokio::test]
async fn fifty_browsers_get_notifications_and_one_more_does_not() {
    let (_server, owner) = light_owner(Options::default()).await;
    let (service, _pushed) = PushService::start().await;
    let keys = service.keys();
    for number in 1..=50 {
        let new = new_subscription(&keys, number);
        owner.rpc("push.subscribe", new).await.unwrap();
    }
    let past = owner.rpc("push.subscribe", new_subscription(&keys, 51));
    assert_eq!(past.await.unwrap_err(), "CONFLICT");
    // A known browser can still renew its subscription.
    let renewed = PushService::start().await.0.keys();
    let renewed = owner.rpc("push.subscribe", new_subscription(&renewed, 50));
    renewed.await.unwrap();
}

#[tokio::test]
async fn the_key_stays_the_same_after_a_restart() {
    let (server, owner) = TestServer::with_owner().await;
    let key = listed(&owner).await["public_key"].clone();
    let server = server.restart().await;
    let owner = new_session(&server).await;
    assert_eq!(listed(&owner).await["public_key"], key);
}
