//! `chat.*` and `approval.*` events, and approvals, on a socket.

use super::with_model;
use serde_json::json;

#[tokio::test]
async fn a_turn_publishes_its_progress() {
    let (server, owner) = with_model().await;
    let mut socket = server.socket(&owner, "/ws/chat").await;
    let sent = socket
        .call("chat.send", json!({ "text": "ping" }))
        .await
        .unwrap();
    let sent = &sent["result"];
    for name in ["session", "session_key", "turn_id"] {
        assert!(sent[name].is_string(), "{sent}");
    }
    let done = socket.event("chat.done").await.unwrap();
    assert_eq!(
        done,
        json!({ "session": sent["session"], "turn_id": sent["turn_id"],
            "usage": { "input_tokens": 10, "output_tokens": 3 }, "stop": "end" })
    );
}

#[tokio::test]
async fn a_call_waits_for_a_yes_that_only_approvers_can_give() {
    let (server, owner) = with_model().await;
    let reader = server
        .api_key(&owner, &["operator.read", "operator.write"])
        .await;
    let approver = server.api_key(&owner, &["operator.approvals"]).await;
    let mut socket = server.socket(&approver, "/ws/chat").await;
    let sent = owner
        .rpc("chat.send", json!({ "text": "calculate" }))
        .await
        .unwrap();
    let asked = socket.event("approval.requested").await.unwrap();
    assert_eq!(asked["tool"], "calc");
    assert_eq!(asked["arguments"], json!({ "expression": "6*7" }));
    assert_eq!(asked["session"], sent["session"]);
    let refused = reader.rpc("approval.list", json!({})).await;
    assert_eq!(refused, Err("FORBIDDEN".to_owned()));
    let listed = approver.rpc("approval.list", json!({})).await.unwrap();
    assert_eq!(listed, json!({ "approvals": [asked] }));
    let yes = json!({ "id": asked["id"], "allow": true });
    assert_eq!(
        approver.rpc("approval.resolve", yes.clone()).await,
        Ok(json!({ "ok": true }))
    );
    let resolved = socket.event("approval.resolved").await.unwrap();
    assert_eq!(resolved, json!({ "id": asked["id"], "allowed": true }));
    assert_eq!(
        approver.rpc("approval.resolve", yes).await,
        Err("NOT_FOUND".to_owned())
    );
    // Turns of a session run one after another, so this turn starts after the previous one has
    // ended.
    let next = json!({ "session": sent["session"], "text": "ping" });
    owner.rpc("chat.send_sync", next).await.unwrap();
    let history = json!({ "session": sent["session"] });
    let history = owner.rpc("chat.history", history).await.unwrap();
    assert_eq!(history["messages"][2]["role"], "tool");
    assert_eq!(history["messages"][2]["content"], "42");
}

#[tokio::test]
async fn an_approval_shows_characters_that_hide_or_reorder_text() {
    let (server, owner) = with_model().await;
    let mut socket = server.socket(&owner, "/ws/chat").await;
    let hidden = "6*7 \u{202e}0001*\u{2066}\u{200b}\u{e0041}\u{1b}";
    let text = format!("calculate {hidden}");
    owner
        .rpc("chat.send", json!({ "text": text }))
        .await
        .unwrap();
    let asked = socket.event("approval.requested").await.unwrap();
    assert_eq!(asked["arguments"]["expression"], hidden, "exact");
    let shown = json!({
        "tool": "calc",
        "arguments": "{\n  \"expression\": \"6*7 \\u{202E}0001*\\u{2066}\\u{200B}\\u{E0041}\\u001b\"\n}",
        "hidden": 4,
    });
    assert_eq!(asked["shown"], shown);
    let no = json!({ "id": asked["id"], "allow": false });
    owner.rpc("approval.resolve", no).await.unwrap();
}
