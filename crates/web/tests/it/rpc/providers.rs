//! `providers.*`.

use gatehouse_testkit::{Actor, Options, TestServer};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

async fn provider(owner: &Actor, id: &str) -> Value {
    let listed = owner.rpc("providers.list", json!({})).await.unwrap();
    let all = listed["providers"].as_array().unwrap();
    all.iter()
        .find(|provider| provider["id"] == id)
        .cloned()
        .unwrap()
}

#[tokio::test]
async fn a_key_is_set_and_removed_and_never_shown() {
    let (server, owner) = TestServer::with_owner().await;
    let before = provider(&owner, "openai").await;
    assert_eq!(
        (&before["kind"], &before["configured"]),
        (&json!("openai"), &json!(false))
    );
    let set = owner
        .rpc(
            "providers.set_key",
            json!({ "id": "openai", "key": "sk-test-abcdefgh-1234" }),
        )
        .await
        .unwrap();
    assert_eq!(set["configured"], true);
    let hint = set["key_hint"].as_str().unwrap();
    assert!(
        hint.len() <= 8 && !"sk-test-abcdefgh".contains(hint),
        "{hint}"
    );
    let (plain, copy) = (
        server.directory().join("provider_keys.json"),
        server.directory().join("provider_keys.json.enc"),
    );
    let plain_text = String::from_utf8(crate::steps::file(&plain)).unwrap();
    assert!(plain_text.contains("sk-test-abcdefgh-1234"));
    let text = String::from_utf8(crate::steps::file(&copy)).unwrap();
    assert!(
        data_encoding::BASE64.decode(text.trim().as_bytes()).is_ok(),
        "{text}"
    );
    for file in [&plain, &copy] {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(
        owner
            .rpc("providers.remove_key", json!({ "id": "openai" }))
            .await
            .unwrap(),
        json!({ "ok": true })
    );
    assert_eq!(provider(&owner, "openai").await["configured"], false);
    assert_eq!(
        owner
            .rpc("providers.remove_key", json!({ "id": "openai" }))
            .await,
        Err("NOT_FOUND".to_owned())
    );
    assert_eq!(
        owner
            .rpc("providers.set_key", json!({ "id": "nobody", "key": "k" }))
            .await,
        Err("INVALID_PARAMS".to_owned())
    );
}

#[tokio::test]
async fn the_plaintext_file_can_be_left_out() {
    let options = Options::default().env("SERVICE_VAULT__KEEP_PLAINTEXT_PROVIDER_KEYS", "false");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    owner
        .rpc(
            "providers.set_key",
            json!({ "id": "anthropic", "key": "sk-test-0002" }),
        )
        .await
        .unwrap();
    assert!(!server.directory().join("provider_keys.json").exists());
    assert!(server.directory().join("provider_keys.json.enc").exists());
    let server = server.restart().await;
    let owner = owner.at(server.address());
    crate::steps::log_in(&server.local(), gatehouse_testkit::PASSWORD)
        .await
        .expect(200);
    assert_eq!(provider(&owner, "anthropic").await["configured"], true);
}

async fn set(owner: &Actor, key: &str, value: Value) {
    let params = json!({ "key": key, "value": value });
    owner.rpc("config.set", params).await.unwrap();
}

/// Returns whether `system.doctor` names the provider as one whose key is not used.
async fn doctor_names(owner: &Actor, id: &str) -> bool {
    let report = owner.rpc("system.doctor", json!({})).await.unwrap();
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["id"] == "provider_keys");
    let check = check.unwrap();
    let names = check["message"].as_str().unwrap().contains(id);
    assert_eq!(check["ok"], !names, "{check}");
    names
}

/// The kind determines the called vendor when no address is configured.
#[tokio::test]
async fn a_key_of_the_environment_does_not_go_to_another_kind() {
    let options = Options::default().env("OPENAI_API_KEY", "sk-of-the-environment");
    let (_server, owner) = crate::steps::light_owner(options).await;
    assert_eq!(provider(&owner, "openai").await["configured"], true);
    set(&owner, "models.providers.openai.kind", json!("anthropic")).await;
    let moved = provider(&owner, "openai").await;
    assert_eq!(
        (&moved["kind"], &moved["configured"]),
        (&json!("anthropic"), &json!(false))
    );
    set(&owner, "models.providers.openai.kind", Value::Null).await;
    assert_eq!(provider(&owner, "openai").await["configured"], true);
}

#[tokio::test]
async fn a_stored_key_belongs_to_the_kind_and_origin_it_was_entered_for() {
    let (_server, owner) = TestServer::with_owner().await;
    let (kind, base_url) = (
        "models.providers.mine.kind",
        "models.providers.mine.base_url",
    );
    set(&owner, base_url, json!("https://api.example/v1")).await;
    let key = json!({ "id": "mine", "key": "sk-test-abcdefgh-1234" });
    owner.rpc("providers.set_key", key.clone()).await.unwrap();
    for (setting, value, configured) in [
        (base_url, json!("https://api.example/v2"), true),
        (kind, json!("anthropic"), false),
        (kind, json!("openai"), true),
        (base_url, json!("https://other.example/v1"), false),
        (base_url, json!("http://api.example/v1"), false),
        (base_url, json!("https://api.example:8443/v1"), false),
        (base_url, json!("http://127.0.0.1:9/v1"), false),
        (base_url, json!("https://api.example:443/v1"), true),
        (kind, json!("anthropic"), false),
    ] {
        set(&owner, setting, value.clone()).await;
        let now = provider(&owner, "mine").await;
        assert_eq!(now["configured"], configured, "{setting} {value}");
        let key_for = (!configured).then_some("https://api.example/v1");
        assert_eq!(now["key_for"].as_str(), key_for, "{setting} {value}");
        assert_eq!(
            doctor_names(&owner, "mine").await,
            !configured,
            "{setting} {value}"
        );
    }
    owner.rpc("providers.set_key", key).await.unwrap();
    assert_eq!(provider(&owner, "mine").await["configured"], true);
}

#[tokio::test]
async fn a_key_that_fails_its_test_does_not_replace_the_stored_one() {
    let (_server, owner) = TestServer::with_owner().await;
    let base_url = json!("http://127.0.0.1:9/v1");
    set(&owner, "models.providers.mine.base_url", base_url).await;
    let key = json!({ "id": "mine", "key": "sk-test-abcdefgh-1234" });
    owner.rpc("providers.set_key", key).await.unwrap();
    let before = provider(&owner, "mine").await;
    for (key, code) in [
        ("sk-test-abcdefgh-5678", "PROVIDER_FAILED"),
        ("sk test", "INVALID_PARAMS"),
    ] {
        let params = json!({ "id": "mine", "key": key });
        assert_eq!(
            owner.rpc("providers.test", params).await,
            Err(code.to_owned())
        );
    }
    assert_eq!(provider(&owner, "mine").await, before);
}
