//! A Python program reads the server's database with only the password.

use crate::steps::set_up_with_vault;
use gatehouse_doubles::prepared;
use gatehouse_testkit::{PASSWORD, TestServer};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn read(python: &Path, flags: &[&str], files: [&Path; 2], secret: &str) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vault/tests/read_vault.py");
    let mut child = Command::new(python)
        .arg(script)
        .args(flags)
        .args(files)
        .env("PYTHONUTF8", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(secret.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

fn secrets(output: &Output) -> Value {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn python_reads_what_the_server_wrote() {
    let Some(python) = prepared("GATEHOUSE_TEST_PYTHON", "the Python reader") else {
        return;
    };
    let mut server = TestServer::fresh().await;
    // One variable exists before the vault and is migrated. The rest are written with the vault.
    server
        .local()
        .rpc("env.set", json!({ "key": "EARLY", "value": "plain first" }))
        .await
        .unwrap();
    let (owner, recovery_key) = set_up_with_vault(&server).await;
    for (key, value) in [
        ("TOKEN", "a value"),
        ("EMPTY", ""),
        ("UNICODE", "grüße ✓\nsecond line"),
    ] {
        owner
            .rpc("env.set", json!({ "key": key, "value": value }))
            .await
            .unwrap();
    }
    let ssh = owner
        .rpc("ssh_keys.generate", json!({ "name": "deploy key@host-1" }))
        .await
        .unwrap();
    owner
        .rpc(
            "providers.set_key",
            json!({ "id": "openai", "key": "sk-test-0001" }),
        )
        .await
        .unwrap();
    let database = server.stop().await;
    let file = database.directory().join("gatehouse.db");
    let keys = database.directory().join("provider_keys.json.enc");
    let lower = recovery_key.to_lowercase();
    for (flags, secret) in [(&[][..], PASSWORD), (&["--recovery"][..], lower.as_str())] {
        let read = secrets(&read(&python, flags, [&file, &keys], secret));
        let expected = json!({
            "EARLY": "plain first", "TOKEN": "a value", "EMPTY": "", "UNICODE": "grüße ✓\nsecond line",
        });
        assert_eq!(read["env_variables"], expected);
        let private = read["ssh_keys"]["deploy key@host-1"].as_str().unwrap();
        assert!(
            private.starts_with("-----BEGIN OPENSSH PRIVATE KEY-----"),
            "{private}"
        );
        assert!(
            ssh["public_key"]
                .as_str()
                .unwrap()
                .starts_with("ssh-ed25519 ")
        );
        assert!(
            read["provider_keys"].to_string().contains("sk-test-0001"),
            "{read}"
        );
    }
    let wrong = read(&python, &[], [&file, &keys], crate::steps::WRONG_PASSWORD);
    assert!(!wrong.status.success() && wrong.stdout.is_empty());
    // After a rotation the password still works, and the old recovery key does not.
    let server = TestServer::start(gatehouse_testkit::Options::default().database(database)).await;
    let owner = owner.at(server.address());
    owner
        .post("/api/auth/vault/rotate", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    let mut server = server;
    let database = server.stop().await;
    assert_eq!(
        secrets(&read(&python, &[], [&file, &keys], PASSWORD))["env_variables"]["TOKEN"],
        "a value"
    );
    assert!(
        !read(&python, &["--recovery"], [&file, &keys], &lower)
            .status
            .success()
    );
    drop(database);
}
