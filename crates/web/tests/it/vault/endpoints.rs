//! Status, initialize, unlock, recovery, seal, enable, recovery-key.

use crate::steps::{WRONG_PASSWORD, light_owner, set_up_with_vault, vault_status};
use gatehouse_testkit::{Options, PASSWORD, TestServer};
use serde_json::{Value, json};

fn password(text: &str) -> Value {
    json!({ "password": text })
}

fn recovery(text: &str) -> Value {
    json!({ "recovery_key": text })
}

#[tokio::test]
async fn the_status_is_for_everybody_and_nothing_else_is() {
    let server = TestServer::fresh().await;
    assert_eq!(
        server
            .remote()
            .get("/api/auth/vault/status")
            .await
            .expect(200),
        json!({ "status": "uninitialized" })
    );
    server.set_up().await;
    assert_eq!(
        server
            .remote()
            .get("/api/auth/vault/status")
            .await
            .expect(200),
        json!({ "status": "unsealed" })
    );
    let server = server.restart().await;
    assert_eq!(
        server
            .remote()
            .get("/api/auth/vault/status")
            .await
            .expect(200),
        json!({ "status": "sealed" })
    );
}

#[tokio::test]
async fn where_there_is_a_record_initialize_is_a_conflict() {
    let (server, owner) = TestServer::with_owner().await;
    for text in [PASSWORD, WRONG_PASSWORD] {
        owner
            .post("/api/auth/vault/initialize", password(text))
            .await
            .refused(409, "CONFLICT");
    }
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .expect(200);
    owner
        .post("/api/auth/vault/initialize", password(PASSWORD))
        .await
        .refused(409, "CONFLICT");
    assert_eq!(vault_status(&server).await, "sealed");
}

#[tokio::test]
async fn unlock_takes_the_password_and_says_so_while_unsealed_too() {
    let (server, owner) = TestServer::with_owner().await;
    for state in ["unsealed", "sealed"] {
        if state == "sealed" {
            let sealed = owner
                .post("/api/auth/vault/seal", json!({}))
                .await
                .expect(200);
            assert_eq!(sealed, json!({ "ok": true, "status": "sealed" }));
        }
        for wrong in [
            WRONG_PASSWORD,
            "",
            &PASSWORD.to_uppercase(),
            &"x".repeat(2000),
        ] {
            owner
                .post("/api/auth/vault/unlock", password(wrong))
                .await
                .refused(423, "VAULT_BAD_KEY");
            assert_eq!(vault_status(&server).await, state);
        }
        let opened = owner
            .post("/api/auth/vault/unlock", password(PASSWORD))
            .await
            .expect(200);
        assert_eq!(opened, json!({ "ok": true, "status": "unsealed" }));
    }
}

