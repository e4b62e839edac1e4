//! The MCP clients of the Python and the TypeScript SDK, against `/mcp` of the real process.
//! `GATEHOUSE_TEST_MCP_CLIENTS` names the directory where `tests/mcp-clients` is installed (`cargo xtask test` does
//! that).

use crate::process::{BINARY, CommandOutput, Installation, PASSWORD, Server};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The programs that run the clients, with their arguments. Without them the test is skipped with a message, or
/// fails in a strict run.
#[expect(
    clippy::disallowed_methods,
    reason = "tests are told by the environment what they have"
)]
fn clients() -> Option<(PathBuf, [(PathBuf, &'static str); 2])> {
    let name = "GATEHOUSE_TEST_MCP_CLIENTS";
    let Some(folder) = std::env::var_os(name).filter(|path| !path.is_empty()) else {
        println!("LEFT OUT: MCP clients; set {name}, or run cargo xtask test");
        let strict = std::env::var_os("GATEHOUSE_TEST_STRICT").is_some_and(|value| value == "1");
        assert!(!strict, "GATEHOUSE_TEST_STRICT=1 and there is no {name}");
        return None;
    };
    let folder = PathBuf::from(folder);
    let python = folder.join("python/bin/python");
    let programs = [(python, "client.py"), (PathBuf::from("node"), "client.mjs")];
    Some((folder, programs))
}

/// Creates an API key as an operator would.
async fn make_key(installation: &Installation, server: &Server, scopes: &[&str]) -> String {
    let password = installation
        .file("password", &format!("{PASSWORD}\n"))
        .await;
    let mut command = installation.prepared(Command::new(BINARY));
    command.env("SERVICE_PASSWORD_FILE", password);
    command.args(["--url", &server.url, "auth", "create-key", "--no-store"]);
    for scope in scopes {
        command.args(["--scope", scope]);
    }
    command.arg("--data-dir").arg(installation.data_dir());
    CommandOutput(command.output().unwrap())
        .ok()
        .trim()
        .to_owned()
}

fn run(mut command: Command, order: &Value) -> Value {
    let mut child = command
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(order.to_string().as_bytes()).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn mcp_clients_find_and_call_the_tools() {
    let Some((folder, programs)) = clients() else {
        return;
    };
    let installation = Installation::new();
    let server = installation.start();
    server.set_up().await;
    let key = make_key(&installation, &server, &["operator.write", "operator.read"]).await;
    let reader = make_key(&installation, &server, &["operator.read"]).await;
    for (program, script) in programs {
        let ask = |key: &str, jobs: Value| {
            let mut command = Command::new(&program);
            command.arg(script).current_dir(&folder);
            let url = format!("{}/mcp", server.url);
            run(command, &json!({ "url": url, "key": key, "jobs": jobs }))
        };
        let jobs = json!([
            { "tool": "send_message", "arguments": { "target": "inbox", "text": script } },
            { "tool": "list_agents", "arguments": {} },
            { "tool": "get_delivery", "arguments": { "id": "del_none" } },
            { "tool": "no_such", "arguments": {} },
        ]);
        let answer = ask(&key, jobs.clone());
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
        let answer = ask(&reader, jobs);
        let tools = answer["tools"].as_array().unwrap();
        assert!(!tools.contains(&json!("ask_agent")), "{script}: {answer}");
        let sent = &answer["results"][0];
        assert_eq!(sent["code"], -32004, "{script}: {answer}");
        let refused = ask("mk_wrong", json!([]));
        assert!(refused["refused"].is_string(), "{script}: {refused}");
    }
    let inbox = server.rpc(&key, "inbox.list", json!({})).await;
    let messages = inbox["result"]["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "{inbox}");
    assert_eq!(messages[0]["text"], "client.mjs");
    server.stop();
}
