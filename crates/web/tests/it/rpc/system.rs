//! `system.*`.

use crate::steps::light_owner;
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
