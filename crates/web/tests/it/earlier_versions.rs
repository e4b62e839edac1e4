//! Databases that earlier versions wrote, opened by this version.
//! `store/tests/upgrades/real/README.md` describes the files.

use gatehouse_domain::{ManualClock, Timestamp};
use gatehouse_store::testing::{TestDatabase, empty_postgres, empty_sqlite, run_sql};
use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::sync::Arc;

/// The passwords, keys and ids of the databases.
const CREDENTIALS: &str = include_str!("../../../store/tests/upgrades/real/credentials.json");

/// Returns the strings at `path` in the objects of the list `list`, sorted.
async fn texts(owner: &Actor, (method, params): (&str, Value), list: &str, path: &str) -> String {
    let answer = owner.rpc(method, params).await.unwrap();
    let items = answer[list].as_array().unwrap().iter();
    let mut texts: Vec<&str> = items.map(|item| item[path].as_str().unwrap()).collect();
    texts.sort_unstable();
    texts.join(" ")
}

async fn is_read(name: &str, script: &str, database: TestDatabase) {
    let credentials: Value = serde_json::from_str(CREDENTIALS).unwrap();
    let credential = |of: &str| credentials[name][of].as_str().unwrap().to_owned();
    run_sql(&database.location, script).await;
    // The clock is one hour later, so nothing has expired.
    let clock = ManualClock::at(Timestamp::from_millis(1_795_905_500_000));
    let options = Options::default().clock(Arc::new(clock));
    let server = TestServer::start(options.database(database)).await;
    // Logging in unlocks the vault.
    let password = json!({ "password": credential("password") });
    let login = server.local().post("/api/auth/login", password).await;
    login.expect(200);
    let owner = server.local().session(&login.session_cookie().unwrap());
    let key = server.local().bearer(&credential("key"));
    key.rpc("system.status", json!({})).await.unwrap();

    let revealed = owner.rpc("env.reveal", json!({ "program": "test" })).await;
    let variable = json!([{ "key": "TOKEN", "value": "s3cret value" }]);
    assert_eq!(revealed.unwrap()["variables"], variable);
    let sign = json!({ "name": "deploy", "data": "aGVsbG8=", "program": "test" });
    owner.rpc("ssh_keys.sign", sign).await.unwrap();
    let agent = owner.rpc("agents.get", json!({ "id": "reviewer" })).await;
    assert_eq!(agent.unwrap()["system_prompt"], "Review what arrives.");
    let session = json!({ "session": credential("session") });
    let roles = texts(&owner, ("chat.history", session), "messages", "role").await;
    assert_eq!(roles, "assistant assistant tool user");
    let hooks = texts(&owner, ("webhooks.list", json!({})), "webhooks", "name").await;
    assert_eq!(hooks, "Agent Daily Inbox Sink");
    let all = ("webhooks.deliveries", json!({}));
    let statuses = texts(&owner, all, "deliveries", "status").await;
    assert_eq!(
        statuses,
        "completed completed completed deduplicated failed filtered rejected"
    );
    let inbox = texts(&owner, ("inbox.list", json!({})), "messages", "text").await;
    assert_eq!(inbox, "An issue An issue");
    let personas = ("voice.personas.list", json!({}));
    assert_eq!(texts(&owner, personas, "personas", "id").await, "narrator");
    let budgets = texts(&owner, ("budgets.list", json!({})), "budgets", "scope").await;
    assert_eq!(budgets, "agent:reviewer");

    // A webhook of the old version accepts a delivery with its secret, which is stored encrypted.
    let id = credentials[name]["webhooks"]["inbox"].as_str().unwrap();
    owner
        .rpc("webhooks.test", json!({ "id": id }))
        .await
        .unwrap();

    let store = &server.app().services().store;
    gatehouse_auth::audit::verify(store).await.unwrap();
}

#[tokio::test]
async fn what_earlier_versions_wrote_is_read() {
    let scripts = [
        (
            "80-sqlite",
            include_str!("../../../store/tests/upgrades/real/80-sqlite.sql"),
        ),
        (
            "86-sqlite",
            include_str!("../../../store/tests/upgrades/real/86-sqlite.sql"),
        ),
    ];
    for (name, script) in scripts {
        is_read(name, script, empty_sqlite()).await;
    }
}

#[tokio::test]
async fn what_earlier_versions_wrote_to_postgresql_is_read() {
    let scripts = [
        (
            "80-postgres",
            include_str!("../../../store/tests/upgrades/real/80-postgres.sql"),
        ),
        (
            "86-postgres",
            include_str!("../../../store/tests/upgrades/real/86-postgres.sql"),
        ),
    ];
    for (name, script) in scripts {
        if let Some(database) = empty_postgres().await {
            is_read(name, script, database).await;
        }
    }
}
