//! MCP over a real program.

use crate::harness::Harness;
use gatehouse_agents::{Audience, MAX_OUTPUT_BYTES};
use gatehouse_config::{McpServer, McpVariable};
use gatehouse_domain::Actor;
use gatehouse_tools::{McpState, McpStatus, ToolsSettings};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::Duration;

pub const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp_server.py");

pub fn program(command: &str, args: &[&str], env: &[(&str, &str)]) -> McpServer {
    let literal = |(name, value): &(&str, &str)| {
        let value = McpVariable::Literal(SecretString::from(*value));
        ((*name).to_owned(), value)
    };
    McpServer::Command {
        command: command.to_owned(),
        args: args.iter().map(|arg| SecretString::from(*arg)).collect(),
        env: env.iter().map(literal).collect(),
    }
}

/// Returns the program with variables whose values are in the vault.
fn python_with(of_vault: &[(&str, &str)]) -> McpServer {
    let mut made = python();
    if let McpServer::Command { env, .. } = &mut made {
        let names = of_vault.iter();
        env.extend(names.map(|(name, key)| {
            let value = McpVariable::Vault((*key).to_owned());
            ((*name).to_owned(), value)
        }));
    }
    made
}

#[expect(
    clippy::disallowed_methods,
    reason = "python3 is found where this test finds it"
)]
fn path() -> OsString {
    std::env::var_os("PATH").unwrap()
}

pub fn settings(servers: Vec<(&str, McpServer)>) -> ToolsSettings {
    let servers = servers.into_iter();
    ToolsSettings {
        mcp_servers: servers
            .map(|(name, server)| (name.to_owned(), server))
            .collect(),
        child_variables: vec![("PATH".to_owned(), path()), ("TZ".to_owned(), "UTC".into())],
        ..ToolsSettings::default()
    }
}

/// Returns the interpreter itself: `python3` may be a script that sets variables.
pub fn interpreter() -> &'static str {
    static FOUND: OnceLock<String> = OnceLock::new();
    FOUND.get_or_init(|| {
        let ask = ["-c", "import sys; print(sys.executable)"];
        let answer = std::process::Command::new("python3")
            .args(ask)
            .output()
            .unwrap();
        String::from_utf8(answer.stdout).unwrap().trim().to_owned()
    })
}

fn python() -> McpServer {
    program(
        interpreter(),
        &[SCRIPT],
        &[("TEST_TOKEN", "from-the-settings")],
    )
}

/// Waits until a server's status matches.
pub async fn until(harness: &Harness, server: &str, is: impl Fn(&McpStatus) -> bool) -> McpStatus {
    let mut board = harness.tools.mcp().watch();
    let there = board.wait_for(|board: &BTreeMap<_, _>| board.get(server).is_some_and(&is));
    let Ok(board) = tokio::time::timeout(Duration::from_mins(1), there).await else {
        panic!("{server}: {:?}", harness.tools.mcp().status())
    };
    board.unwrap()[server].clone()
}

pub fn connected(status: &McpStatus) -> bool {
    status.state == McpState::Connected
}

async fn connected_harness() -> Harness {
    let harness = Harness::open(false, settings(vec![("py-1", python())])).await;
    let status = harness.tools.mcp().status();
    assert_eq!((status.len(), status[0].state), (1, McpState::Starting));
    harness.background();
    harness
}

#[tokio::test]
async fn its_tools_are_trusted_and_bad_ones_are_left_out() {
    let harness = connected_harness().await;
    let status = until(&harness, "py-1", connected).await;
    assert_eq!(
        (status.tools, status.transport, status.problem),
        (9, "stdio", None)
    );
    let names: Vec<String> = harness
        .names()
        .into_iter()
        .filter(|n| n.starts_with("mcp__"))
        .collect();
    let expected = [
        "die",
        "echo",
        "environment",
        "fail",
        "grow",
        "huge",
        "large",
        "mixed",
        "refuse",
    ];
    assert_eq!(names, expected.map(|name| format!("mcp__py-1__{name}")));
    for name in names {
        let tool = harness.agents.tools().find(&name).unwrap();
        assert_eq!(tool.audience(), Audience::Trusted);
        assert_eq!(tool.parameters()["type"], "object");
    }
    let echo = harness.agents.tools().find("mcp__py-1__echo").unwrap();
    assert_eq!(echo.description(), "Says it again.");
    assert_eq!(echo.parameters()["required"], json!(["text"]));
    harness.stop().await;
}

