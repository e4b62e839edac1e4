//! Messages to channels by the rules of `notify.*`.

use super::{made, send, until};
use crate::steps::{doctor_check, light_owner, stopped_clock};
use gatehouse_store::StoreError;
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

async fn notify(owner: &Actor, rule: &str) {
    let setting = json!({ "key": format!("notify.{rule}"), "value": ["inbox"] });
    owner.rpc("config.set", setting).await.unwrap();
}

async fn texts(owner: &Actor) -> Vec<String> {
    let inbox = owner.rpc("inbox.list", json!({})).await.unwrap();
    let messages = inbox["messages"].as_array().unwrap().iter();
    messages
        .map(|message| message["text"].as_str().unwrap().to_owned())
        .collect()
}

/// Waits for a message that contains this text.
async fn message_with(owner: &Actor, text: &str) -> String {
    let wait = async {
        loop {
            let found = texts(owner).await;
            if let Some(found) = found.into_iter().find(|it| it.contains(text)) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(20), wait).await;
    found.unwrap_or_else(|_| panic!("no message contains {text}"))
}

#[tokio::test]
async fn a_failed_delivery_is_reported_with_its_reason_and_a_link_and_several_are_reported_once() {
    let (server, owner) = light_owner(Options::default()).await;
    notify(&owner, "delivery_failed").await;
    // No model is configured, so the agent fails.
    let members = json!({ "auth_mode": "none", "deliver_only": false, "deliver_to": null });
    let hook = made(&owner, members).await;
    let remote = server.remote();
    for body in ["{\"a\":1}", "{\"a\":2}"] {
        send(&remote, &hook.path(), &[], body).await.expect(202);
    }
    let text = message_with(&owner, "A delivery of the webhook n failed.").await;
    let failed = loop {
        let all = until(&owner, &hook, 2).await;
        if all.iter().all(|it| it["status"] == "failed") {
            break all;
        }
    };
    let is_named = |it: &&serde_json::Value| text.contains(it["id"].as_str().unwrap());
    let named = failed.iter().find(is_named).unwrap();
    assert!(text.contains(named["error"].as_str().unwrap()), "{text}");
    // The second one is in a later message, together with others.
    assert_eq!(texts(&owner).await.len(), 1);
}

#[tokio::test]
async fn the_tenth_refusal_in_a_row_is_reported_and_the_ninth_is_not() {
    let (server, owner) = light_owner(Options::default()).await;
    notify(&owner, "webhook_refuses").await;
    let hook = made(&owner, json!({ "auth_mode": "bearer" })).await;
    let remote = server.remote();
    let refused = async || send(&remote, &hook.path(), &[], "{}").await.expect(401);
    for _ in 0..9 {
        refused().await;
    }
    until(&owner, &hook, 9).await;
    assert!(texts(&owner).await.is_empty());
    refused().await;
    let text = message_with(&owner, "refused 10 requests").await;
    assert!(
        text.contains("missing_signature") && text.contains(hook.id()),
        "{text}"
    );
}

#[tokio::test]
async fn each_sender_that_stopped_is_reported_once_and_so_is_its_return() {
    const DAY: Duration = Duration::from_hours(24);
    let clock = stopped_clock();
    let (mut server, owner) = light_owner(Options::default().clock(Arc::clone(&clock))).await;
    notify(&owner, "health").await;
    let hook = made(&owner, json!({ "auth_mode": "none", "name": "Builds" })).await;
    let other = made(&owner, json!({ "auth_mode": "none", "name": "Deploys" })).await;
    let check = async |owner: &Actor| doctor_check(owner, "senders").await;
    for day in 0..13 {
        // One of them stops a day earlier.
        let senders = if day < 12 {
            vec![&hook, &other]
        } else {
            assert_eq!(check(&owner).await["ok"], true);
            vec![&other]
        };
        for hook in senders {
            let body = format!("{{\"day\":{day}}}");
            let sent = send(&server.remote(), &hook.path(), &[], body).await;
            sent.expect(202);
        }
        clock.advance(DAY);
    }
    // A delivery is counted once it has ended.
    let is_open = |it: &serde_json::Value| it["status"] != "completed";
    for (hook, count) in [(&hook, 12), (&other, 13)] {
        let ended = async { while until(&owner, hook, count).await.iter().any(is_open) {} };
        tokio::time::timeout(Duration::from_secs(20), ended)
            .await
            .expect("all deliveries end");
    }
    let stopped = check(&owner).await;
    assert_eq!(stopped["urgent"], true, "{stopped}");
    assert!(stopped["message"].as_str().unwrap().contains("Builds"));
    assert_eq!(stopped["subjects"].as_array().unwrap().len(), 1);
    assert_eq!(stopped["subjects"][0]["id"], hook.id());
    // The checks run at the start. A failure is reported once it has lasted for five minutes.
    let mut owner = owner;
    let restart = async |server: TestServer, owner: Actor| {
        let server = server.restart().await;
        let owner = owner.at(server.address());
        (server, owner)
    };
    (server, owner) = restart(server, owner).await;
    noted(&server, &format!("senders/{}", hook.id())).await;
    clock.advance(Duration::from_mins(5));
    (server, owner) = restart(server, owner).await;
    let text = message_with(&owner, "The health check senders failed.").await;
    assert!(
        text.contains("Builds") && !text.contains("Deploys"),
        "{text}"
    );
    // The other sender stops too.
    clock.advance(DAY);
    (server, owner) = restart(server, owner).await;
    noted(&server, &format!("senders/{}", other.id())).await;
    clock.advance(Duration::from_mins(5));
    (server, owner) = restart(server, owner).await;
    let text = message_with(&owner, "Deploys").await;
    assert!(
        text.contains("failed") && !text.contains("Builds"),
        "{text}"
    );
    let remote = server.remote();
    send(&remote, &hook.path(), &[], "{}").await.expect(202);
    until(&owner, &hook, 13).await;
    (server, owner) = restart(server, owner).await;
    message_with(&owner, "The health check senders passes again for Builds.").await;
    let remote = server.remote();
    send(&remote, &other.path(), &[], "{}").await.expect(202);
    until(&owner, &other, 14).await;
    (server, owner) = restart(server, owner).await;
    message_with(&owner, "The health check senders passes again.\n").await;
    let all = texts(&owner).await;
    let messages = all
        .iter()
        .filter(|text| text.contains("The health check senders"));
    assert_eq!(messages.count(), 4, "{all:?}");
    drop(server);
}

/// Waits until the server has stored that this health check fails.
async fn noted(server: &TestServer, id: &str) {
    let wait = async {
        loop {
            let read =
                server.app().services().store.read(|conn| {
                    Box::pin(async move { conn.find_setting("health_notices").await })
                });
            let stored: Result<_, StoreError> = read.await;
            if stored.unwrap().is_some_and(|state| state.get(id).is_some()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait)
        .await
        .expect("the failure is stored");
}

#[tokio::test]
async fn nodes_of_a_database_count_together_and_send_each_message_once() {
    let Some(database) = postgres().await else {
        return;
    };
    let there = database.for_another_node();
    let clock = stopped_clock();
    let options = |database| {
        let options = Options::default().clock(Arc::clone(&clock));
        options.database(database)
    };
    let (mut one, owner) = light_owner(options(database)).await;
    for rule in ["delivery_failed", "webhook_refuses"] {
        notify(&owner, rule).await;
    }
    // No model is configured, so the agent fails.
    let members = json!({ "auth_mode": "none", "deliver_only": false, "deliver_to": null });
    let failing = made(&owner, members).await;
    let refusing = made(&owner, json!({ "auth_mode": "bearer" })).await;
    send(&one.remote(), &failing.path(), &[], "1")
        .await
        .expect(202);
    message_with(&owner, "A delivery of the webhook n failed.").await;

    let two = TestServer::start(options(there)).await;
    for number in 0..10 {
        let node = if number % 2 == 0 { &one } else { &two };
        let refused = send(&node.remote(), &refusing.path(), &[], "{}").await;
        refused.expect(401);
    }
    message_with(&owner, "refused 10 requests").await;

    // The other node counts the next failure to the message of the first node.
    drop(one.stop().await);
    let owner = owner.at(two.address());
    send(&two.remote(), &failing.path(), &[], "2")
        .await
        .expect(202);
    while until(&owner, &failing, 2)
        .await
        .iter()
        .any(|it| it["status"] != "failed")
    {}
    // Messages are sent in order, so an earlier message would have arrived before the last one.
    let last = made(&owner, json!({ "auth_mode": "bearer", "name": "last" })).await;
    for _ in 0..10 {
        send(&two.remote(), &last.path(), &[], "{}")
            .await
            .expect(401);
    }
    message_with(&owner, "The webhook last refused 10 requests").await;
    let texts = texts(&owner).await;
    assert_eq!(texts.len(), 3, "{texts:?}");
}
