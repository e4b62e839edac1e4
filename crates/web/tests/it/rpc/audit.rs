//! `audit.list`.

use crate::steps::{WRONG_PASSWORD, log_in};
use gatehouse_testkit::{Actor, TestServer};
use serde_json::{Value, json};

async fn kinds(owner: &Actor) -> Vec<String> {
    let listed = owner
        .rpc("audit.list", json!({ "limit": 500 }))
        .await
        .unwrap();
    let rows = listed["events"].as_array().unwrap();
    rows.iter()
        .map(|row| row["kind"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn what_happened_is_there_newest_first() {
    let (server, owner) = TestServer::with_owner().await;
    log_in(&server.remote(), WRONG_PASSWORD)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    log_in(&server.remote(), WRONG_PASSWORD)
        .await
        .refused(401, "INVALID_CREDENTIALS");
    let key = server.api_key(&owner, &["operator.read"]).await;
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .expect(200);
    owner
        .post(
            "/api/auth/vault/unlock",
            json!({ "password": gatehouse_testkit::PASSWORD }),
        )
        .await
        .expect(200);
    let kinds = kinds(&owner).await;
    let position = |kind: &str| kinds.iter().position(|found| found == kind);
    let failed: Vec<_> = kinds
        .iter()
        .filter(|kind| kind.contains("failed"))
        .collect();
    assert_eq!(
        failed.len(),
        1,
        "failures of a client are one row a minute: {kinds:?}"
    );
    assert!(kinds.iter().any(|kind| kind.contains("setup")), "{kinds:?}");
    assert!(
        kinds.iter().any(|kind| kind.contains("api_key")),
        "{kinds:?}"
    );
    assert!(
        position("vault.unsealed") < position("vault.sealed"),
        "{kinds:?}"
    );
    assert_eq!(
        key.rpc("audit.list", json!({})).await,
        Err("FORBIDDEN".to_owned())
    );
    let row = &owner
        .rpc("audit.list", json!({ "limit": 1 }))
        .await
        .unwrap()["events"][0];
    for field in ["id", "at", "kind", "actor", "detail"] {
        assert!(row.get(field).is_some(), "{field}: {row}");
    }
}

#[tokio::test]
async fn it_is_read_page_by_page_and_by_kind() {
    let (server, owner) = TestServer::with_owner().await;
    for _ in 0..3 {
        server.api_key(&owner, &["operator.read"]).await;
    }
    let all = kinds(&owner).await;
    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let mut params = json!({ "limit": 2 });
        if cursor.is_string() {
            params["cursor"] = cursor;
        }
        let page = owner.rpc("audit.list", params).await.unwrap();
        let rows = page["events"].as_array().unwrap();
        assert!(rows.len() <= 2);
        seen.extend(
            rows.iter()
                .map(|row| row["kind"].as_str().unwrap().to_owned()),
        );
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, all);
    let kind = all.iter().find(|kind| kind.contains("api_key")).unwrap();
    let listed = owner
        .rpc("audit.list", json!({ "kind": kind }))
        .await
        .unwrap();
    assert_eq!(listed["events"].as_array().unwrap().len(), 3);
    assert_eq!(
        owner
            .rpc("audit.list", json!({ "cursor": "not one of ours" }))
            .await,
        Err("INVALID_PARAMS".to_owned())
    );
}

#[tokio::test]
async fn the_chain_holds_and_a_changed_row_breaks_it() {
    let (server, owner) = TestServer::with_owner().await;
    server.api_key(&owner, &["operator.read"]).await;
    let verified = gatehouse_auth::audit::verify(&server.app().services().store)
        .await
        .unwrap();
    assert!(verified.rows >= 2);
    let changed =
        "UPDATE audit_log SET actor = 'nobody' WHERE seq = (SELECT MIN(seq) FROM audit_log)";
    let server = crate::steps::tampered(server, changed).await;
    assert!(
        gatehouse_auth::audit::verify(&server.app().services().store)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn every_kind_of_record_that_changes_leaves_a_row() {
    let (_server, owner) = crate::steps::light_owner(gatehouse_testkit::Options::default()).await;
    let call = async |method: &str, params: Value| owner.rpc(method, params).await.unwrap();
    let agent = json!({ "name": "Poet", "system_prompt": "secret words" });
    call("agents.create", agent).await;
    call("agents.update", json!({ "id": "poet", "max_turns": 3 })).await;
    call("agents.delete", json!({ "id": "poet" })).await;
    call(
        "env.set",
        json!({ "key": "TOKEN", "value": "hidden value" }),
    )
    .await;
    let hook = crate::webhooks::made(&owner, json!({ "auth_mode": "none" })).await;
    let test = call("webhooks.test", json!({ "id": hook.id() })).await;
    call(
        "webhooks.delivery.replay",
        json!({ "id": test["delivery_id"] }),
    )
    .await;
    call(
        "webhooks.deliveries.replay",
        json!({ "limit": 1, "dry_run": true }),
    )
    .await;
    let session = call("sessions.create", json!({})).await;
    call("sessions.delete", json!({ "id": session["id"] })).await;
    let unknown = json!({ "id": "apr_none", "allow": true });
    assert!(owner.rpc("approval.resolve", unknown).await.is_err());
    let found = kinds(&owner).await;
    for kind in [
        "agent.created",
        "agent.updated",
        "agent.deleted",
        "env.set",
        "webhook.created",
        "delivery.replayed",
        "deliveries.replayed",
        "session.deleted",
    ] {
        assert!(found.iter().any(|found| found == kind), "{kind}: {found:?}");
    }
    assert!(
        !found.iter().any(|kind| kind == "approval.resolved"),
        "a call that failed leaves no row"
    );
    let listed = owner.rpc("audit.list", json!({ "limit": 500 })).await;
    let shown = listed.unwrap().to_string();
    assert!(shown.contains("poet") && shown.contains("max_turns"));
    for secret in ["secret words", "hidden value"] {
        assert!(!shown.contains(secret), "{secret}");
    }
}
