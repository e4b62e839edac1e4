//! A budget that is used up refuses texts.

use super::with_model;
use gatehouse_testkit::Actor;
use serde_json::{Value, json};

#[tokio::test]
async fn an_exhausted_budget_refuses_texts_and_says_when_it_resets() {
    let (server, owner) = with_model().await;
    let session = owner.rpc("sessions.create", json!({})).await.unwrap()["id"].clone();
    let text = json!({ "session": session, "text": "ping" });
    owner.rpc("chat.send_sync", text.clone()).await.unwrap();
    // The first turn used 8 tokens. Use before the budget was set counts, too.
    let budget = json!({ "scope": "agent:default", "period": "day", "tokens": 8 });
    let set = owner.rpc("budgets.set", budget).await.unwrap();
    assert_eq!(set["exhausted"], true, "{set}");
    for method in ["chat.send", "chat.send_sync"] {
        let reply = owner.rpc_reply(method, text.clone()).await.expect(200);
        let error = &reply["error"];
        assert_eq!(error["code"], -32018, "{method}: {reply}");
        assert_eq!(error["data"]["code"], "BUDGET_EXHAUSTED", "{reply}");
        assert_eq!(error["data"]["resets_at"], set["resets_at"], "{reply}");
    }
    let mut socket = server.socket(&owner, "/ws/chat").await;
    let refused = socket.call("chat.send", text.clone()).await.unwrap();
    assert_eq!(refused["error"]["code"], -32018, "{refused}");
    // A refused text is not stored.
    let history = json!({ "session": session });
    let history = owner.rpc("chat.history", history).await.unwrap();
    assert_eq!(history["messages"].as_array().map(Vec::len), Some(2));
    let name = json!({ "scope": "agent:default", "period": "day" });
    owner.rpc("budgets.delete", name).await.unwrap();
    let answer: Value = owner.rpc("chat.send_sync", text).await.unwrap();
    assert_eq!(answer["stop"], "end", "{answer}");
}

#[tokio::test]
async fn a_budget_that_is_nearly_used_up_is_reported_to_the_channels_of_the_rule() {
    let (_server, owner) = with_model().await;
    let rule = json!({ "key": "notify.budget_warning", "value": ["inbox"] });
    owner.rpc("config.set", rule).await.unwrap();
    // A turn uses 13 tokens.
    let budget = json!({ "scope": "all", "period": "day", "tokens": 16 });
    owner.rpc("budgets.set", budget).await.unwrap();
    let text = json!({ "text": "ping" });
    owner.rpc("chat.send_sync", text).await.unwrap();
    loop {
        let inbox = owner.rpc("inbox.list", json!({})).await.unwrap();
        let messages = inbox["messages"].as_array().unwrap();
        if let Some(message) = messages.first() {
            let text = message["text"].as_str().unwrap();
            assert!(text.contains("13 of 16 tokens"), "{text}");
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Returns the field of a refused call.
async fn refused_field(owner: &Actor, method: &str, params: &Value) -> Value {
    let reply = owner.rpc_reply(method, params.clone()).await.expect(200);
    assert_eq!(
        reply["error"]["data"]["code"], "INVALID_PARAMS",
        "{params}: {reply}"
    );
    reply["error"]["data"]["field"].clone()
}

#[tokio::test]
async fn a_budget_is_for_something_that_exists() {
    let (server, owner) = with_model().await;
    let hook = json!({ "name": "hook" });
    let hook = owner.rpc("webhooks.create", hook).await.unwrap();
    let (id, public_id) = (
        hook["id"].as_str().unwrap(),
        hook["public_id"].as_str().unwrap(),
    );
    let key = json!({ "label": "x", "scopes": ["operator.read"] });
    let key = owner.post("/api/auth/api-keys", key).await.expect(200);
    let key_id = key["id"].as_str().unwrap();
    let budget = |scope: &str| json!({ "scope": scope, "period": "day", "tokens": 8 });
    for scope in [
        "webhook:zz",
        "webhook:wh_zz",
        "webhook:a\u{0}",
        "key:zz",
        "key:a\u{0}",
        "agent:zz",
        "agent:a\u{0}",
    ] {
        let field = refused_field(&owner, "budgets.set", &budget(scope)).await;
        assert_eq!(field, "scope", "{scope}");
    }
    let by_id = format!("webhook:{id}");
    for scope in [by_id.clone(), format!("webhook:{public_id}")] {
        let set = owner.rpc("budgets.set", budget(&scope)).await.unwrap();
        assert_eq!(set["scope"], by_id, "{scope}");
    }
    for scope in [format!("key:{key_id}"), "agent:default".to_owned()] {
        let set = owner.rpc("budgets.set", budget(&scope)).await.unwrap();
        assert_eq!(set["scope"], scope);
    }
    let listed = owner.rpc("budgets.list", json!({})).await.unwrap();
    assert_eq!(listed["budgets"].as_array().unwrap().len(), 3, "{listed}");
    let first = owner.rpc("budgets.list", json!({ "limit": 2 })).await;
    let first = first.unwrap();
    let rest = json!({ "limit": 2, "cursor": first["next_cursor"] });
    let rest = owner.rpc("budgets.list", rest).await.unwrap();
    let pages = [&first, &rest].map(|page| page["budgets"].as_array().unwrap().clone());
    assert_eq!(json!(pages.concat()), listed["budgets"]);
    assert!(rest.get("next_cursor").is_none(), "{rest}");
    let name = |scope: &str| json!({ "scope": scope, "period": "day" });
    let public = format!("webhook:{public_id}");
    owner.rpc("budgets.delete", name(&public)).await.unwrap();
    owner.rpc("budgets.set", budget(&by_id)).await.unwrap();
    // The budget of a webhook or key that is gone can be changed and deleted.
    let deleted = json!({ "id": id });
    owner.rpc("webhooks.delete", deleted).await.unwrap();
    let path = format!("/api/auth/api-keys/{key_id}");
    owner.delete(&path).await.expect(200);
    for scope in [by_id, format!("key:{key_id}")] {
        owner.rpc("budgets.set", budget(&scope)).await.unwrap();
        owner.rpc("budgets.delete", name(&scope)).await.unwrap();
        let field = refused_field(&owner, "budgets.set", &budget(&scope)).await;
        assert_eq!(field, "scope", "{scope}");
    }
    drop(server);
}
