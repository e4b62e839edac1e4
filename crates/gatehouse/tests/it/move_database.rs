//! `gatehouse move`, with the real program.

use crate::process::{Installation, PASSWORD, Server, make_key, mode};
use gatehouse_store::testing::{TestDatabase, empty_databases, empty_postgres, empty_sqlite};
use serde_json::{Value, json};

/// The tables that a server or the record of the move changes.
const LIVE: [&str; 3] = ["audit_log", "changes", "settings"];

fn sums(moved: &Value) -> Vec<Value> {
    let tables = moved["tables"].as_array().unwrap().iter();
    tables
        .filter(|table| !LIVE.contains(&table["name"].as_str().unwrap()))
        .cloned()
        .collect()
}

fn move_to(from: &Installation, to: &TestDatabase) -> Value {
    from.run(&["move", "--to", &to.location.url(), "--json"])
        .json()
}

#[tokio::test]
async fn an_installation_goes_to_another_database_and_back() {
    for there in empty_databases().await {
        let mut home = Installation::new();
        let server = home.start();
        server.set_up().await;
        server.stop();
        let key = make_key(&home).await;
        let server = home.start();
        server
            .post("/api/auth/login", json!({ "password": PASSWORD }))
            .await;
        let variable = json!({ "key": "TOKEN", "value": "hunter2" });
        let set = server.rpc(&key, "env.set", variable).await;
        assert!(set["error"].is_null(), "{set}");
        let url = there.location.url();
        let refused = home.run(&["move", "--to", &url]);
        assert!(refused.failed(1).contains("stop it first"));
        server.stop();

        let first = move_to(&home, &there);
        let variables = sums(&first);
        let variables = variables.iter().find(|t| t["name"] == "env_variables");
        assert_eq!(variables.unwrap()["rows"], 1);
        let again = home.run(&["move", "--to", &url]);
        let refusal = again.failed(1);
        for part in ["already has rows", "Nothing was changed", "it had finished"] {
            assert!(refusal.contains(part), "{refusal}");
        }

        home.env("SERVICE_DATABASE_URL", url.clone());
        let server = home.start();
        assert_eq!(server.vault_status().await, "sealed");
        server
            .post("/api/auth/login", json!({ "password": PASSWORD }))
            .await;
        assert_eq!(server.vault_status().await, "unsealed");
        let listed = server.rpc(&key, "env.list", json!({})).await;
        assert!(listed.to_string().contains("TOKEN"), "{listed}");
        let kind = json!({ "kind": "database.moved" });
        let audit = server.rpc(&key, "audit.list", kind).await;
        assert_eq!(audit["result"]["events"].as_array().unwrap().len(), 1);
        server.stop();
        let verified = home.run(&["audit", "verify", "--json"]).json();
        assert_eq!(verified["ok"], true);

        let back = empty_sqlite();
        let second = move_to(&home, &back);
        // The server on PostgreSQL has written to these tables.
        let written = ["auth_sessions", "auth_api_keys", "duties"];
        let keep = |moved: &Value| {
            let mut kept = sums(moved);
            kept.retain(|table| !written.contains(&table["name"].as_str().unwrap()));
            kept
        };
        assert_eq!(keep(&first), keep(&second), "{url}");
    }
}

/// The old database can be used again until the new one has new data.
#[tokio::test]
async fn after_a_move_the_old_database_can_be_used_with_its_provider_keys() {
    let Some(there) = empty_postgres().await else {
        return;
    };
    let mut home = Installation::new();
    let server = home.start();
    server.set_up().await;
    server.stop();
    let key = make_key(&home).await;
    let unlocked = async |home: &Installation| {
        let server = home.start();
        let login = json!({ "password": PASSWORD });
        server.post("/api/auth/login", login).await;
        assert_eq!(server.vault_status().await, "unsealed");
        server
    };
    let hint = async |server: &Server| {
        let listed = server.rpc(&key, "providers.list", json!({})).await;
        let providers = listed["result"]["providers"].as_array().unwrap();
        let openai = providers.iter().find(|one| one["id"] == "openai");
        openai.unwrap()["key_hint"].clone()
    };
    let server = unlocked(&home).await;
    let entry = json!({ "id": "openai", "key": "sk-test-abcdefgh-1234" });
    let set = server.rpc(&key, "providers.set_key", entry).await;
    assert_eq!(set["result"]["configured"], true, "{set}");
    let expected = hint(&server).await;
    assert!(expected.is_string(), "{expected}");
    server.stop();
    let file = |name: &str| home.data_dir().join(name);
    let names = ["provider_keys.json", "provider_keys.json.enc"];
    let [plain, copy] = names.map(file);
    let aside = file("provider_keys.json.enc.moved");
    move_to(&home, &there);
    assert!(plain.exists() && copy.exists() && !aside.exists());

    home.env("SERVICE_DATABASE_URL", there.location.url());
    let server = unlocked(&home).await;
    assert_eq!(hint(&server).await, expected);
    server.stop();
    assert!(aside.exists() && !plain.exists() && !copy.exists());
    assert_eq!(mode(&aside), 0o600);
    // The key is encrypted.
    let text = tokio::fs::read_to_string(&aside).await.unwrap();
    assert!(!text.contains("abcdefgh"), "{text}");

    home.environment.clear();
    tokio::fs::rename(&aside, &copy).await.unwrap();
    let server = unlocked(&home).await;
    assert_eq!(hint(&server).await, expected);
    server.stop();
}

#[tokio::test]
async fn a_move_prints_the_setting_of_the_new_database() {
    let home = Installation::new();
    home.start().stop();
    let there = empty_sqlite();
    let url = there.location.url();
    let moved = home.run(&["move", "--to", &url]);
    moved.ok();
    let setting = format!("[database]\nurl = \"{url}\"");
    assert!(moved.stderr().contains(&setting), "{}", moved.stderr());
}

#[tokio::test]
async fn a_move_is_refused_while_a_server_runs_idle_on_either_side() {
    let Some(there) = empty_postgres().await else {
        return;
    };
    let (mut node, home) = (Installation::new(), Installation::new());
    let url = there.location.url();
    node.env("SERVICE_DATABASE_URL", url.clone());
    let server = node.start();
    server.set_up().await;
    home.start().stop();
    let back = empty_sqlite();
    let back = back.location.url();
    for args in [
        ["move", "--to", url.as_str()].as_slice(),
        &["move", "--from", &url, "--to", &back],
    ] {
        let refusal = home.run(args).failed(1);
        assert!(refusal.contains("stop it first"), "{args:?}: {refusal}");
    }
    server.stop();
    node.environment.clear();
    node.run(&["move", "--from", &url, "--to", &back]).ok();
}

#[tokio::test]
async fn a_move_names_what_it_cannot_use() {
    let home = Installation::new();
    let empty = home.run(&["move", "--to", "sqlite:///nowhere/gatehouse.db"]);
    assert!(empty.failed(1).contains("there is no database"));
    home.start().stop();
    for own in ["gatehouse.db", "../data/gatehouse.db"] {
        let own = format!("sqlite://{}", home.data_dir().join(own).display());
        let refusal = home.run(&["move", "--to", &own]).failed(2);
        let part = "--to names the database that is moved";
        assert!(refusal.contains(part), "{own}: {refusal}");
    }
    let strange = home.run(&["move", "--to", "mysql://u:hunter2@db/x"]);
    let refusal = strange.failed(2);
    assert!(
        refusal.contains("--to") && !refusal.contains("hunter2"),
        "{refusal}"
    );
}
