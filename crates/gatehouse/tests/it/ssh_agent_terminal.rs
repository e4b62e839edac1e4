//! `gatehouse ssh-keys agent --confirm`, which asks on its terminal before each use of a key.

use crate::own_programs::{audit, ready};
use crate::process::{CommandOutput, Installation};
use crate::terminal::{CTRL_C, Terminal};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Begins a signature with OpenSSH's program.
fn sign(socket: &Path, public_key: &Path, message: &Path) -> Child {
    let mut command = Command::new("ssh-keygen");
    command.env("SSH_AUTH_SOCK", socket);
    command.args(["-Y", "sign", "-n", "file", "-f"]);
    command.arg(public_key).arg(message).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Starts the agent. Returns it with the path of its socket.
fn agent(installation: &mut Installation, url: &str, key: &str) -> (Terminal, PathBuf) {
    installation.env("SERVICE_API_KEY", key);
    let socket = installation.data_dir().join("private/agent.sock");
    let path = socket.to_str().unwrap();
    let args = [
        "--url",
        url,
        "ssh-keys",
        "agent",
        "--confirm",
        "--socket",
        path,
    ];
    let mut terminal = Terminal::start(installation, &args);
    terminal.expect("export SSH_AUTH_SOCK;");
    (terminal, socket)
}

#[tokio::test]
async fn each_use_of_a_key_is_asked_about() {
    let (mut installation, server, key) = ready().await;
    let made = json!({ "name": "deploy" });
    let made = server.rpc(&key, "ssh_keys.generate", made).await;
    let public = made["result"]["public_key"].as_str().unwrap();
    let public_key = installation.file("deploy.pub", public).await;
    let message = installation.file("message", "what is signed").await;
    let (mut terminal, socket) = agent(&mut installation, &server.url, &key);

    let mut list = Command::new("ssh-add");
    let listed = list.arg("-l").env("SSH_AUTH_SOCK", &socket).output();
    let listed = CommandOutput(listed.unwrap()).ok();
    assert!(listed.contains("deploy"), "a list needs no yes: {listed}");

    // The default answer is no.
    for denial in ["n", ""] {
        let signing = sign(&socket, &public_key, &message);
        terminal.expect("Allow ssh-keygen (process ");
        terminal.expect(") to use the key deploy? [y/N] ");
        terminal.enter(denial);
        terminal.expect("the use of the key deploy was denied");
        let refused = CommandOutput(signing.wait_with_output().unwrap());
        assert_ne!(refused.code(), Some(0));
    }
    assert_eq!(audit(&server, &key, "ssh_key.used").await.len(), 0);

    let signing = sign(&socket, &public_key, &message);
    terminal.expect("to use the key deploy? [y/N] ");
    terminal.enter("y");
    CommandOutput(signing.wait_with_output().unwrap()).ok();
    assert_eq!(audit(&server, &key, "ssh_key.used").await.len(), 1);
    server.stop();
}

#[tokio::test]
async fn ctrl_c_ends_the_agent_while_it_asks() {
    let (mut installation, server, key) = ready().await;
    let made = json!({ "name": "deploy" });
    let made = server.rpc(&key, "ssh_keys.generate", made).await;
    let public = made["result"]["public_key"].as_str().unwrap();
    let public_key = installation.file("deploy.pub", public).await;
    let message = installation.file("message", "what is signed").await;
    let (mut terminal, socket) = agent(&mut installation, &server.url, &key);
    let signing = sign(&socket, &public_key, &message);
    terminal.expect("to use the key deploy? [y/N] ");
    terminal.press(CTRL_C);
    let (status, rest) = terminal.wait();
    assert!(status.success(), "{rest}");
    assert!(!socket.exists());
    let refused = CommandOutput(signing.wait_with_output().unwrap());
    assert_ne!(refused.code(), Some(0));
    assert_eq!(audit(&server, &key, "ssh_key.used").await.len(), 0);
    server.stop();
}

/// The second program waits while the user is asked about the first one.
#[tokio::test]
async fn a_question_ends_when_its_program_has_gone() {
    let (mut installation, server, key) = ready().await;
    let made = json!({ "name": "deploy" });
    let made = server.rpc(&key, "ssh_keys.generate", made).await;
    let public = made["result"]["public_key"].as_str().unwrap();
    let public_key = installation.file("deploy.pub", public).await;
    let message = installation.file("message", "what is signed").await;
    let (mut terminal, socket) = agent(&mut installation, &server.url, &key);
    let mut first = sign(&socket, &public_key, &message);
    terminal.expect("to use the key deploy? [y/N] ");
    let second = sign(&socket, &public_key, &message);
    terminal.press("y");
    terminal.expect("y");
    first.kill().unwrap();
    first.wait().unwrap();
    terminal.expect("it closed its connection before an answer");
    // Input for the first question does not answer the second one.
    terminal.expect(&format!("Allow ssh-keygen (process {})", second.id()));
    terminal.expect("to use the key deploy? [y/N] ");
    terminal.enter("");
    terminal.expect("the use of the key deploy was denied");
    let refused = CommandOutput(second.wait_with_output().unwrap());
    assert_ne!(refused.code(), Some(0));
    assert_eq!(audit(&server, &key, "ssh_key.used").await.len(), 0);
    server.stop();
}
