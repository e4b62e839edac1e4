//! A server in its own process, and single commands.

use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use tempfile::TempDir;

pub const BINARY: &str = env!("CARGO_BIN_EXE_gatehouse");
pub const PASSWORD: &str = "correct horse battery staple";
/// An address where no server listens.
pub const NOWHERE: &str = "127.0.0.1:9";

/// A data directory, and the environment of every command that uses it.
pub struct Installation {
    folder: TempDir,
    pub environment: Vec<(String, String)>,
}

impl Installation {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
        }
    }

    pub fn env(&mut self, name: &str, value: impl Into<String>) {
        self.environment.push((name.to_owned(), value.into()));
    }

    /// Adds a provider `fake` at this base URL and makes its model `m1` the default.
    pub fn model(&mut self, base_url: &url::Url) {
        self.env(
            "SERVICE_MODELS__PROVIDERS__FAKE__BASE_URL",
            base_url.as_str(),
        );
        self.env("SERVICE_MODELS__PROVIDERS__FAKE__API_KEY", "sk-test");
        self.env("SERVICE_MODELS__DEFAULT", "fake/m1");
    }

    /// Returns the data directory. The first command creates it.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Writes a file next to the data directory.
    pub async fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        if let Some(parent) = path.parent() {
            tokio::fs::create_dir_all(parent).await.unwrap();
        }
        tokio::fs::write(&path, text).await.unwrap();
        path
    }

    /// Returns the standard error of the last server.
    pub async fn log(&self) -> String {
        tokio::fs::read_to_string(self.folder.path().join("stderr"))
            .await
            .unwrap()
    }

    /// Creates an API key with these scopes, as an operator would.
    pub async fn make_key(&self, server: &Server, scopes: &[&str]) -> String {
        let password = self.file("password", &format!("{PASSWORD}\n")).await;
        let mut command = self.prepared(Command::new(BINARY));
        command.env("SERVICE_PASSWORD_FILE", password);
        command.args(["--url", &server.url, "auth", "create-key", "--no-store"]);
        for scope in scopes {
            command.args(["--scope", scope]);
        }
        command.arg("--data-dir").arg(self.data_dir());
        let ran = CommandOutput(command.output().unwrap());
        ran.ok().trim().to_owned()
    }

    /// Prepares a command with this place's environment.
    pub fn prepared(&self, mut command: Command) -> Command {
        command
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null());
        if let Ok(path) = std::env::current_dir() {
            command.current_dir(path);
        }
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, args: &[&str]) -> CommandOutput {
        let mut command = self.prepared(Command::new(BINARY));
        CommandOutput(
            command
                .args(args)
                .arg("--data-dir")
                .arg(self.data_dir())
                .output()
                .unwrap(),
        )
    }

    /// Starts the server on a free port.
    pub fn start(&self) -> Server {
        let mut command = Command::new(BINARY);
        command.arg("serve");
        self.start_as(command)
    }

    /// Starts the server with this command. The remaining arguments are appended.
    pub fn start_as(&self, command: Command) -> Server {
        let log = std::fs::File::create(self.folder.path().join("stderr")).unwrap();
        self.start_with(command, log.into())
    }

    pub fn start_with(&self, command: Command, stderr: Stdio) -> Server {
        let mut command = self.prepared(command);
        command
            .args(["--bind", "127.0.0.1:0", "--data-dir"])
            .arg(self.data_dir());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let first = line(&mut stdout);
        let Some(url) = first.strip_prefix("Listening on ") else {
            panic!("unexpected first line: {first:?}");
        };
        Server {
            url: url.to_owned(),
            child,
            stdout,
        }
    }
}

/// A finished command.
pub struct CommandOutput(pub Output);

impl CommandOutput {
    pub fn code(&self) -> Option<i32> {
        self.0.status.code()
    }

    pub fn stdout(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    pub fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    /// Returns the standard output of a successful command.
    #[track_caller]
    pub fn ok(&self) -> String {
        assert_eq!(self.code(), Some(0), "{}{}", self.stdout(), self.stderr());
        self.stdout()
    }

    /// Returns the standard output of a successful command, as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.ok()).unwrap()
    }

    /// Returns the standard error of a command that failed with this code.
    #[track_caller]
    pub fn failed(&self, code: i32) -> String {
        assert_eq!(
            self.code(),
            Some(code),
            "{}{}",
            self.stdout(),
            self.stderr()
        );
        self.stderr()
    }
}

fn line(reader: &mut impl BufRead) -> String {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    line.trim_end_matches('\n').to_owned()
}

/// A running server, which is killed on drop.
pub struct Server {
    pub url: String,
    pub child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Server {
    /// Returns the next line of standard output.
    pub fn line(&mut self) -> String {
        line(&mut self.stdout)
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Waits for the exit. Returns the status and the rest of standard output.
    pub fn wait(mut self) -> (ExitStatus, String) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap(), rest)
    }

    /// Stops the server as an operator does.
    #[track_caller]
    pub fn stop(self) -> String {
        self.signal(rustix::process::Signal::TERM);
        let (status, rest) = self.wait();
        assert_eq!(status.code(), Some(0));
        rest
    }

    /// Fetches a path as text.
    pub async fn text(&self, path: &str) -> String {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client.get(format!("{}{path}", self.url)).send().await;
        answer.unwrap().text().await.unwrap()
    }

    /// Kills the server with SIGKILL. The page cache keeps what it has written.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub async fn call(&self, method: Method, path: &str, key: &str, body: Option<Value>) -> Reply {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut request = client.request(method, format!("{}{path}", self.url));
        if !key.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status();
        Reply {
            status,
            body: response.json().await.unwrap_or(Value::Null),
        }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, "", None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.call(Method::POST, path, "", Some(body)).await
    }

    /// Calls a method and returns the response body.
    pub async fn rpc(&self, key: &str, method: &str, params: Value) -> Value {
        let call = json!({ "id": 1, "method": method, "params": params });
        self.call(Method::POST, "/api/rpc", key, Some(call))
            .await
            .body
    }

    /// Sets the password and returns the recovery key.
    pub async fn set_up(&self) -> String {
        let reply = self
            .post("/api/auth/setup", json!({ "password": PASSWORD }))
            .await;
        assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
        reply.body["recovery_key"].as_str().unwrap().to_owned()
    }

    pub async fn vault_status(&self) -> String {
        let reply = self.get("/api/auth/vault/status").await;
        reply.body["status"].as_str().unwrap().to_owned()
    }
}

pub struct Reply {
    pub status: StatusCode,
    pub body: Value,
}

/// Returns the permissions of a file.
pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// Creates an API key while the server is stopped.
pub async fn make_key(installation: &Installation) -> String {
    let password = installation
        .file("password", &format!("{PASSWORD}\n"))
        .await;
    let mut command = installation.prepared(Command::new(BINARY));
    command.env("SERVICE_PASSWORD_FILE", password);
    command
        .args(["auth", "create-key", "--no-store", "--data-dir"])
        .arg(installation.data_dir());
    let ran = CommandOutput(command.output().unwrap());
    ran.ok().trim().to_owned()
}
