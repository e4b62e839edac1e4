//! Servers made with MCP's official Python SDK, over both transports.
//!
//! `GATEHOUSE_TEST_PYTHON` names a Python interpreter that has the SDK (`cargo xtask test` creates one).

use crate::harness::Harness;
use gatehouse_config::McpServer;
use gatehouse_doubles::prepared_if;
use gatehouse_tools::{McpState, ToolsSettings};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use url::Url;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_sdk_server.py");

/// Returns the interpreter with the SDK.
fn interpreter() -> Option<String> {
    let has_it = |python: &Path| {
        let mut import = Command::new(python);
        import.args(["-c", "import mcp.server"]);
        import.output().is_ok_and(|output| output.status.success())
    };
    let found = prepared_if("GATEHOUSE_TEST_PYTHON", "MCP's Python SDK", has_it)?;
    Some(found.to_str().unwrap().to_owned())
}

/// A server that ends with the test.
struct HttpServer(Child);

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Checks the tools of the script.
async fn check(server: McpServer, allow_private: bool) {
    let settings = ToolsSettings {
        mcp_servers: BTreeMap::from([("sdk".to_owned(), server)]),
        ..ToolsSettings::default()
    };
    let harness = Harness::open(allow_private, settings).await;
    harness.background();
    let mut board = harness.tools.mcp().watch();
    let connected = board.wait_for(|board: &BTreeMap<_, _>| {
        let status = board.get("sdk");
        status.is_some_and(|status| status.state == McpState::Connected)
    });
    let connected = tokio::time::timeout(Duration::from_mins(1), connected).await;
    assert!(connected.is_ok(), "{:?}", harness.tools.mcp().status());
    drop(connected);
    let route = harness.agents.tools().find("mcp__sdk__route").unwrap();
    assert_eq!(
        route.description(),
        "Describes the way from one place to another."
    );
    assert_eq!(route.parameters()["required"], json!(["start", "end"]));
    let call =
        async |tool: &str, input: Value| harness.call(&format!("mcp__sdk__{tool}"), input).await;
    let input = json!({ "start": { "city": "Bremen" }, "end": { "city": "Kiel" } });
    let said = call("route", input).await.unwrap();
    assert!(said.starts_with("Bremen to Kiel"), "{said}");
    let failed = call("fail", json!({})).await.unwrap_err().message;
    assert!(failed.contains("fail"), "{failed}");
    let incomplete = call("route", json!({ "start": {} })).await.unwrap_err();
    assert!(!incomplete.message.is_empty());
    let listed = call("list_resources", json!({})).await.unwrap();
    assert!(listed.contains("note://days/{day}"), "{listed}");
    for (uri, text) in [
        ("note://plan", "Step one."),
        ("note://days/monday", "Notes of monday."),
    ] {
        let read = call("read_resource", json!({ "uri": uri })).await;
        assert_eq!(read.as_deref(), Ok(text));
    }
    harness.stop().await;
}

#[tokio::test]
async fn a_program_of_the_sdk_is_used() {
    let Some(command) = interpreter() else { return };
    let args = vec![SecretString::from(SCRIPT)];
    let env = BTreeMap::new();
    check(McpServer::Command { command, args, env }, false).await;
}

#[tokio::test]
async fn an_http_server_of_the_sdk_is_used() {
    let Some(python) = interpreter() else { return };
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let child = Command::new(python)
        .args([SCRIPT, &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _server = HttpServer(child);
    let listens = async {
        while tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_err()
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), listens)
        .await
        .unwrap();
    let url = Url::parse(&format!("http://127.0.0.1:{port}/mcp")).unwrap();
    check(McpServer::at(url), true).await;
}
