//! MCP servers, from their settings to the started program.

use crate::steps::light_owner;
use gatehouse_store::testing::postgres;
use gatehouse_testkit::{Actor, Options, TestServer};
use gatehouse_tools::{McpState, McpStatus};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Writes its environment to the given file and exits.
const TELLS: &str = "import json, os, sys\n\
    with open(sys.argv[1] + '.new', 'w') as file: json.dump(dict(os.environ), file)\n\
    os.rename(sys.argv[1] + '.new', sys.argv[1])\n";

/// A server for tests.
pub const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tools/tests/it/mcp_server.py"
);

async fn set(actor: &Actor, key: &str, value: Value) -> Result<Value, String> {
    let params = json!({ "key": key, "value": value });
    actor.rpc("config.set", params).await
}

/// Returns the interpreter itself, because `python3` may be a script that sets variables.
pub async fn python() -> String {
    let mut command = tokio::process::Command::new("python3");
    let ask = command.args(["-c", "import sys; print(sys.executable)"]);
    let answer = ask.output().await.unwrap();
    String::from_utf8(answer.stdout).unwrap().trim().to_owned()
}

/// Waits until the program has written its environment, and returns it.
async fn reported(path: &Path) -> BTreeMap<String, String> {
    let waiting = async {
        loop {
            if let Ok(text) = tokio::fs::read(path).await {
                return serde_json::from_slice(&text).unwrap();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let reported = tokio::time::timeout(Duration::from_mins(1), waiting).await;
    reported.expect("the program did not start")
}

async fn configure(server: &TestServer, owner: &Actor, name: &str, env: Value) -> PathBuf {
    let path = server.directory().join(name);
    let key = |last: &str| format!("mcp.servers.{name}.{last}");
    if !env.is_null() {
        // A server needs a command before any other setting.
        set(owner, &key("command"), json!("false")).await.unwrap();
        set(owner, &key("env"), env).await.unwrap();
    }
    set(owner, &key("command"), json!(python().await))
        .await
        .unwrap();
    let args = json!(["-c", TELLS, path.to_str().unwrap()]);
    set(owner, &key("args"), args).await.unwrap();
    path
}

/// A caller with `operator.write` can set the values of variables, but must not control which code a
/// configured program runs. A program receives only the variables that its entry names.
#[tokio::test]
async fn operator_write_cannot_put_variables_into_a_configured_program() {
    let options = Options::default().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let (server, owner) = light_owner(options).await;
    let writer = server.api_key(&owner, &["operator.write"]).await;
    for name in [
        "NODE_OPTIONS",
        "BASH_ENV",
        "PYTHONPATH",
        "npm_config_registry",
        "GITHUB_TOKEN",
    ] {
        let params = json!({ "key": name, "value": "/tmp/of-the-writer" });
        writer.rpc("env.set", params).await.unwrap();
    }
    let path = configure(&server, &owner, "plain", Value::Null).await;
    let seen = reported(&path).await;
    let given: Vec<&str> = seen.keys().map(String::as_str).collect();
    for name in &given {
        assert!(["PATH", "LC_CTYPE"].contains(name), "{given:?}");
    }
}

#[tokio::test]
async fn a_program_gets_the_variables_that_its_entry_names() {
    let options = Options::default().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let (server, owner) = light_owner(options).await;
    for (name, value) in [("GITHUB_TOKEN", "ghp_1"), ("OTHER", "not for it")] {
        let params = json!({ "key": name, "value": value });
        owner.rpc("env.set", params).await.unwrap();
    }
    let env = json!({ "LOG_LEVEL": "debug", "TOKEN": { "vault": "GITHUB_TOKEN" } });
    let path = configure(&server, &owner, "named", env).await;
    let seen = reported(&path).await;
    assert_eq!(seen["LOG_LEVEL"], "debug");
    assert_eq!(seen["TOKEN"], "ghp_1");
    assert!(!seen.contains_key("GITHUB_TOKEN") && !seen.contains_key("OTHER"));
}

#[tokio::test]
async fn a_name_that_steers_a_program_takes_no_value_from_the_vault() {
    let (_server, owner) = light_owner(Options::default()).await;
    let env = "mcp.servers.files.env";
    set(&owner, "mcp.servers.files.command", json!("false"))
        .await
        .unwrap();
    for name in ["NODE_OPTIONS", "LD_PRELOAD", "https_proxy", "PYTHONPATH"] {
        let from_vault = json!({ name: { "vault": "KEY" } });
        let refused = set(&owner, env, from_vault).await;
        assert_eq!(refused, Err("INVALID_PARAMS".to_owned()), "{name}");
        set(&owner, env, json!({ name: "written here" }))
            .await
            .unwrap();
    }
    for wrong in [
        json!({ "A": { "vault": "B", "more": 1 } }),
        json!({ "A": { "vault": "not a name" } }),
        json!({ "A": { "env": "B" } }),
        json!({ "A": 1 }),
    ] {
        let refused = set(&owner, env, wrong.clone()).await;
        assert_eq!(refused, Err("INVALID_PARAMS".to_owned()), "{wrong}");
    }
    set(&owner, env, json!({ "A": { "vault": "B" } }))
        .await
        .unwrap();
}

/// Arguments often contain tokens, so no one may read them, like variables.
#[tokio::test]
async fn arguments_of_a_program_are_shown_nowhere() {
    const TOKEN: &str = "--token=tok-4711-of-the-owner";
    let (server, owner) = light_owner(Options::default()).await;
    let reader = server.api_key(&owner, &["operator.read"]).await;
    set(&owner, "mcp.servers.files.command", json!("false"))
        .await
        .unwrap();
    let args = "mcp.servers.files.args";
    let answer = set(&owner, args, json!([TOKEN, "b"])).await.unwrap();
    let shown = async |actor: &Actor, method: &str| {
        let answer = actor.rpc(method, json!({})).await;
        answer.unwrap().to_string()
    };
    let places = [
        answer.to_string(),
        shown(&reader, "config.get").await,
        shown(&reader, "config.describe").await,
        shown(&reader, "tools.list").await,
        shown(&owner, "audit.list").await,
        shown(&owner, "system.doctor").await,
    ];
    for place in places {
        assert!(!place.contains("tok-4711"), "{place}");
    }
    let refused = owner
        .rpc_reply("config.set", json!({ "key": args, "value": [TOKEN, 7] }))
        .await;
    let refused = refused.expect(200).to_string();
    assert!(!refused.contains("tok-4711"), "{refused}");
    let got = reader.rpc("config.get", json!({ "keys": [args] })).await;
    assert_eq!(got.unwrap()["values"][0]["secret"], true);
}

/// Waits until a node has started a server after this run, and it is in this state.
async fn until_run(node: &TestServer, name: &str, (after, state): (u64, McpState)) -> u64 {
    let mut board = node.app().services().tools.mcp().watch();
    let is_there = |status: &McpStatus| status.run > after && status.state == state;
    let waiting = board.wait_for(|board| board.get(name).is_some_and(is_there));
    let reached = tokio::time::timeout(Duration::from_mins(1), waiting).await;
    reached.unwrap().unwrap()[name].run
}

#[tokio::test]
async fn a_restart_reaches_every_node_and_a_test_those_on_which_the_server_is_not_connected() {
    let Some(database) = postgres().await else {
        return;
    };
    let options = |database| {
        let options = Options::default().database(database);
        options.env("PATH", "/usr/local/bin:/usr/bin:/bin")
    };
    let other = database.for_another_node();
    let (here, owner) = light_owner(options(database)).await;
    let there = TestServer::start(options(other)).await;
    for (name, args) in [("works", json!([SCRIPT])), ("fails", json!(["-c", ""]))] {
        let program = json!({ "name": name, "command": python().await, "args": args });
        owner.rpc("mcp.create", program).await.unwrap();
    }
    let works = until_run(&there, "works", (0, McpState::Connected)).await;
    let fails = until_run(&there, "fails", (0, McpState::Failed)).await;
    let restart = json!({ "name": "works" });
    owner.rpc("mcp.restart", restart).await.unwrap();
    let works = until_run(&there, "works", (works, McpState::Connected)).await;
    let run_here = here.app().services().tools.mcp().find("works").unwrap().run;

    for name in ["works", "fails"] {
        let test = json!({ "name": name });
        owner.rpc("mcp.test", test).await.unwrap();
    }
    until_run(&there, "fails", (fails, McpState::Failed)).await;
    let runs = |node: &TestServer| node.app().services().tools.mcp().find("works").unwrap().run;
    assert_eq!(runs(&there), works, "it is connected");
    assert_eq!(runs(&here), run_here, "its own request does not return");
}
