//! Stored secrets in programs that the owner runs: `env exec` and `ssh-keys agent`, with OpenSSH's own
//! clients.

use crate::process::{BINARY, CommandOutput, Installation, PASSWORD, Server, make_key, mode};
use gatehouse_doubles::prepared;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longer than a program takes to start.
const LONG: Duration = Duration::from_mins(1);

/// Returns a server with an open vault, and an API key with all scopes.
pub async fn ready() -> (Installation, Server, String) {
    let installation = Installation::new();
    let server = installation.start();
    server.set_up().await;
    server.stop();
    let key = make_key(&installation).await;
    let server = installation.start();
    let login = json!({ "password": PASSWORD });
    server.post("/api/auth/login", login).await;
    assert_eq!(server.vault_status().await, "unsealed");
    (installation, server, key)
}

/// Prepares a command against that server. The arguments of its program stay last.
fn command(installation: &Installation, server: &Server, args: &[&str]) -> Command {
    let mut command = installation.prepared(Command::new(BINARY));
    command.arg("--data-dir").arg(installation.data_dir());
    command.args(["--url", &server.url]).args(args);
    command
}

pub async fn audit(server: &Server, key: &str, kind: &str) -> Vec<Value> {
    let answer = server.rpc(key, "audit.list", json!({ "kind": kind })).await;
    let mut fields = answer["result"].as_object().unwrap().values();
    let rows = fields.find_map(Value::as_array);
    rows.unwrap().clone()
}

#[tokio::test]
async fn env_exec_runs_a_program_with_the_variables_and_says_so_in_the_audit_log() {
    let (installation, server, key) = ready().await;
    for (name, value) in [
        ("TOKEN", "s3cret value"),
        ("OTHER", "o"),
        ("NODE_OPTIONS", "--require=/tmp/evil.js"),
    ] {
        let set = json!({ "key": name, "value": value });
        assert_eq!(
            server.rpc(&key, "env.set", set).await["result"]["encrypted"],
            1
        );
    }
    let run = |args: &[&str]| {
        let mut command = command(&installation, &server, &[&["env", "exec"], args].concat());
        command.env("SERVICE_API_KEY", &key);
        CommandOutput(command.output().unwrap())
    };
    let script = "echo \"$TOKEN|$OTHER|$NODE_OPTIONS|$SERVICE_API_KEY\"; exit 3";
    let ran = run(&["--", "/bin/sh", "-c", script]);
    assert_eq!(
        (ran.code(), ran.stdout().as_str()),
        (Some(3), "s3cret value|o||\n")
    );
    assert!(ran.stderr().contains("NODE_OPTIONS"), "{}", ran.stderr());
    let ran = run(&["--only", "OTHER", "--", "/bin/sh", "-c", script]);
    assert_eq!(ran.stdout(), "|o||\n");
    let refused = run(&["--only", "OTHER,NONE", "--", "true"]).failed(1);
    let expected = "No environment variable is named NONE. (NOT_FOUND)";
    assert!(refused.contains(expected), "{refused}");
    assert!(
        run(&["--", "/no/such/program"])
            .failed(127)
            .contains("/no/such/program")
    );
    assert_eq!(run(&[]).code(), Some(2));

    let rows = audit(&server, &key, "env.revealed").await;
    assert_eq!(rows.len(), 3, "{rows:?}");
    let first = rows.last().unwrap()["detail"].to_string();
    assert!(
        first.contains("TOKEN") && first.contains("/bin/sh"),
        "{first}"
    );
    assert!(!first.contains("s3cret"));

    // Without a key, the password is used.
    let file = installation
        .file("password", &format!("{PASSWORD}\n"))
        .await;
    let mut by_password = command(
        &installation,
        &server,
        &["env", "exec", "--only", "TOKEN", "--"],
    );
    by_password.args(["/bin/sh", "-c", "echo $TOKEN"]);
    by_password.env("SERVICE_PASSWORD_FILE", file);
    assert_eq!(
        CommandOutput(by_password.output().unwrap()).ok(),
        "s3cret value\n"
    );
    server.stop();
}

