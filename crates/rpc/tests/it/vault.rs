//! How the vault's state affects methods, events and settings.

use crate::harness::Harness;
use crate::line::{Line, PASSWORD, connect_with, owner, set_password};
use gatehouse_domain::Actor;
use gatehouse_rpc::{Input, events};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

#[tokio::test]
async fn while_sealed_each_method_decides() {
    let harness = Harness::new().await;
    set_password(&harness).await;
    // An identity from before setup is no longer accepted.
    let owner = owner(&harness).await;
    let ask = async |method: &str, params: Value| harness.ask(&owner, method, params).await;
    let telegram = json!({
        "type": "telegram", "label": "Mine", "fields": { "bot_token": "1:a", "chat_id": "1" },
    });
    let made = ask("channels.create", telegram.clone()).await;
    assert_eq!(made["result"]["id"], "telegram", "{made}");
    let set = ask("env.set", json!({ "key": "OPEN", "value": "x" })).await;
    assert_eq!(set["result"]["encrypted"], 1, "{set}");
    harness
        .services()
        .secrets
        .seal(&Actor::system())
        .await
        .unwrap();

    let set = ask("env.set", json!({ "key": "LATE", "value": "x" })).await;
    assert_eq!(set["result"]["encrypted"], 0, "{set}");
    assert!(set["result"]["warning"].is_string(), "{set}");
    let made = ask("ssh_keys.generate", json!({ "name": "late" })).await;
    assert_eq!(made["result"]["encrypted"], 0, "{made}");
    for (method, params) in [
        (
            "providers.set_key",
            json!({ "id": "openai", "key": "sk-1" }),
        ),
        ("providers.remove_key", json!({ "id": "openai" })),
        ("channels.create", telegram),
        (
            "channels.update",
            json!({ "id": "telegram", "fields": { "bot_token": "2:b" } }),
        ),
        ("channels.test", json!({ "id": "telegram" })),
    ] {
        let refused = ask(method, params).await;
        let data = &refused["error"]["data"];
        assert_eq!(
            (&data["code"], &data["status"]),
            (&json!("VAULT_SEALED"), &json!("sealed"))
        );
        assert_eq!(refused["error"]["code"], -32009);
    }
    for method in [
        "env.list",
        "ssh_keys.list",
        "providers.list",
        "audit.list",
        "config.get",
    ] {
        assert!(
            ask(method, json!({})).await["result"].is_object(),
            "{method}"
        );
    }
    // Changes that involve no secret of a channel succeed.
    let change = json!({
        "id": "telegram", "label": "Ours", "enabled": false, "fields": { "bot_token": "••••" },
    });
    let changed = ask("channels.update", change).await;
    assert_eq!(changed["result"]["label"], "Ours", "{changed}");
    let ntfy = json!({ "type": "ntfy", "label": "Bell", "fields": { "topic": "t" } });
    let made = ask("channels.create", ntfy).await;
    assert_eq!(made["result"]["id"], "ntfy", "{made}");
    let report = ask("system.doctor", json!({})).await;
    let checks = report["result"]["checks"].as_array().unwrap();
    let plain = checks
        .iter()
        .find(|check| check["id"] == "plaintext_secrets")
        .unwrap();
    assert_eq!(plain["ok"], false, "{plain}");
    assert!(
        plain["message"].as_str().unwrap().starts_with("2 secret"),
        "{plain}"
    );

    let off = json!({ "key": "vault.plaintext_while_sealed", "value": false });
    assert!(ask("config.set", off).await["result"].is_object());
    let refused = ask("env.set", json!({ "key": "LATER", "value": "x" })).await;
    assert_eq!(refused["error"]["data"]["code"], "VAULT_SEALED");
}

#[tokio::test]
async fn changes_of_lower_crates_are_published() {
    let harness = Harness::new().await;
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    events::bridge(&harness.rpc, &stop, &tasks).await;
    let mut listener = harness.rpc.events().subscribe();
    set_password(&harness).await;
    let mut heard: Vec<Value> = Vec::new();
    let done = |heard: &[Value]| {
        let has = |name: &str| heard.iter().any(|event| event["method"] == name);
        has("vault.status") && has("auth.changed")
    };
    while !done(&heard) {
        heard.push(serde_json::from_str(&listener.recv().await.unwrap().frame).unwrap());
    }
    let status = heard
        .iter()
        .find(|event| event["method"] == "vault.status")
        .unwrap();
    assert_eq!(status["params"], json!({ "status": "unsealed" }));
    assert!(status.get("id").is_none());
    stop.cancel();
    tasks.close();
    tasks.wait().await;
}

#[tokio::test]
async fn changes_of_deliveries_are_published_only_while_something_listens() {
    let harness = Harness::new().await;
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    events::bridge(&harness.rpc, &stop, &tasks).await;
    let webhooks = &harness.services().webhooks;
    assert!(!webhooks.publishes_changes());
    let listener = harness.rpc.events().subscribe();
    assert!(webhooks.publishes_changes());
    drop(listener);
    assert!(!webhooks.publishes_changes());
    stop.cancel();
    tasks.close();
    tasks.wait().await;
}

#[tokio::test]
async fn security_settings_need_a_recent_confirmation() {
    let harness = Harness::new().await;
    set_password(&harness).await;
    let mut line = Line::unauthenticated_client(&harness).await;
    line.send(&connect_with(PASSWORD));
    line.finish().await;
    let set = |key: &str, value: Value| json!({ "id": 1, "method": "config.set", "params": { "key": key, "value": value } });
    harness.clock.advance(Duration::from_mins(15));
    line.send(&set("vault.plaintext_while_sealed", json!(false)));
    line.finish().await;
    assert!(
        line.said[1]["result"].is_object(),
        "at fifteen minutes: {}",
        line.said[1]
    );
    harness.clock.advance(Duration::from_millis(1));
    line.send(&set("vault.plaintext_while_sealed", json!(true)));
    line.send(&set("auth.step_up", json!(false)));
    line.send(&set("models.autodetect", json!(false)));
    line.finish().await;
    assert_eq!(
        (line.code(2), line.code(3)),
        ("CONFIRMATION_REQUIRED", "CONFIRMATION_REQUIRED")
    );
    assert_eq!(line.said[2]["error"]["data"]["max_age_seconds"], 900);
    assert!(line.said[4]["result"].is_object(), "not a security setting");
}

#[tokio::test]
async fn a_fault_of_ours_carries_a_request_id() {
    let harness = Harness::new().await;
    let context = harness.context(&[]).await;
    harness.services().store.close().await;
    let answer = harness.ask(&context, "env.list", json!({})).await;
    let data = &answer["error"]["data"];
    assert_eq!(data["code"], "STORAGE_UNAVAILABLE", "{answer}");
    assert!(data["request_id"].as_str().unwrap().starts_with("req_"));
    let known = gatehouse_domain::RequestId::from_text("req_known");
    let call = br#"{"id":1,"method":"env.list"}"#;
    let answer = harness
        .rpc
        .call_text(&context, call, Some(known))
        .await
        .unwrap();
    assert!(answer.contains(r#""request_id":"req_known""#));
    let status = harness.call("system.status", json!({})).await;
    assert_eq!(status["database"]["ok"], false);
    let mut line = Line::ready(&harness).await;
    line.feed(Input::Tick);
    assert_eq!(line.closed, None, "a failing database closes no connection");
}