#[tokio::test]
async fn calls_and_what_comes_back() {
    let harness = connected_harness().await;
    until(&harness, "py-1", connected).await;
    let call =
        async |tool: &str, input: Value| harness.call(&format!("mcp__py-1__{tool}"), input).await;
    let said = call("echo", json!({"text": "hé"})).await;
    assert_eq!(said.as_deref(), Ok("you said: hé"));
    let (mixed, files) = harness.call_for_files("mcp__py-1__mixed", json!({})).await;
    assert_eq!(
        mixed.unwrap(),
        "a[31mb\n[image image/png, 3 bytes]\n[image image/png, 72 bytes]\ninside"
    );
    // The first picture is damaged.
    let [picture] = &files[..] else {
        panic!("{files:?}")
    };
    assert_eq!(picture.pixels, Some((2, 1)));
    assert!(picture.picture.as_ref().unwrap().starts_with(b"\xff\xd8"));
    let huge = call("huge", json!({})).await.unwrap_err().message;
    assert!(huge.contains("larger than 4 MiB"), "{huge}");
    let large = call("large", json!({})).await.unwrap();
    assert!(large.len() == MAX_OUTPUT_BYTES && large.ends_with("x\n[cut]"));
    assert_eq!(
        call("fail", json!({})).await.unwrap_err().message,
        "it is broken"
    );
    let refused = call("refuse", json!({})).await.unwrap_err().message;
    assert_eq!(refused, "The MCP server py-1 refused: not here");
    assert!(call("echo", json!("text")).await.is_err());
    harness.stop().await;
}

#[tokio::test]
async fn its_environment_is_the_allow_list_and_what_it_is_given() {
    let program = python_with(&[("NAMED", "FROM_THE_VAULT"), ("PYTHONPATH", "PYTHONPATH")]);
    let harness = Harness::open(false, settings(vec![("py", program)])).await;
    harness.set_variable("FROM_THE_VAULT", "vault value").await;
    harness.set_variable("TEST_TOKEN", "not asked for").await;
    harness.set_variable("PYTHONPATH", "/tmp/elsewhere").await;
    harness.background();
    until(&harness, "py", connected).await;
    let text = harness
        .call("mcp__py__environment", json!({}))
        .await
        .unwrap();
    let seen: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
    // Python itself sets LC_CTYPE.
    let names: Vec<&str> = seen
        .keys()
        .map(String::as_str)
        .filter(|n| *n != "LC_CTYPE")
        .collect();
    assert_eq!(names, ["NAMED", "PATH", "TEST_TOKEN", "TZ"]);
    assert_eq!(seen["TEST_TOKEN"], "from-the-settings");
    assert_eq!(seen["NAMED"], "vault value");
    harness.stop().await;
}

#[tokio::test]
async fn a_changed_list_is_read_again_and_approved() {
    let harness = connected_harness().await;
    until(&harness, "py-1", connected).await;
    harness.call("mcp__py-1__grow", json!({})).await.unwrap();
    let grown = |status: &McpStatus| status.listed.iter().any(|tool| tool.tool == "grown");
    let status = until(&harness, "py-1", grown).await;
    assert_eq!(status.tools, 9);
    let name = "mcp__py-1__grown".to_owned();
    assert!(!harness.names().contains(&name));
    let mcp = harness.tools.mcp();
    let actor = Actor::cli();
    let status = mcp
        .approve(&actor, "py-1", None, Some(&status.digest))
        .await;
    assert_eq!(status.unwrap().tools, 10);
    assert!(harness.names().contains(&name));
    harness.stop().await;
}

