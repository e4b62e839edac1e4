//! Keys of voice providers.

use super::{bad, blamed};
use gatehouse_testkit::{Options, PASSWORD, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn changes_of_keys_and_of_the_vault_are_published_too() {
    let options = Options::default().env("SERVICE_VAULT__KEEP_PLAINTEXT_PROVIDER_KEYS", "false");
    let server = TestServer::start(options).await;
    let owner = server.set_up().await;
    let mut socket = server.socket(&owner, "/ws").await;
    let key = json!({ "id": "elevenlabs", "key": "el-test-abcdefgh-1234" });
    let set = owner.rpc("providers.set_key", key).await.unwrap();
    assert_eq!(
        set,
        json!({
            "id": "tts_cloud_1", "kind": "tts", "base_url": "https://api.elevenlabs.io/v1",
            "configured": true, "detected": false, "key_hint": "…1234",
        })
    );
    let there = json!({ "provider": "tts_cloud_1", "configured": true });
    let nobody = json!({ "provider": "", "configured": false });
    let of = |received: &Value| {
        let tts = &received["tts"];
        json!({ "provider": tts["provider"], "configured": tts["configured"] })
    };
    assert_eq!(of(&socket.event("voice.settings").await.unwrap()), there);
    // The list contains only voice providers with a stored key. `providers.test` does not apply to them.
    let listed = owner.rpc("providers.list", json!({})).await.unwrap();
    let all = listed["providers"].as_array().unwrap();
    let of_voice: Vec<_> = all
        .iter()
        .filter(|one| one["kind"] == "tts" || one["kind"] == "stt")
        .collect();
    assert_eq!(of_voice, [&set]);
    for id in ["tts_cloud_1", "elevenlabs", "stt_local_2"] {
        let refused = blamed(&owner, "providers.test", json!({ "id": id })).await;
        assert_eq!(refused, bad("INVALID_PARAMS", "id"), "{id}");
    }
    owner
        .post("/api/auth/vault/seal", json!({}))
        .await
        .expect(200);
    // A provider that had a key may still have one, so no other provider takes over.
    let sealed = json!({ "provider": "tts_cloud_1", "configured": false });
    assert_eq!(of(&socket.event("voice.settings").await.unwrap()), sealed);
    owner
        .post("/api/auth/vault/unlock", json!({ "password": PASSWORD }))
        .await
        .expect(200);
    assert_eq!(of(&socket.event("voice.settings").await.unwrap()), there);
    let id = json!({ "id": "tts_cloud_1" });
    owner.rpc("providers.remove_key", id).await.unwrap();
    assert_eq!(of(&socket.event("voice.settings").await.unwrap()), nobody);
}
