//! Conversations with the tools of MCP servers.

use crate::rpc::mcp::{SCRIPT, python};
use crate::steps::light_owner;
use gatehouse_doubles::openai::{FakeModel, call, say};
use gatehouse_testkit::Options;
use serde_json::{Value, json};

#[tokio::test]
async fn an_image_of_an_mcp_tool_reaches_a_model_that_sees() {
    let model = FakeModel::start().await;
    let options = Options::default().model(&model.url, "gpt-4o");
    let options = options.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let (_server, owner) = light_owner(options).await;
    let program = json!({ "name": "py", "command": python().await, "args": [SCRIPT] });
    let made = owner.rpc("mcp.create", program).await.unwrap();
    assert_eq!(made["state"], "connected", "{made}");
    model.will([call("mcp__py__mixed", &json!({})), say("Two dots.")]);
    let asked = json!({ "text": "Look." });
    let answer = owner.rpc("chat.send_sync", asked).await.unwrap();
    assert_eq!(answer["text"], "Two dots.", "{answer}");
    let last = model.last()["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    let picture = last["content"][0]["image_url"]["url"].as_str().unwrap();
    assert!(picture.starts_with("data:image/jpeg;base64,/9j/"), "{last}");

    let session = answer["session"].as_str().unwrap();
    let history = owner.rpc("chat.history", json!({ "session": session }));
    let history: Value = history.await.unwrap();
    let file = &history["messages"][2]["attachments"][0];
    let id = file["id"].as_str().unwrap();
    assert_eq!(
        file,
        &json!({ "id": id, "name": "mixed-2", "type": "image/png", "size": 72, "width": 2, "height": 1 })
    );
    let path = format!("/api/sessions/{session}/attachments/{id}");
    let response = owner.request("GET", &path).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "image/png");
}
