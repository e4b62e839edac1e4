//! Reads the format with an independent Python program: `read_vault.py`, which uses `PyNaCl` and `argon2-cffi`.
//! `GATEHOUSE_TEST_PYTHON` names an interpreter with these packages (`cargo xtask test` creates one from
//! `requirements.txt`).

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; the exception in clippy.toml covers only tests"
)]

use gatehouse_doubles::prepared;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn tests_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors.json")).unwrap()
}

fn run(python: &Path, script: &str, arguments: &[&Path], input: &str) -> Output {
    let mut child = Command::new(python)
        .arg(tests_dir().join(script))
        .args(arguments)
        .env("PYTHONUTF8", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A script that reads no input may have exited already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn succeeded(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A directory for this test process, removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let name = format!("gatehouse-python-reader-{}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn python_agrees_with_the_vectors() {
    let Some(python) = prepared("GATEHOUSE_TEST_PYTHON", "the Python reader") else {
        return;
    };
    let vectors = tests_dir().join("vectors.json");
    let output = run(
        &python,
        "read_vault.py",
        &[Path::new("--vectors"), &vectors],
        "",
    );
    assert_eq!(
        succeeded(&output).trim(),
        "8 ciphertexts, opened by password and by recovery key"
    );
}

#[test]
fn python_reads_a_database_with_nothing_but_the_password() {
    let Some(python) = prepared("GATEHOUSE_TEST_PYTHON", "the Python reader") else {
        return;
    };
    let scratch = Scratch::new();
    let (database, keys) = (
        scratch.0.join("a ?#%.db"),
        scratch.0.join("provider_keys.json.enc"),
    );
    let vectors_file = tests_dir().join("vectors.json");
    succeeded(&run(
        &python,
        "make_database.py",
        &[&vectors_file, &database, &keys],
        "",
    ));

    let vectors = vectors();
    let expected = json!({
        "env_variables": {
            "API_TOKEN": "a value", "EMPTY": "", "UNICODE": "gr\u{fc}\u{df}e \u{2713}\nsecond line",
            "NOT_ENCRYPTED": "as it is",
        },
        "ssh_keys": { "deploy key@host-1": vectors["ciphertexts"][3]["plaintext"] },
        "provider_keys": { "openai": { "api_key": "example" } },
    });
    let password = vectors["password"].as_str().unwrap();
    let recovery = vectors["recovery_key"].as_str().unwrap().to_lowercase();
    let flag = Path::new("--recovery");
    let by_password = run(&python, "read_vault.py", &[&database, &keys], password);
    let by_recovery = run(
        &python,
        "read_vault.py",
        &[flag, &database, &keys],
        &recovery,
    );
    for output in [by_password, by_recovery] {
        let read: Value = serde_json::from_str(&succeeded(&output)).unwrap();
        assert_eq!(read, expected);
    }

    let wrong = run(&python, "read_vault.py", &[&database], "not the password");
    assert!(!wrong.status.success());
    assert!(wrong.stdout.is_empty());
}
