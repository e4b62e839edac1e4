//! `ssh_keys.*`.

use crate::steps::light_owner;
use gatehouse_testkit::{Options, TestServer};
use serde_json::json;

/// Made by ssh-keygen for this test, with the passphrase `a passphrase`; it opens nothing.
const PROTECTED: &str = include_str!("protected_key.txt");

#[tokio::test]
async fn a_key_is_made_and_only_its_public_half_is_shown() {
    let (_server, owner) = TestServer::with_owner().await;
    let made = owner
        .rpc("ssh_keys.generate", json!({ "name": "deploy@host-1" }))
        .await
        .unwrap();
    assert!(
        made["public_key"]
            .as_str()
            .unwrap()
            .starts_with("ssh-ed25519 "),
        "{made}"
    );
    assert!(
        made["fingerprint"].as_str().unwrap().starts_with("SHA256:"),
        "{made}"
    );
    assert_eq!(
        (&made["name"], &made["encrypted"]),
        (&json!("deploy@host-1"), &json!(1))
    );
    assert!(made.get("private_key").is_none());
    assert_eq!(
        owner
            .rpc("ssh_keys.generate", json!({ "name": "deploy@host-1" }))
            .await,
        Err("CONFLICT".to_owned())
    );
    let listed = owner.rpc("ssh_keys.list", json!({})).await.unwrap();
    assert_eq!(listed["ssh_keys"][0]["fingerprint"], made["fingerprint"]);
    owner
        .rpc("ssh_keys.delete", json!({ "name": "deploy@host-1" }))
        .await
        .unwrap();
    assert_eq!(
        owner
            .rpc("ssh_keys.delete", json!({ "name": "deploy@host-1" }))
            .await,
        Err("NOT_FOUND".to_owned())
    );
    for name in ["", "a/b", "a:b", &"x".repeat(65), "é"] {
        assert_eq!(
            owner
                .rpc("ssh_keys.generate", json!({ "name": name }))
                .await,
            Err("INVALID_PARAMS".to_owned()),
            "{name}"
        );
    }
    owner
        .rpc("ssh_keys.generate", json!({ "name": "x".repeat(64) }))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_protected_key_is_opened_once_at_import() {
    let (_server, owner) = light_owner(Options::default()).await;
    let import = |passphrase: Option<&str>| {
        let mut params = json!({ "name": "old", "private_key": PROTECTED });
        if let Some(passphrase) = passphrase {
            params["passphrase"] = passphrase.into();
        }
        params
    };
    for wrong in [None, Some("wrong"), Some("")] {
        assert_eq!(
            owner.rpc("ssh_keys.import", import(wrong)).await,
            Err("INVALID_PARAMS".to_owned())
        );
    }
    let made = owner
        .rpc("ssh_keys.import", import(Some("a passphrase")))
        .await
        .unwrap();
    assert!(
        made["public_key"]
            .as_str()
            .unwrap()
            .starts_with("ssh-ed25519 "),
        "{made}"
    );
    assert_eq!(
        owner
            .rpc("ssh_keys.import", import(Some("a passphrase")))
            .await,
        Err("CONFLICT".to_owned())
    );
    for text in [
        "",
        "no key",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
    ] {
        let reply = owner
            .rpc_reply(
                "ssh_keys.import",
                json!({ "name": "x", "private_key": text }),
            )
            .await
            .expect(200);
        assert_eq!(reply["error"]["data"]["field"], "private_key", "{reply}");
    }
}