#[tokio::test]
async fn a_server_that_dies_is_restarting_and_comes_back() {
    let harness = connected_harness().await;
    until(&harness, "py-1", connected).await;
    let old = harness.agents.tools().find("mcp__py-1__echo").unwrap();
    // The call may have taken effect, so the model is asked not to repeat it unchecked.
    let refusal = harness.refusal("mcp__py-1__die", json!({})).await;
    assert_eq!(
        refusal,
        "The MCP server py-1 returned no response. It is not known whether the call took effect. Check that before you \
         repeat it."
    );
    let failed = until(&harness, "py-1", |status| status.state == McpState::Failed).await;
    assert_eq!((failed.tools, failed.problem.is_some()), (0, true));
    // The tools of the failed server are still listed. A call returns the reason of the failure.
    assert!(harness.names().iter().any(|name| name == "mcp__py-1__echo"));
    let refusal = harness
        .refusal("mcp__py-1__echo", json!({"text": "now"}))
        .await;
    assert!(refusal.contains("is restarting"), "{refusal}");
    drop(old);
    until(&harness, "py-1", connected).await;
    let said = harness
        .call("mcp__py-1__echo", json!({"text": "again"}))
        .await;
    assert_eq!(said.as_deref(), Ok("you said: again"));
    harness.stop().await;
}

#[tokio::test]
async fn tools_stay_known_through_a_restart_and_go_with_their_server() {
    let harness = Harness::open(false, settings(vec![("py", python())])).await;
    harness.background();
    until(&harness, "py", connected).await;
    let is_known = || harness.names().contains(&"mcp__py__echo".to_owned());
    // A program that never connects replaces the server.
    let silent = program(interpreter(), &["-c", "import time; time.sleep(60)"], &[]);
    harness
        .tools
        .update_settings(settings(vec![("py", silent)]));
    until(&harness, "py", |status| status.run > 1).await;
    assert!(is_known());
    let refusal = harness
        .refusal("mcp__py__echo", json!({"text": "now"}))
        .await;
    assert!(refusal.contains("is restarting"), "{refusal}");
    // Deleting a server removes its tools, even while it is not connected.
    harness.tools.update_settings(settings(Vec::new()));
    let mut board = harness.tools.mcp().watch();
    board.wait_for(BTreeMap::is_empty).await.unwrap();
    assert!(!is_known());
    harness.stop().await;
}

#[tokio::test]
async fn what_cannot_be_started_is_said() {
    let harness = Harness::open(
        false,
        settings(vec![
            ("missing", program("no-such-program-here", &[], &[])),
            ("silent", program(interpreter(), &["-c", "pass"], &[])),
            (
                "noise",
                program(interpreter(), &["-c", "print('hello')"], &[]),
            ),
            ("shell", program("python3 -c 'print(1)'; true", &[], &[])),
        ]),
    )
    .await;
    harness.background();
    for (server, said) in [
        ("missing", "cannot be started"),
        ("silent", "handshake failed"),
        ("noise", "handshake failed"),
        ("shell", "cannot be started"),
    ] {
        let failed = until(&harness, server, |status| status.state == McpState::Failed).await;
        assert!(failed.problem.unwrap().contains(said), "{server}");
    }
    harness.stop().await;
}

#[tokio::test]
async fn settings_start_stop_and_leave_alone() {
    let harness = Harness::open(false, settings(vec![("a", python()), ("b", python())])).await;
    harness.background();
    let before = until(&harness, "a", connected).await;
    until(&harness, "b", connected).await;
    let changed = program(interpreter(), &[SCRIPT], &[("TEST_TOKEN", "another")]);
    harness
        .tools
        .update_settings(settings(vec![("a", python()), ("c", changed)]));
    until(&harness, "c", connected).await;
    let names: Vec<String> = harness
        .tools
        .mcp()
        .status()
        .into_iter()
        .map(|s| s.name)
        .collect();
    assert_eq!(names, ["a", "c"]);
    assert!(
        !harness
            .names()
            .iter()
            .any(|name| name.starts_with("mcp__b__"))
    );
    let after = until(&harness, "a", connected).await;
    assert_eq!(before.run, after.run, "it was started again");
    harness.stop().await;
}

