//! `system.*`.

use crate::steps::{doctor_check, light_owner};
use gatehouse_store::testing::sqlite;
use gatehouse_testkit::Options;
use serde_json::json;

#[tokio::test]
async fn the_status_is_for_every_identity() {
    let (server, owner) = light_owner(Options::default()).await;
    let key = server.api_key(&owner, &["operator.approvals"]).await;
    for caller in [&owner, &key] {
        let status = caller.rpc("system.status", json!({})).await.unwrap();
        assert_eq!(
            status["database"],
            json!({ "engine": "sqlite", "ok": true })
        );
        assert_eq!(status["vault_status"], "uninitialized");
        for field in ["version", "uptime_seconds", "queue_depth", "sessions"] {
            assert!(status.get(field).is_some(), "{field}: {status}");
        }
    }
    server
        .local()
        .rpc_reply("system.status", json!({}))
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
}

#[tokio::test]
async fn the_doctor_looks_at_everything() {
    let (server, owner) = light_owner(Options::default()).await;
    let report = owner.rpc("system.doctor", json!({})).await.unwrap();
    let checks = report["checks"].as_array().unwrap();
    assert!(!checks.is_empty());
    for check in checks {
        assert!(
            check["id"].is_string() && check["ok"].is_boolean() && check["message"].is_string(),
            "{check}"
        );
    }
    let key = server.api_key(&owner, &["operator.write"]).await;
    assert_eq!(
        key.rpc("system.doctor", json!({})).await,
        Err("FORBIDDEN".to_owned())
    );
}

/// The server works on with the open file. What opens the path finds another one, or none.
#[tokio::test]
async fn a_database_whose_file_was_moved_or_replaced_is_reported_and_not_backed_up() {
    let database = sqlite();
    let url = database.location.url();
    let path = std::path::PathBuf::from(url.strip_prefix("sqlite://").unwrap());
    let (server, owner) = light_owner(Options::default().database(database)).await;
    let services = server.app().services();
    let moved = path.with_extension("moved");
    let found = doctor_check(&owner, "database").await;
    assert_eq!(found["ok"], true, "{found}");
    tokio::fs::rename(&path, &moved).await.unwrap();
    for replacement in [None, Some("another database")] {
        if let Some(text) = replacement {
            tokio::fs::write(&path, text).await.unwrap();
        }
        let found = doctor_check(&owner, "database").await;
        assert_eq!(
            (&found["ok"], &found["urgent"]),
            (&json!(false), &json!(true))
        );
        assert!(
            found["hint"].as_str().unwrap().contains("/proc/PID/fd"),
            "{found}"
        );
        services.create_backup(None, None).await.unwrap_err();
        assert_eq!(path.exists(), replacement.is_some());
    }
    tokio::fs::rename(&moved, &path).await.unwrap();
    let found = doctor_check(&owner, "database").await;
    assert_eq!(found["ok"], true, "{found}");
    services.create_backup(None, None).await.unwrap();
}
