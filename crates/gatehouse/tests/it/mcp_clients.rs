//! The MCP clients of the Python and the TypeScript SDK, against `/mcp` of the real process.
//! `GATEHOUSE_TEST_MCP_CLIENTS` names the directory where `tests/mcp-clients` is installed (`cargo xtask test` does
//! that).

use crate::clients::clients;
use crate::process::Installation;
use futures_util::future::join_all;
use gatehouse_doubles::openai::FakeModel;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn mcp_clients_find_and_call_the_tools() {
    let clients = clients("MCP clients", "GATEHOUSE_TEST_MCP_CLIENTS");
    if clients.is_empty() {
        return;
    }
    let installation = Installation::new();
    let server = installation.start();
    server.set_up().await;
    let key = installation
        .make_key(&server, &["operator.write", "operator.read"])
        .await;
    let reader = installation.make_key(&server, &["operator.read"]).await;
    for client in &clients {
        let script = client.language;
        let ask = async |key: &str, jobs: Value| {
            let url = format!("{}/mcp", server.url);
            client
                .run(&json!({ "url": url, "key": key, "jobs": jobs }))
                .await
        };
        let jobs = json!([
            { "tool": "send_message", "arguments": { "target": "inbox", "text": script } },
            { "tool": "list_agents", "arguments": {} },
            { "tool": "get_delivery", "arguments": { "id": "del_none" } },
            { "tool": "no_such", "arguments": {} },
        ]);
        let answer = ask(&key, jobs.clone()).await;
        assert_eq!(answer["version"], "2025-06-18", "{script}: {answer}");
        let tools = answer["tools"].as_array().unwrap();
        assert!(tools.contains(&json!("ask_agent")), "{script}: {answer}");
        let [sent, listed, missing, unknown] = &answer["results"].as_array().unwrap()[..] else {
            panic!("{script}: {answer}");
        };
        assert_eq!(sent["isError"], false, "{script}: {answer}");
        assert_eq!(sent["content"][0]["text"], r#"{"ok":true}"#);
        assert_eq!(listed["content"][0]["type"], "text", "{script}: {answer}");
        assert_eq!(missing["isError"], true, "{script}: {answer}");
        assert_eq!(unknown["code"], -32602, "{script}: {answer}");
        let answer = ask(&reader, jobs).await;
        let tools = answer["tools"].as_array().unwrap();
        assert!(!tools.contains(&json!("ask_agent")), "{script}: {answer}");
        let sent = &answer["results"][0];
        assert_eq!(sent["code"], -32004, "{script}: {answer}");
        let refused = ask("mk_wrong", json!([])).await;
        assert!(refused["refused"].is_string(), "{script}: {refused}");
    }
    let inbox = server.rpc(&key, "inbox.list", json!({})).await;
    let messages = inbox["result"]["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "{inbox}");
    assert_eq!(messages[0]["text"], "Node");
    server.stop();
}

#[tokio::test]
async fn mcp_clients_wait_for_an_agent_that_reports_progress() {
    let clients = clients("MCP clients", "GATEHOUSE_TEST_MCP_CLIENTS");
    if clients.is_empty() {
        return;
    }
    let model = FakeModel::start().await;
    model.hold();
    let mut installation = Installation::new();
    installation.model(&model.url);
    let server = installation.start();
    server.set_up().await;
    let scopes = ["operator.write", "operator.read"];
    let key = installation.make_key(&server, &scopes).await;
    let jobs = json!([{ "tool": "ask_agent", "arguments": { "text": "hello" }, "progress": true }]);
    let order = json!({ "url": format!("{}/mcp", server.url), "key": key, "jobs": jobs });
    let answers = join_all(clients.iter().map(|client| client.run(&order)));
    // The Node client waits 15 seconds without progress.
    let release = async {
        let asked = tokio::time::timeout(Duration::from_mins(1), model.until(clients.len()));
        asked.await.unwrap();
        tokio::time::sleep(Duration::from_secs(16)).await;
        model.release(clients.len());
    };
    let (answers, ()) = tokio::join!(answers, release);
    for (client, answer) in clients.iter().zip(answers) {
        let (script, result) = (client.language, &answer["results"][0]);
        assert_eq!(result["isError"], false, "{script}: {answer}");
        assert_eq!(
            result["progress"][0].as_f64(),
            Some(10.0),
            "{script}: {answer}"
        );
        let text = result["content"][0]["text"].as_str().unwrap();
        let asked: Value = serde_json::from_str(text).unwrap();
        assert_eq!(asked["text"], "ok", "{script}: {answer}");
    }
    server.stop();
}
