//! The MCP clients of the Python and the TypeScript SDK, against `/mcp` of the real process.
//! `GATEHOUSE_TEST_MCP_CLIENTS` names the directory where `tests/mcp-clients` is installed (`cargo xtask test` does
//! that).

use crate::clients::clients;
use crate::process::Installation;
use serde_json::{Value, json};

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
