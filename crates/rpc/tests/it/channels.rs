//! `channels.*` and `inbox.*`.

use crate::harness::Harness;
use gatehouse_domain::Scope;
use serde_json::{Value, json};
use std::time::Duration;

fn blame(data: &Value) -> (&str, &str) {
    (
        data["code"].as_str().unwrap(),
        data["field"].as_str().unwrap_or_default(),
    )
}

#[tokio::test]
async fn a_channel_is_made_changed_listed_and_deleted() {
    let harness = Harness::new().await;
    let new = json!({
        "type": "telegram", "label": "Ops", "fields": { "bot_token": "1:a", "chat_id": "5" },
    });
    let record = json!({
        "id": "telegram", "type": "telegram", "label": "Ops", "enabled": true,
        "fields": { "chat_id": "5", "bot_token": "••••" },
    });
    assert_eq!(harness.call("channels.create", new).await, record);
    let change = json!({ "id": "telegram", "enabled": false, "fields": { "chat_id": null } });
    let changed = harness.call("channels.update", change).await;
    assert_eq!(changed["enabled"], false);
    assert_eq!(changed["fields"], json!({ "bot_token": "••••" }));
    let page = harness.call("channels.list", json!({ "limit": 2 })).await;
    assert_eq!(page["channels"][0]["id"], "inbox");
    assert_eq!(page["next_cursor"], "log");
    let rest = json!({ "limit": 2, "cursor": "log" });
    let rest = harness.call("channels.list", rest).await;
    assert_eq!(rest, json!({ "channels": [changed] }));
    let gone = harness.call("channels.delete", json!({ "id": "telegram" }));
    assert_eq!(gone.await, json!({ "ok": true }));
    let again = harness.refusal("channels.delete", json!({ "id": "telegram" }));
    assert_eq!(blame(&again.await).0, "NOT_FOUND");
}

#[tokio::test]
async fn a_channel_that_a_webhook_names_is_deleted_only_by_force() {
    let harness = Harness::new().await;
    let new = json!({ "type": "ntfy", "label": "Ops", "fields": { "topic": "a" } });
    harness.call("channels.create", new).await;
    let hook = json!({ "name": "hook", "deliver_only": true, "deliver_to": "ntfy:ntfy" });
    harness.call("webhooks.create", hook).await;
    let refused = harness
        .refusal("channels.delete", json!({ "id": "ntfy" }))
        .await;
    assert_eq!(blame(&refused).0, "CONFLICT");
    assert_eq!(
        (&refused["deliveries"], &refused["webhooks"]),
        (&json!(0), &json!(1))
    );
    let forced = json!({ "id": "ntfy", "force": true });
    let gone = harness.call("channels.delete", forced).await;
    assert_eq!(gone, json!({ "ok": true }));
}

#[tokio::test]
async fn what_is_missing_or_unknown_is_named() {
    let harness = Harness::new().await;
    for (params, field) in [
        (json!({ "label": "x", "fields": {} }), "type"),
        (json!({ "type": "log", "fields": {} }), "label"),
        (json!({ "type": "log", "label": "x" }), "fields"),
        (
            json!({ "type": "log", "label": "x", "fields": {}, "kind": 1 }),
            "kind",
        ),
        (json!({ "type": "fax", "label": "x", "fields": {} }), "type"),
        (
            json!({ "type": "log", "label": "x", "fields": { "a": "b" } }),
            "a",
        ),
    ] {
        let refused = harness.refusal("channels.create", params).await;
        assert_eq!(blame(&refused), ("INVALID_PARAMS", field));
    }
    let limit = harness.refusal("inbox.list", json!({ "limit": 501 })).await;
    assert_eq!(blame(&limit), ("INVALID_PARAMS", "limit"));
}

#[tokio::test]
async fn a_url_needs_admin() {
    let harness = Harness::new().await;
    let writer = harness.holder_of(&[Scope::Write]).await;
    let new = json!({ "type": "http", "label": "x", "fields": { "url": "http://127.0.0.1/" } });
    let answer = harness.ask(&writer, "channels.create", new.clone()).await;
    assert_eq!(answer["error"]["data"]["code"], "FORBIDDEN");
    assert_eq!(answer["error"]["data"]["required_scope"], "operator.admin");
    harness.call("channels.create", new).await;
    let log = json!({ "type": "log", "label": "x", "fields": {} });
    let answer = harness.ask(&writer, "channels.create", log).await;
    assert_eq!(answer["result"]["id"], "log-2");
}

#[tokio::test]
async fn a_test_message_stands_in_the_inbox_until_it_is_read() {
    let harness = Harness::new().await;
    let sent = harness.call("channels.test", json!({ "id": "inbox", "text": "hello" }));
    assert_eq!(sent.await, json!({ "ok": true }));
    let page = harness.call("inbox.list", json!({})).await;
    let message = &page["messages"][0];
    assert_eq!(
        (&message["channel"], &message["text"]),
        (&json!("inbox"), &json!("hello"))
    );
    assert_eq!(
        (&message["source"], &message["read"]),
        (&json!("Gatehouse"), &json!(false))
    );
    let read = harness.call("inbox.mark_read", json!({ "id": message["id"] }));
    assert_eq!(read.await, json!({ "ok": true }));
    let page = harness.call("inbox.list", json!({})).await;
    assert_eq!(page["messages"][0]["read"], true);
    assert_eq!((&page["unread"], &page["read"]), (&json!(0), &json!(1)));
    let unknown = harness.refusal("inbox.mark_read", json!({ "id": "in_none" }));
    assert_eq!(blame(&unknown.await).0, "NOT_FOUND");
    let deleted = harness.call("inbox.delete_read", json!({})).await;
    assert_eq!(deleted, json!({ "deleted": 1 }));
    let page = harness.call("inbox.list", json!({})).await;
    assert_eq!(page, json!({ "messages": [], "unread": 0, "read": 0 }));
}

#[tokio::test]
async fn types_are_listed_with_their_fields() {
    let harness = Harness::new().await;
    let types = harness.call("channels.types", json!({})).await;
    let http = types["types"].as_array().unwrap().last().unwrap();
    assert_eq!(http["type"], "http");
    let url = &http["fields"][0];
    assert_eq!(
        (&url["name"], &url["secret"], &url["required"]),
        (&json!("url"), &json!(false), &json!(true))
    );
}

/// The process ends while the message is being sent.
#[tokio::test]
async fn a_message_that_may_have_been_sent_is_in_the_audit_log() {
    let harness = Harness::new().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let account = json!({ "type": "http", "id": "far", "label": "far", "fields": { "url": url } });
    harness.call("channels.create", account).await;
    let message = json!({ "target": "http:far", "text": "hello" });
    // The receiver accepts the connection and never responds.
    let _connection = tokio::select! {
        answer = harness.call("channels.send", message) => panic!("{answer}"),
        accepted = listener.accept() => accepted.unwrap(),
    };
    let unknown = json!({ "target": "http:none", "text": "hello" });
    harness.refusal("channels.send", unknown).await;
    let later = harness.services().clock.now().after(Duration::from_secs(1));
    let auth = &harness.services().auth;
    assert_eq!(auth.conclude_left_changes(later).await.unwrap(), 1);
    let audit = harness.call("audit.list", json!({ "kind": "channel.sent" }));
    let events = audit.await["events"].clone();
    assert_eq!(events.as_array().unwrap().len(), 1, "{events}");
    let detail = &events[0]["detail"];
    assert_eq!(
        (&detail["target"], &detail["unfinished"]),
        (&json!("http:far"), &json!(true)),
        "{events}"
    );
}
