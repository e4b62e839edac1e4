//! Secrets that ended up in logs and error messages.

use crate::steps::{NEW_PASSWORD, log_in};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::json;
use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing_subscriber::fmt::MakeWriter;

/// Captures what is logged.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

const VALUE: &str = "value-of-a-variable-91cc";
const WRONG: &str = "wrong-password-44aa";

/// Sends secrets in every wrong way and returns the responses.
async fn refusals(
    server: &TestServer,
    owner: &Actor,
    password: &str,
    recovery_key: &str,
) -> String {
    let mut answers = Vec::new();
    answers.push(log_in(&server.local(), WRONG).await.text);
    for (path, body) in [
        ("/api/auth/login", json!({ "password": [WRONG] })),
        ("/api/auth/login", json!({ "password": WRONG, VALUE: 1 })),
        ("/api/auth/confirm", json!({ "password": { "x": WRONG } })),
        (
            "/api/auth/vault/recovery",
            json!({ "recovery_key": format!("{recovery_key}x") }),
        ),
        (
            "/api/auth/vault/recovery",
            json!({ "recovery_key": [recovery_key] }),
        ),
        (
            "/api/auth/password/change",
            json!({ "current_password": WRONG, "new_password": NEW_PASSWORD }),
        ),
        (
            "/api/auth/password/change",
            json!({ "current_password": password, "new_password": "short-77" }),
        ),
        (
            "/api/auth/api-keys",
            json!({ "label": "x", "scopes": [WRONG] }),
        ),
    ] {
        let text = owner.post(path, body).await.text;
        // The response repeats the name of an unknown field, which the caller chose.
        answers.push(text.replace(VALUE, ""));
    }
    for (method, params) in [
        ("env.set", json!({ "key": "PATH", "value": VALUE })),
        ("env.set", json!({ "key": "B", "value": [VALUE] })),
        (
            "ssh_keys.import",
            json!({ "name": "k", "private_key": VALUE, "passphrase": WRONG }),
        ),
        ("providers.set_key", json!({ "id": "nobody", "key": VALUE })),
        ("providers.test", json!({ "id": "nobody", "key": VALUE })),
        (
            "voice.test",
            json!({ "kind": "tts", "provider": "nobody", "key": VALUE }),
        ),
    ] {
        answers.push(owner.rpc_reply(method, params).await.text);
    }
    let mut socket = server.socket(&server.local(), "/ws").await;
    answers.push(
        socket
            .connect(json!({ "password": WRONG }))
            .await
            .unwrap()
            .to_string(),
    );
    answers.concat()
}

/// `openclaw/openclaw#85049`, `openclaw/openclaw#50614`: refused or displayed values were written to the
/// log with their secrets.
#[tokio::test]
async fn openclaw_85049_no_secret_reaches_log_or_error() {
    let log = Log::default();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .init();
    let server = TestServer::start(Options::default()).await;
    let password = "only in this test: 5d8e2b";
    let setup = server
        .local()
        .post("/api/auth/setup", json!({ "password": password }))
        .await;
    let recovery_key = setup.expect(200)["recovery_key"]
        .as_str()
        .unwrap()
        .to_owned();
    let cookie = setup.session_cookie().unwrap();
    let owner = server.local().session(&cookie);
    let key = server.api_key(&owner, &["operator.admin"]).await;
    let key_text = key.headers()[0].1.trim_start_matches("Bearer ").to_owned();
    owner
        .rpc("env.set", json!({ "key": "A", "value": VALUE }))
        .await
        .unwrap();
    let answers = refusals(&server, &owner, password, &recovery_key).await;
    owner.post("/api/auth/reset", json!({})).await.expect(200);
    let logged = log.text();
    assert!(
        logged.contains("/api/auth/login"),
        "the log was not caught: {logged}"
    );
    for secret in [
        password,
        &recovery_key,
        &cookie,
        &key_text,
        VALUE,
        WRONG,
        "short-77",
        NEW_PASSWORD,
    ] {
        assert!(!answers.contains(secret), "an answer holds {secret}");
        assert!(!logged.contains(secret), "the log holds {secret}");
    }
    let code = server.setup_code();
    assert!(!logged.contains(&code), "the log holds the setup code");
}
