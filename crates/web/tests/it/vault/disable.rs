//! `POST /api/auth/vault/disable`: all or nothing.

use crate::steps::{WRONG_PASSWORD, light_owner, tampered, vault_status};
use gatehouse_testkit::{Actor, Options, PASSWORD, TestServer};
use serde_json::{Value, json};

async fn fill(owner: &Actor) {
    for key in ["A", "B", "C"] {
        owner
            .rpc(
                "env.set",
                json!({ "key": key, "value": format!("value of {key}") }),
            )
            .await
            .unwrap();
    }
    owner
        .rpc("ssh_keys.generate", json!({ "name": "deploy" }))
        .await
        .unwrap();
    owner
        .rpc(
            "providers.set_key",
            json!({ "id": "openai", "key": "sk-test-0001" }),
        )
        .await
        .unwrap();
}

async fn flags(owner: &Actor) -> Vec<Value> {
    let env = owner.rpc("env.list", json!({})).await.unwrap();
    let ssh = owner.rpc("ssh_keys.list", json!({})).await.unwrap();
    let env = env["env_variables"].as_array().unwrap().iter();
    env.chain(ssh["ssh_keys"].as_array().unwrap())
        .map(|row| row["encrypted"].clone())
        .collect()
}

#[tokio::test]
async fn everything_is_decrypted_and_stays_so() {
    let (server, owner) = TestServer::with_owner().await;
    fill(&owner).await;
    assert_eq!(flags(&owner).await, [1, 1, 1, 1]);
    let done = owner
        .post("/api/auth/vault/disable", json!({}))
        .await
        .expect(200);
    assert_eq!(
        (&done["ok"], &done["status"], &done["restart_advised"]),
        (&json!(true), &json!("disabled"), &json!(true))
    );
    let report = json!({ "env_vars": 3, "ssh_keys": 1, "channels": 0, "webhooks": 0, "provider_keys": 1, "mcp_authorizations": 0 });
    assert_eq!(done["report"], report);
    assert_eq!(flags(&owner).await, [0, 0, 0, 0]);
    let set = owner
        .rpc("env.set", json!({ "key": "D", "value": "d" }))
        .await
        .unwrap();
    assert_eq!(set["encrypted"], 0, "new writes are plaintext at once");
    let again = owner
        .post("/api/auth/vault/disable", json!({}))
        .await
        .expect(200);
    assert_eq!(again["status"], "disabled");
    let server = server.restart().await;
    let owner = owner.at(server.address());
    assert_eq!(vault_status(&server).await, "disabled");
    assert_eq!(flags(&owner).await, [0, 0, 0, 0, 0]);
    crate::steps::log_in(&server.local(), PASSWORD)
        .await
        .expect(200);
    assert_eq!(vault_status(&server).await, "disabled");
    let config = owner
        .rpc("config.get", json!({ "keys": ["auth.vault_enabled"] }))
        .await
        .unwrap();
    assert_eq!(
        (
            &config["values"][0]["value"],
            &config["values"][0]["origin"]
        ),
        (&json!(false), &json!("settings"))
    );
}

#[tokio::test]
async fn while_sealed_it_takes_the_password() {
    let (server, owner) = TestServer::with_owner().await;
    fill(&owner).await;
    let server = server.restart().await;
    let owner = owner.at(server.address());
    owner
        .post("/api/auth/vault/disable", json!({}))
        .await
        .refused(423, "VAULT_SEALED");
    let wrong = json!({ "password": WRONG_PASSWORD });
    owner
        .post("/api/auth/vault/disable", wrong)
        .await
        .refused(423, "VAULT_BAD_KEY");
    assert_eq!(vault_status(&server).await, "sealed");
    let done = owner
        .post("/api/auth/vault/disable", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    assert_eq!(done["report"]["env_vars"], 3);
    assert_eq!(flags(&owner).await, [0, 0, 0, 0]);
}

#[tokio::test]
async fn one_damaged_row_and_nothing_changes() {
    let (server, owner) = TestServer::with_owner().await;
    fill(&owner).await;
    let damage = "UPDATE env_variables SET value = 'AAAA' WHERE key = 'B'";
    let server = tampered(server, damage).await;
    let owner = owner.at(server.address());
    let password = json!({ "password": PASSWORD });
    owner
        .post("/api/auth/vault/unlock", password.clone())
        .await
        .expect(200);
    for path in ["/api/auth/vault/disable", "/api/auth/vault/rotate"] {
        let reply = owner.post(path, password.clone()).await;
        let body = reply.refused(500, "INTERNAL");
        assert!(body["request_id"].is_string());
        assert_eq!(vault_status(&server).await, "unsealed", "{path}");
        assert_eq!(flags(&owner).await, [1, 1, 1, 1], "{path}");
    }
    let config = owner
        .rpc("config.get", json!({ "keys": ["auth.vault_enabled"] }))
        .await
        .unwrap();
    assert_eq!(config["values"][0]["value"], true);
    // Without the damaged row it succeeds.
    owner
        .rpc("env.delete", json!({ "key": "B" }))
        .await
        .unwrap();
    let done = owner
        .post("/api/auth/vault/disable", password)
        .await
        .expect(200);
    assert_eq!(done["report"]["env_vars"], 2);
}

#[tokio::test]
async fn from_uninitialized_too() {
    let (server, owner) = light_owner(Options::default()).await;
    let done = owner
        .post("/api/auth/vault/disable", json!({}))
        .await
        .expect(200);
    assert_eq!(done["status"], "disabled");
    assert_eq!(vault_status(&server).await, "disabled");
    owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
}

#[tokio::test]
async fn the_environment_may_forbid_it() {
    let options = Options::default().env("SERVICE_AUTH__VAULT_ENABLED", "true");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    owner
        .post("/api/auth/vault/disable", json!({}))
        .await
        .refused(409, "CONFLICT");
    assert_eq!(vault_status(&server).await, "unsealed");
    let set = json!({ "key": "auth.vault_enabled", "value": false });
    assert!(owner.rpc("config.set", set.clone()).await.is_err());
    let (_server, owner) = light_owner(Options::default()).await;
    assert!(
        owner.rpc("config.set", set).await.is_err(),
        "only disable and enable change it"
    );
}

#[tokio::test]
async fn no_plaintext_of_a_deleted_secret_is_left_in_a_file() {
    let (mut server, owner) = TestServer::with_owner().await;
    let marks = [
        "left-behind-by-delete",
        "left-behind-by-overwrite",
        "left-behind-by-migration",
    ];
    owner
        .post("/api/auth/vault/disable", json!({}))
        .await
        .expect(200);
    for (key, mark) in ["A", "B", "C"].iter().zip(marks) {
        owner
            .rpc("env.set", json!({ "key": key, "value": mark }))
            .await
            .unwrap();
    }
    owner
        .rpc("env.delete", json!({ "key": "A" }))
        .await
        .unwrap();
    owner
        .rpc("env.set", json!({ "key": "B", "value": "new" }))
        .await
        .unwrap();
    owner
        .post("/api/auth/vault/enable", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    let database = server.stop().await;
    for entry in std::fs::read_dir(database.directory()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_file() {
            crate::steps::file(&path)
        } else {
            Vec::new()
        };
        for mark in marks {
            let found = bytes
                .windows(mark.len())
                .any(|window| window == mark.as_bytes());
            assert!(!found, "{mark} is in {}", path.display());
        }
    }
}
