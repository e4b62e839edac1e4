//! A budget that is used up refuses texts.

use super::with_model;
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
async fn a_budget_that_is_nearly_used_up_is_told_to_the_channels_of_the_rule() {
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
