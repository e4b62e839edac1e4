//! A budget that is used up refuses texts.

use super::with_model;
use serde_json::{Value, json};

#[tokio::test]
async fn an_exhausted_budget_refuses_texts_and_says_when_it_resets() {
    let (server, owner) = with_model().await;
    let session = owner.rpc("sessions.create", json!({})).await.unwrap()["id"].clone();
    let text = json!({ "session": session, "text": "ping" });
    owner.rpc("chat.send_sync", text.clone()).await.unwrap();
    // The first turn used 8 tokens. What was used before the budget was set counts.
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
