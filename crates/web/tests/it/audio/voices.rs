//! `GET /v1/audio/voices`. The lists of the vendors are tested in the crate `voice`.

use super::{Harness, bytes};
use gatehouse_testkit::Options;
use serde_json::{Value, json};

const PATH: &str = "/v1/audio/voices";

fn ids(list: &Value) -> Vec<&str> {
    let voices = list["voices"].as_array().unwrap().iter();
    voices.map(|voice| voice["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn each_listed_voice_can_be_named() {
    let harness = Harness::new().await;
    let scopes = ["operator.read", "operator.write"];
    let client = harness.server.api_key(&harness.owner, &scopes).await;
    let list = client.get(PATH).await.expect(200);
    let ids = ids(&list);
    assert_eq!(ids.len(), 13);
    assert_eq!(
        list["voices"][0],
        json!({ "id": "alloy", "name": "alloy" }),
        "{list}"
    );
    let body = json!({ "input": "Hi.", "voice": ids[1] });
    let got = bytes(client.request("POST", "/v1/audio/speech").json(&body)).await;
    assert_eq!(got.status, 200);
    assert_eq!(harness.vendor.spoken()[0]["voice"], ids[1]);
    // The query selects a provider as `model` in a request does.
    let same = client.get(&format!("{PATH}?model=tts-1&x=y")).await;
    assert_eq!(same.expect(200), list);
    let other = client.get("/v1/audio/voices?model=elevenlabs/eleven_v3");
    let received = other.await.refused(503, "NOT_CONFIGURED");
    assert_eq!(received["what"], "voice.tts.tts_cloud_1.api_key");
    assert_eq!(received["error"]["code"], "NOT_CONFIGURED", "{received}");
    let twice = client.get(&format!("{PATH}?model=piper&model=piper")).await;
    assert_eq!(twice.refused(400, "INVALID_PARAMS")["field"], "model");
}

#[tokio::test]
async fn a_provider_without_voices_lists_none() {
    let options = Options::default()
        .env("SERVICE_VOICE__TTS__COQUI__ENDPOINT", "http://127.0.0.1:9")
        .env("SERVICE_VOICE__TTS__PROVIDER", "coqui");
    let harness = Harness::with(options).await;
    let empty = json!({ "voices": [] });
    assert_eq!(harness.owner.get(PATH).await.expect(200), empty);
    // The active persona speaks with its own provider.
    let persona = json!({ "id": "ada", "label": "Ada", "provider": "openai" });
    let call = |method: &'static str, params| harness.owner.rpc(method, params);
    call("voice.personas.create", persona).await.unwrap();
    let active = json!({ "id": "ada" });
    call("voice.personas.set_active", active).await.unwrap();
    assert_eq!(ids(&harness.owner.get(PATH).await.expect(200)).len(), 13);
}

#[tokio::test]
async fn a_key_needs_the_scope_and_the_path() {
    let harness = Harness::new().await;
    for (scope, only, status) in [
        ("operator.read", json!(null), 200),
        ("operator.read", json!(["/v1/audio/*"]), 200),
        ("operator.read", json!(["/v1/audio/voices"]), 200),
        ("operator.read", json!(["/v1/audio/speech"]), 403),
        ("operator.read", json!(["tts.*"]), 403),
        ("operator.pairing", json!(null), 403),
    ] {
        let body = json!({ "label": "key", "scopes": [scope], "only": only });
        let made = harness.owner.post("/api/auth/api-keys", body).await;
        let key = made.expect(200)["key"].as_str().unwrap().to_owned();
        let client = harness.server.local().bearer(&key);
        let got = client.get(PATH).await;
        assert_eq!(got.status, status, "{scope} {only} {}", got.text);
    }
    let anonymous = harness.server.local().remote();
    anonymous
        .get(PATH)
        .await
        .refused(401, "AUTH_NOT_AUTHENTICATED");
}

#[tokio::test]
async fn the_last_request_to_each_provider_is_reported() {
    let harness = Harness::new().await;
    let last_use = async |method: &str, id: &str| {
        let all = harness.owner.rpc(method, json!({})).await.unwrap();
        let all = all.as_array().unwrap().clone();
        let provider = all.into_iter().find(|one| one["id"] == id).unwrap();
        provider["lastUse"].clone()
    };
    assert_eq!(last_use("tts.providers", "tts_cloud_2").await, Value::Null);
    let speak = async |text: &str| {
        let params = json!({ "text": text, "provider": "tts_cloud_2" });
        harness.owner.rpc("tts.convert", params).await
    };
    speak("hello").await.unwrap();
    let used = last_use("tts.providers", "tts_cloud_2").await;
    assert_eq!(used["ok"], true);
    assert!(used["at"].is_string());
    assert_eq!(last_use("stt.providers", "stt_cloud_1").await, Value::Null);
    speak("refuse").await.unwrap_err();
    let used = last_use("tts.providers", "tts_cloud_2").await;
    assert_eq!(
        (&used["ok"], &used["code"]),
        (&json!(false), &json!("PROVIDER_FAILED"))
    );
    // An invalid request says nothing about the provider.
    speak("").await.unwrap_err();
    let after = last_use("tts.providers", "tts_cloud_2").await;
    assert_eq!(after, used);
}

#[tokio::test]
async fn a_provider_is_tested_and_a_new_key_is_untested() {
    let harness = Harness::new().await;
    let call = async |method: &str, params: Value| harness.owner.rpc(method, params).await;
    let test = async |kind: &str, provider: &str| {
        let params = json!({ "kind": kind, "provider": provider });
        harness.owner.rpc("voice.test", params).await
    };
    let listed = async || {
        let all = call("tts.providers", json!({})).await.unwrap();
        let all = all.as_array().unwrap().clone();
        let found = all.into_iter().find(|one| one["id"] == "tts_cloud_1");
        found.unwrap()["lastUse"].clone()
    };
    for (kind, name) in [
        ("tts", "openai"),
        ("tts", "tts_cloud_2"),
        ("stt", "whisper"),
    ] {
        let tested = test(kind, name).await.unwrap();
        assert_eq!(
            (&tested["ok"], &tested["tested"]),
            (&json!(true), &json!(true))
        );
    }
    assert_eq!(harness.vendor.texts(), ["Test", "Test"]);
    assert_eq!(harness.vendor.heard().len(), 1);
    let missing = test("tts", "elevenlabs").await.unwrap();
    assert_eq!(missing["code"], "NOT_CONFIGURED");
    harness
        .set(
            "voice.tts.tts_cloud_1.base_url",
            json!("http://127.0.0.1:9/v1"),
        )
        .await;
    // A key in the request replaces the missing key and is not stored.
    let key = "el-test-abcdefgh-0000";
    let params = json!({ "kind": "tts", "provider": "elevenlabs", "key": key });
    let unsaved = call("voice.test", params).await.unwrap();
    assert_eq!(unsaved["message"], "tts_cloud_1 could not be reached.");
    let missing = test("tts", "elevenlabs").await.unwrap();
    assert_eq!(missing["code"], "NOT_CONFIGURED");
    let key = json!({ "id": "elevenlabs", "key": "el-test-abcdefgh-1234" });
    call("providers.set_key", key).await.unwrap();
    assert_eq!(listed().await, Value::Null);
    let unreachable = test("tts", "elevenlabs").await.unwrap();
    assert_eq!(unreachable["message"], "tts_cloud_1 could not be reached.");
    let last_use = listed().await;
    for field in ["ok", "tested", "code", "message"] {
        assert_eq!(last_use[field], unreachable[field], "{field}");
    }
    let key = json!({ "id": "elevenlabs", "key": "el-test-abcdefgh-5678" });
    call("providers.set_key", key).await.unwrap();
    assert_eq!(listed().await, Value::Null);
    for (kind, name) in [("tts", "whisper"), ("tts", "nobody")] {
        let refused = test(kind, name).await.unwrap_err();
        assert_eq!(refused, "INVALID_PARAMS", "{name}");
    }
}