#[tokio::test]
async fn only_an_admin_key_or_a_confirmed_session_reads_values() {
    let installation = Installation::new();
    let server = installation.start();
    let params = json!({ "program": "sh" });
    // A call that is refused before dispatch gets a plain HTTP error.
    let code = |answer: &Value| {
        let code = answer["error"]["data"]["code"].as_str();
        code.or(answer["code"].as_str()).unwrap().to_owned()
    };
    // Before setup, a local caller may do everything else.
    let refused = server.rpc("", "env.reveal", params.clone()).await;
    assert_eq!(code(&refused), "FORBIDDEN", "{refused}");
    server.set_up().await;
    server.stop();
    let admin = make_key(&installation).await;
    let server = installation.start();
    let sealed = server.rpc(&admin, "env.reveal", params.clone()).await;
    assert_eq!(code(&sealed), "VAULT_SEALED");
    server
        .post("/api/auth/login", json!({ "password": PASSWORD }))
        .await;
    let body = json!({ "label": "w", "scopes": ["operator.write"] });
    let made = server
        .call(
            reqwest::Method::POST,
            "/api/auth/api-keys",
            &admin,
            Some(body),
        )
        .await;
    let narrow = made.body["key"].as_str().unwrap();
    for (method, params) in [
        ("env.reveal", params.clone()),
        (
            "ssh_keys.sign",
            json!({ "name": "k", "data": "", "program": "ssh" }),
        ),
    ] {
        let refused = server.rpc(narrow, method, params).await;
        assert_eq!(code(&refused), "FORBIDDEN", "{refused}");
    }
    let read = server.rpc(&admin, "env.reveal", params).await;
    assert_eq!(read["result"]["variables"], json!([]), "{read}");
    server.stop();
}

/// A running agent, which is killed on drop.
struct Agent(Child, PathBuf);

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn start_agent(installation: &Installation, server: &Server, key: &str, socket: &Path) -> Agent {
    let socket_text = socket.to_str().unwrap();
    let args = ["ssh-keys", "agent", "--socket", socket_text];
    let mut command = command(installation, server, &args);
    command.env("SERVICE_API_KEY", key);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    let expected = format!("SSH_AUTH_SOCK='{socket_text}'; export SSH_AUTH_SOCK;\n");
    assert_eq!(line, expected);
    Agent(child, socket.to_owned())
}

/// Runs one of OpenSSH's programs, which this test requires.
fn openssh(agent: &Agent, program: &str, args: &[&str]) -> CommandOutput {
    let mut command = Command::new(program);
    command.args(args).env("SSH_AUTH_SOCK", &agent.1);
    CommandOutput(command.stdin(Stdio::null()).output().unwrap())
}