#[tokio::test]
async fn it_waits_for_a_sealed_vault() {
    let needs = python_with(&[("NAMED", "FROM_THE_VAULT")]);
    let servers = vec![("py", needs), ("other", python())];
    let harness = Harness::open(false, settings(servers)).await;
    let password = SecretString::from("correct horse battery");
    let initialized = harness
        .secrets
        .initialize(&Actor::cli(), password.clone())
        .await;
    drop(initialized.unwrap());
    harness.set_variable("FROM_THE_VAULT", "vault value").await;
    harness.secrets.seal(&Actor::cli()).await.unwrap();
    harness.background();
    let waiting = until(&harness, "py", |s| s.state == McpState::WaitingForVault).await;
    assert!(waiting.problem.unwrap().contains("sealed"));
    // A server that needs nothing from the vault does not wait.
    until(&harness, "other", connected).await;
    harness
        .secrets
        .unseal_with_password(&Actor::cli(), &password)
        .await
        .unwrap();
    until(&harness, "py", connected).await;
    let text = harness
        .call("mcp__py__environment", json!({}))
        .await
        .unwrap();
    assert!(text.contains("vault value"));
    harness.stop().await;
}

#[tokio::test]
async fn a_missing_variable_is_reported_with_what_to_do() {
    let needs = python_with(&[("NAMED", "MISSING_ONE")]);
    let harness = Harness::open(false, settings(vec![("py", needs)])).await;
    harness.set_variable("ANOTHER", "vault value").await;
    harness.background();
    let failed = until(&harness, "py", |status| status.state == McpState::Failed).await;
    let problem = failed.problem.unwrap();
    assert!(
        problem.contains("MISSING_ONE") && problem.contains("env.set"),
        "{problem}"
    );
    harness.set_variable("MISSING_ONE", "now there").await;
    until(&harness, "py", connected).await;
    harness.stop().await;
}

#[tokio::test]
async fn stopping_ends_the_program_and_what_it_started() {
    let directory = std::env::temp_dir().join(format!("gatehouse-mcp-{}", std::process::id()));
    let fifo = directory.to_str().unwrap();
    // The program and its child hold the lock; both must exit to release it.
    let script = "import fcntl, os, runpy, sys\n\
        lock = open(sys.argv[1], 'w')\n\
        fcntl.flock(lock, fcntl.LOCK_EX)\n\
        os.set_inheritable(lock.fileno(), True)\n\
        if os.fork() == 0:\n\
        \x20   import signal\n\
        \x20   os.close(0); os.close(1); os.close(2)\n\
        \x20   while True: signal.pause()\n\
        runpy.run_path(sys.argv[2])\n";
    let server = program(interpreter(), &["-c", script, fifo, SCRIPT], &[]);
    let harness = Harness::open(false, settings(vec![("py", server)])).await;
    harness.background();
    until(&harness, "py", connected).await;
    let locked = |wait: &str| {
        let check = "import fcntl, sys\n\
            try: fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | (0 if sys.argv[2] else fcntl.LOCK_NB))\n\
            except BlockingIOError: sys.exit(1)\n";
        let mut command = tokio::process::Command::new(interpreter());
        command.args(["-c", check, fifo, wait]);
        async move { !command.status().await.unwrap().success() }
    };
    assert!(locked("").await);
    harness.stop().await;
    let free = tokio::time::timeout(Duration::from_secs(30), locked("wait")).await;
    assert_eq!(free.ok(), Some(false), "the program's child is still there");
    std::fs::remove_file(&directory).unwrap();
}

/// An approval or a policy entry names exactly one tool.
#[tokio::test]
async fn tools_with_similar_names_stay_distinct() {
    let alike = || program(interpreter(), &[SCRIPT, "collide"], &[]);
    let servers = vec![("x", alike()), ("x.y", alike()), ("x_y", alike())];
    let harness = Harness::open(false, settings(servers)).await;
    harness.background();
    for server in ["x", "x.y", "x_y"] {
        let status = until(&harness, server, connected).await;
        assert_eq!(status.tools, 11, "{server}");
    }
    let mut said = Vec::new();
    let names = harness.names().into_iter();
    for name in names.filter(|name| name.contains("__a_b")) {
        said.push(harness.call(&name, json!({})).await.unwrap());
    }
    said.sort();
    let expected = ["this is a.b", "this is a_b"].map(|text| [text; 3]);
    assert_eq!(said, expected.concat());
    assert!(harness.names().contains(&"mcp__x__a_b".to_owned()));
    harness.stop().await;
}
