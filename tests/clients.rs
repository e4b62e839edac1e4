//! Runs clients of other products, which `cargo xtask test` installs. A directory `tests/*-clients` has one program for
//! Python and one for Node; each reads an order from standard input and writes an answer to standard output. Test crates
//! include this file with `#[path]`, because none of them is below all others.

use serde_json::Value;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A client in its language.
pub(crate) struct Client {
    pub(crate) language: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
    folder: PathBuf,
}

/// The clients in the directory that this variable names. Without it the tests are skipped with a message, or fail in
/// a strict run.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment lists what tests may use"
)]
pub(crate) fn clients(what: &str, variable: &str) -> Vec<Client> {
    let Some(folder) = std::env::var_os(variable).filter(|path| !path.is_empty()) else {
        println!("LEFT OUT: {what}; set {variable}, or run cargo xtask test");
        let strict = std::env::var_os("GATEHOUSE_TEST_STRICT").is_some_and(|value| value == "1");
        assert!(
            !strict,
            "GATEHOUSE_TEST_STRICT=1 and there is no {variable}"
        );
        return Vec::new();
    };
    let folder = PathBuf::from(folder);
    let of = |language, program, arguments| Client {
        language,
        program,
        arguments,
        folder: folder.clone(),
    };
    let python = folder.join("python/bin/python");
    vec![
        of("Python", python, &["-B", "client.py"]),
        of("Node", PathBuf::from("node"), &["client.mjs"]),
    ]
}

impl Client {
    /// Runs the client with this order; returns its answer.
    pub(crate) async fn run(&self, order: &Value) -> Value {
        let mut command = Command::new(&self.program);
        command
            .args(self.arguments)
            .current_dir(&self.folder)
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        for vendor in ["OPENAI", "ANTHROPIC"] {
            for name in ["API_KEY", "AUTH_TOKEN", "BASE_URL", "ORG_ID", "PROJECT_ID"] {
                command.env_remove(format!("{vendor}_{name}"));
            }
            command.env_remove(format!("{vendor}_LOG"));
        }
        let order = order.to_string();
        // Servers that the client calls answer on this thread meanwhile.
        let ended = tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            input.write_all(order.as_bytes()).unwrap();
            drop(input);
            child.wait_with_output().unwrap()
        });
        let output = ended.await.unwrap();
        assert!(output.status.success(), "{}", self.language);
        serde_json::from_slice(&output.stdout).unwrap()
    }
}
