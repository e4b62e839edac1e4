//! The authorization server of MCP's official Python SDK, with a server that needs its tokens. `GATEHOUSE_TEST_PYTHON`
//! names a Python interpreter that has the SDK (`cargo xtask test` creates one).

use super::{add, call_tool, connect, shown, test, until};
use crate::steps::{by_clock, stopped_clock};
use gatehouse_doubles::prepared_if;
use gatehouse_testkit::PASSWORD;
use serde_json::json;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/it/rpc/mcp_oauth/sdk_server.py"
);

/// Killed when dropped.
struct SdkServer(Child);

impl Drop for SdkServer {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Starts the server and returns its address; `None` without the SDK.
async fn start() -> Option<(SdkServer, String)> {
    let has_it = |python: &Path| {
        let mut import = Command::new(python);
        import.args(["-c", "import mcp.server.auth"]);
        import.output().is_ok_and(|output| output.status.success())
    };
    let python = prepared_if("GATEHOUSE_TEST_PYTHON", "MCP's Python SDK", has_it)?;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let mut command = Command::new(python);
    command
        .arg("-B")
        .arg(SCRIPT)
        .arg(address.port().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut server = SdkServer(command.spawn().unwrap());
    let accepts = async {
        while TcpStream::connect(address).await.is_err() {
            assert!(server.0.try_wait().unwrap().is_none(), "it has ended");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let accepts = tokio::time::timeout(Duration::from_mins(1), accepts).await;
    accepts.unwrap();
    Some((server, format!("http://{address}/mcp")))
}

#[tokio::test]
async fn a_server_of_the_sdk_is_connected_refreshed_and_disconnected() {
    let Some((_far, url)) = start().await else {
        return;
    };
    let clock = stopped_clock();
    let server = by_clock(&clock).await;
    let owner = server.set_up().await;
    let added = add(&owner, &url).await;
    assert_eq!(added["auth"]["state"], "needed", "{added}");
    connect(&owner).await;
    let now = shown(&owner).await;
    assert_eq!(now["auth"]["state"], "connected", "{now}");
    assert_eq!(now["auth"]["issuer"], url.replace("/mcp", ""));
    let answer = call_tool(&server).await.unwrap();
    assert!(answer.contains("refreshed 0, tokens 1"), "{answer}");

    // A refresh token is used once.
    for count in 1..=2 {
        clock.advance(Duration::from_hours(1));
        assert_eq!(test(&owner).await["state"], "connected");
        let answer = call_tool(&server).await.unwrap();
        let counted = format!("refreshed {count}, tokens 1");
        assert!(answer.contains(&counted), "{answer}");
    }

    let gone = owner.rpc("mcp.disconnect", json!({ "name": "far" })).await;
    assert_eq!(gone, Ok(json!({ "revoked": true })));
    let now = until(&owner, "failed").await;
    assert_eq!(now["auth"]["state"], "needed", "{now}");
    // The server can be connected again. A confirmation is required, because hours have passed.
    let confirmed = json!({ "password": PASSWORD });
    owner.post("/api/auth/confirm", confirmed).await.expect(200);
    connect(&owner).await;
    let answer = call_tool(&server).await.unwrap();
    assert!(answer.contains("tokens 1"), "{answer}");
}