#[tokio::test]
async fn recovery_takes_the_key_as_people_type_it() {
    let server = TestServer::fresh().await;
    let (owner, key) = set_up_with_vault(&server).await;
    let bare = key.replace('-', "");
    let mistyped = |from: char| {
        let last = if bare.ends_with(from) { 'B' } else { from };
        format!("{}{last}", &bare[..31])
    };
    for state in ["unsealed", "sealed"] {
        if state == "sealed" {
            owner
                .post("/api/auth/vault/seal", json!({}))
                .await
                .expect(200);
        }
        for wrong in [
            String::new(),
            "x".into(),
            mistyped('A'),
            bare[..31].into(),
            format!("{bare}A"),
            "ABCD-EFGH".into(),
            "I".repeat(32),
            "é".repeat(32),
            PASSWORD.into(),
        ] {
            let reply = owner
                .post("/api/auth/vault/recovery", recovery(&wrong))
                .await;
            assert_eq!(
                (reply.status.as_u16(), reply.code().as_str()),
                (423, "VAULT_BAD_KEY"),
                "{wrong}: {}",
                reply.text
            );
        }
    }
    for typed in [
        key.clone(),
        key.to_lowercase(),
        bare.clone(),
        bare.to_lowercase(),
        key.replace('-', " "),
        format!("  {key}\n"),
        format!("{}-{}", &bare[..5], &bare[5..]),
    ] {
        owner
            .post("/api/auth/vault/seal", json!({}))
            .await
            .expect(200);
        let opened = owner
            .post("/api/auth/vault/recovery", recovery(&typed))
            .await
            .expect(200);
        assert_eq!(
            opened,
            json!({ "ok": true, "status": "unsealed" }),
            "{typed:?}"
        );
    }
    assert!(
        bare.bytes()
            .all(|byte| b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789".contains(&byte)),
        "{bare}"
    );
}

#[tokio::test]
async fn without_a_record_there_is_nothing_to_open() {
    let (_server, owner) = light_owner(Options::default()).await;
    for path in ["unlock", "rotate", "recovery-key"] {
        owner
            .post(&format!("/api/auth/vault/{path}"), password(PASSWORD))
            .await
            .refused(409, "CONFLICT");
    }
    owner
        .post("/api/auth/vault/recovery", recovery("ABCD"))
        .await
        .refused(409, "CONFLICT");
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .refused(409, "CONFLICT");
}

#[tokio::test]
async fn a_new_recovery_key_replaces_the_old_one() {
    let server = TestServer::fresh().await;
    let (owner, old) = set_up_with_vault(&server).await;
    let path = "/api/auth/vault/recovery-key";
    owner
        .post(path, password(WRONG_PASSWORD))
        .await
        .refused(423, "VAULT_BAD_KEY");
    owner
        .post("/api/auth/vault/recovery", recovery(&old))
        .await
        .expect(200);
    let made = owner.post(path, password(PASSWORD)).await.expect(200);
    let new = made["recovery_key"].as_str().unwrap();
    assert_eq!((&made["ok"], new.len()), (&json!(true), 39));
    owner
        .post("/api/auth/vault/recovery", recovery(&old))
        .await
        .refused(423, "VAULT_BAD_KEY");
    owner
        .post("/api/auth/vault/recovery", recovery(new))
        .await
        .expect(200);
    owner
        .post("/api/auth/vault/unlock", password(PASSWORD))
        .await
        .expect(200);
}

#[tokio::test]
async fn sealing_removes_the_key_from_memory_and_is_published() {
    let (server, owner) = TestServer::with_owner().await;
    owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    let mut socket = server.socket(&owner, "/ws").await;
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .expect(200);
    assert_eq!(
        socket.event("vault.status").await.unwrap(),
        json!({ "status": "sealed" })
    );
    assert_eq!(
        owner.get("/api/gon").await.expect(200)["vault_status"],
        "sealed"
    );
    owner
        .post("/api/auth/vault/unlock", password(PASSWORD))
        .await
        .expect(200);
    assert_eq!(
        socket.event("vault.status").await.unwrap(),
        json!({ "status": "unsealed" })
    );
    // Sealing a sealed vault succeeds.
    for _ in 0..2 {
        owner
            .post("/api/auth/vault/seal", json!({}))
            .await
            .expect(200);
    }
}

#[tokio::test]
async fn enable_with_the_password_opens_and_without_it_seals() {
    let (server, owner) = TestServer::with_owner().await;
    owner
        .rpc("env.set", json!({ "key": "A", "value": "b" }))
        .await
        .unwrap();
    owner
        .post("/api/auth/vault/disable", json!({}))
        .await
        .expect(200);
    owner
        .rpc("env.set", json!({ "key": "B", "value": "c" }))
        .await
        .unwrap();
    owner
        .post("/api/auth/vault/enable", password(WRONG_PASSWORD))
        .await
        .refused(423, "VAULT_BAD_KEY");
    assert_eq!(vault_status(&server).await, "disabled");
    let enabled = owner
        .post("/api/auth/vault/enable", json!({}))
        .await
        .expect(200);
    assert_eq!(enabled["status"], "sealed");
    owner
        .post("/api/auth/vault/disable", password(PASSWORD))
        .await
        .expect(200);
    let enabled = owner
        .post("/api/auth/vault/enable", password(PASSWORD))
        .await
        .expect(200);
    assert_eq!(enabled["status"], "unsealed");
    let listed = owner.rpc("env.list", json!({})).await.unwrap();
    assert!(
        listed["env_variables"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["encrypted"] == 1),
        "{listed}"
    );
}

#[tokio::test]
async fn keys_need_the_scope_that_each_endpoint_names() {
    let (server, owner) = TestServer::with_owner().await;
    let read = server.api_key(&owner, &["operator.read"]).await;
    let write = server.api_key(&owner, &["operator.write"]).await;
    for path in [
        "unlock",
        "seal",
        "disable",
        "enable",
        "rotate",
        "initialize",
        "recovery-key",
    ] {
        let path = format!("/api/auth/vault/{path}");
        let body = if path.ends_with("seal") {
            json!({})
        } else {
            password(PASSWORD)
        };
        read.post(&path, body.clone())
            .await
            .refused(403, "FORBIDDEN");
        let by_write = write.post(&path, body).await;
        if path.ends_with("unlock") {
            by_write.expect(200);
        } else {
            assert_eq!(
                by_write.refused(403, "FORBIDDEN")["required_scope"],
                "operator.admin"
            );
        }
    }
    write
        .post("/api/auth/vault/recovery", recovery("x"))
        .await
        .refused(423, "VAULT_BAD_KEY");
}