#[tokio::test]
async fn the_agent_lists_and_signs_for_openssh_and_each_use_is_in_the_audit_log() {
    let (installation, server, key) = ready().await;
    let made = server
        .rpc(&key, "ssh_keys.generate", json!({ "name": "deploy" }))
        .await;
    let rsa = include_str!("../../../secrets/tests/it/keys/rsa_openssh.pem");
    let import = json!({ "name": "rsa", "private_key": rsa });
    let imported = server.rpc(&key, "ssh_keys.import", import).await;
    let folder = installation.data_dir().join("private");
    let agent = start_agent(&installation, &server, &key, &folder.join("agent.sock"));
    assert_eq!((mode(&folder), mode(&agent.1)), (0o700, 0o600));

    let listed = openssh(&agent, "ssh-add", &["-l"]).ok();
    for key in [&made, &imported] {
        let fingerprint = key["result"]["fingerprint"].as_str().unwrap();
        assert!(listed.contains(fingerprint), "{listed}");
    }
    let message = installation.file("message", "what is signed").await;
    let message = message.to_str().unwrap();
    for (name, key) in [("deploy", &made), ("rsa", &imported)] {
        let public = key["result"]["public_key"].as_str().unwrap();
        let public_file = installation.file(&format!("{name}.pub"), public).await;
        let public_file = public_file.to_str().unwrap();
        let sign = ["-Y", "sign", "-f", public_file, "-n", "file", message];
        openssh(&agent, "ssh-keygen", &sign).ok();
        let allowed = installation
            .file("allowed", &format!("me {public}\n"))
            .await;
        let allowed = allowed.to_str().unwrap();
        let signature = format!("{message}.sig");
        let verify = [
            "-Y", "verify", "-f", allowed, "-I", "me", "-n", "file", "-s", &signature,
        ];
        let mut verify_command = Command::new("ssh-keygen");
        let input = std::fs::File::open(message).unwrap();
        let verified = verify_command.args(verify).stdin(input).output().unwrap();
        assert!(
            CommandOutput(verified)
                .ok()
                .contains("Good \"file\" signature")
        );
        tokio::fs::remove_file(&signature).await.unwrap();
    }
    let rows = audit(&server, &key, "ssh_key.used").await;
    assert_eq!(rows.len(), 2, "{rows:?}");
    let detail = rows[1]["detail"].to_string();
    assert!(
        detail.contains("deploy") && detail.contains("ssh-keygen"),
        "{detail}"
    );

    // The agent refuses new keys, a sealed vault signs nothing, and the socket is removed with the agent.
    let private = installation.file("k", rsa).await;
    rustix::fs::chmod(&private, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let added = openssh(&agent, "ssh-add", &[private.to_str().unwrap()]);
    assert_ne!(added.code(), Some(0));
    server
        .call(
            reqwest::Method::POST,
            "/api/auth/vault/seal",
            &key,
            Some(json!({})),
        )
        .await;
    let public_file = installation.data_dir().parent().unwrap().join("rsa.pub");
    let sign = [
        "-Y",
        "sign",
        "-f",
        public_file.to_str().unwrap(),
        "-n",
        "file",
        message,
    ];
    assert_ne!(openssh(&agent, "ssh-keygen", &sign).code(), Some(0));
    let id = rustix::process::Pid::from_child(&agent.0);
    rustix::process::kill_process(id, Signal::TERM).unwrap();
    let mut agent = agent;
    assert!(agent.0.wait().unwrap().success());
    assert!(!agent.1.exists());
    server.stop();
}

/// OpenSSH's server on this machine, for the user of the tests. It is killed on drop.
struct Sshd(Child);

impl Drop for Sshd {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Sshd {
    /// Starts the server with one key that may log in. Returns `None` if the test command could not
    /// prepare it.
    async fn start(installation: &Installation, public_key: &str) -> Option<(Self, u16)> {
        let program = prepared("GATEHOUSE_TEST_SSHD", "OpenSSH's server")?;
        let host_key = installation.file("sshd/note", "").await;
        let host_key = host_key.with_file_name("host_key");
        let host_key = host_key.to_str().unwrap();
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", host_key]);
        assert!(keygen.status().unwrap().success());
        let keys = installation.file("sshd/keys", public_key).await;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {host_key}\nAuthorizedKeysFile {}\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             PidFile none\nPermitRootLogin prohibit-password\n",
            keys.display()
        );
        let settings = installation.file("sshd/settings", &settings).await;
        let mut command = Command::new(program);
        command.arg("-D").arg("-f").arg(settings);
        let server = Self(command.stdin(Stdio::null()).spawn().unwrap());
        let accepts = async {
            while tokio::net::TcpStream::connect(("127.0.0.1", port))
                .await
                .is_err()
            {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LONG, accepts).await.unwrap();
        Some((server, port))
    }
}

#[tokio::test]
async fn a_stored_key_logs_in_at_openssh_s_server() {
    let (installation, server, key) = ready().await;
    let make = |name| server.rpc(&key, "ssh_keys.generate", json!({ "name": name }));
    let deploy = make("deploy").await;
    let public_key = deploy["result"]["public_key"].as_str().unwrap();
    let Some((_sshd, port)) = Sshd::start(&installation, public_key).await else {
        server.stop();
        return;
    };
    let folder = installation.data_dir().join("private");
    let agent = start_agent(&installation, &server, &key, &folder.join("agent.sock"));
    let user = Command::new("id").arg("-un").output().unwrap().stdout;
    let target = format!("{}@127.0.0.1", String::from_utf8(user).unwrap().trim());
    let port = port.to_string();
    let log_in = || {
        let known = "UserKnownHostsFile=/dev/null";
        let options = [
            "StrictHostKeyChecking=no",
            known,
            "BatchMode=yes",
            "LogLevel=ERROR",
        ];
        let options = options.iter().flat_map(|option| ["-o", option]);
        let args = ["-F", "none", "-p", &port].into_iter().chain(options);
        let args: Vec<&str> = args.chain([target.as_str(), "echo logged in"]).collect();
        openssh(&agent, "ssh", &args)
    };
    assert_eq!(log_in().ok().trim(), "logged in");
    let rows = audit(&server, &key, "ssh_key.used").await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert!(rows[0]["detail"].to_string().contains("deploy"), "{rows:?}");
    // A key that the server does not know.
    make("other").await;
    let gone = json!({ "name": "deploy" });
    server.rpc(&key, "ssh_keys.delete", gone).await;
    assert_ne!(log_in().code(), Some(0));
    drop(agent);
    server.stop();
}

#[tokio::test]
async fn an_agent_needs_a_folder_of_its_own_and_a_terminal_to_ask_on() {
    let (installation, server, key) = ready().await;
    let open = installation.file("open/x", "").await;
    let open = open.parent().unwrap();
    rustix::fs::chmod(open, rustix::fs::Mode::from_raw_mode(0o755)).unwrap();
    let socket = open.join("agent.sock");
    let run = |args: &[&str]| {
        let mut command = command(
            &installation,
            &server,
            &[&["ssh-keys", "agent"], args].concat(),
        );
        command.env("SERVICE_API_KEY", &key);
        CommandOutput(command.output().unwrap())
    };
    let refused = run(&["--socket", socket.to_str().unwrap()]);
    assert!(
        refused.failed(1).contains("chmod 700"),
        "{}",
        refused.stderr()
    );
    assert!(!socket.exists());
    let refused = run(&["--confirm"]);
    assert!(
        refused.failed(2).contains("no terminal"),
        "{}",
        refused.stderr()
    );
    server.stop();
}
