//! `stt.*`.

use super::{SILENCE, bad, blamed, refusal, wav_head, with_vendor};
use crate::steps::light_owner;
use gatehouse_testkit::Options;
use gatehouse_voice::{ProviderId, SttId};
use serde_json::{Value, json};

fn wav() -> String {
    data_encoding::BASE64.encode(&[wav_head(), SILENCE.to_vec()].concat())
}

#[tokio::test]
async fn nobody_listens_at_first() {
    let (_server, owner) = light_owner(Options::default()).await;
    assert_eq!(
        owner.rpc("stt.status", json!({})).await.unwrap(),
        json!({ "enabled": true, "provider": "", "configured": false })
    );
    let providers = owner.rpc("stt.providers", json!({})).await.unwrap();
    let ids: Vec<&str> = providers
        .as_array()
        .unwrap()
        .iter()
        .map(|provider| provider["id"].as_str().unwrap())
        .collect();
    let all: Vec<&str> = SttId::ALL.iter().map(|id| id.as_str()).collect();
    assert_eq!(ids, all);
    let refused = blamed(&owner, "stt.transcribe", json!({ "audio": wav() })).await;
    assert_eq!(refused, bad("NOT_CONFIGURED", "voice.stt.provider"));
}

#[tokio::test]
async fn speech_becomes_text() {
    let (_server, owner, vendor) = with_vendor(Options::default()).await;
    let params = json!({ "audio": wav(), "language": "en", "prompt": "A greeting." });
    let heard = owner.rpc("stt.transcribe", params).await.unwrap();
    for (name, value) in [
        ("text", json!("Hello there.")),
        ("language", json!("en")),
        // The segment's average log probability, as a probability.
        ("confidence", json!(1.0)),
        ("provider", json!("stt_cloud_1")),
        (
            "words",
            json!([
                { "word": "Hello", "start": 0.0, "end": 0.5 },
                { "word": "there", "start": 0.5, "end": 1.25 },
            ]),
        ),
        (
            "segments",
            json!([{ "text": "Hello there.", "start": 0.0, "end": 1.25 }]),
        ),
    ] {
        assert_eq!(heard.get(name), Some(&value), "{name}");
    }
    assert!(heard["durationSeconds"].as_f64().unwrap() > 0.0);
    assert_eq!(heard.get("subtitles"), None);
    let sent = &vendor.heard()[0];
    assert_eq!(
        (&sent["prompt"], &sent["language"]),
        (&json!(true), &json!(true))
    );
    let none = json!({ "audio": wav().trim_end_matches('='), "provider": "stt_cloud_1" });
    assert!(owner.rpc("stt.transcribe", none).await.is_ok());
}

#[tokio::test]
async fn subtitles_are_given_besides() {
    let (_server, owner, _) = with_vendor(Options::default()).await;
    for (name, format, expected) in [
        (
            "response_format",
            "srt",
            "1\n00:00:00,000 --> 00:00:01,250\nHello there.\n\n",
        ),
        (
            "responseFormat",
            "vtt",
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.250\nHello there.\n\n",
        ),
    ] {
        let params = json!({ "audio": wav(), (name): format });
        let heard = owner.rpc("stt.transcribe", params).await.unwrap();
        assert_eq!(heard["subtitles"], expected);
        assert_eq!(heard["text"], "Hello there.");
    }
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let (_server, owner, vendor) = with_vendor(Options::default()).await;
    let nothing = data_encoding::BASE64.encode(b"no audio that anybody knows");
    for (method, params, field) in [
        (
            "stt.setProvider",
            json!({ "provider": "tts_cloud_1" }),
            "provider",
        ),
        ("stt.setProvider", json!({}), "provider"),
        ("stt.transcribe", json!({}), "audio"),
        ("stt.transcribe", json!({ "audio": "" }), "audio"),
        ("stt.transcribe", json!({ "audio": "####" }), "audio"),
        ("stt.transcribe", json!({ "audio": [1, 2] }), "audio"),
        ("stt.transcribe", json!({ "audio": nothing }), "audio"),
        (
            "stt.transcribe",
            json!({ "audio": wav(), "format": "mp4" }),
            "format",
        ),
        (
            "stt.transcribe",
            json!({ "audio": wav(), "language": "english" }),
            "language",
        ),
        (
            "stt.transcribe",
            json!({ "audio": wav(), "prompt": "a".repeat(4001) }),
            "prompt",
        ),
        (
            "stt.transcribe",
            json!({ "audio": wav(), "provider": "piper" }),
            "provider",
        ),
        (
            "stt.transcribe",
            json!({ "audio": wav(), "response_format": "text" }),
            "response_format",
        ),
        (
            "stt.transcribe",
            json!({ "audio": wav(), "temperature": 0 }),
            "temperature",
        ),
    ] {
        let refused = blamed(&owner, method, params.clone()).await;
        assert_eq!(refused, bad("INVALID_PARAMS", field), "{method} {field}");
    }
    assert_eq!(vendor.heard(), Vec::<Value>::new());
}

#[tokio::test]
async fn at_most_25_mib() {
    let (_server, owner, vendor) = with_vendor(Options::default()).await;
    let audio = |bytes: usize| {
        let mut audio = wav_head();
        audio.resize(bytes, 0);
        json!({ "audio": data_encoding::BASE64.encode(&audio) })
    };
    let data = refusal(&owner, "stt.transcribe", audio((25 << 20) + 1)).await;
    assert_eq!(
        (&data["code"], &data["max_bytes"]),
        (&json!("PAYLOAD_TOO_LARGE"), &json!(26_214_400))
    );
    assert_eq!(vendor.heard(), Vec::<Value>::new());
    // The header announces less audio than there is. The rest is not inspected but sent.
    let most = owner.rpc("stt.transcribe", audio(25 << 20)).await;
    assert!(most.is_ok(), "{most:?}");
    assert!(vendor.heard()[0]["bytes"].as_u64().unwrap() > 25 << 20);
}

#[tokio::test]
async fn choosing_and_switching_off() {
    let (server, owner, _) = with_vendor(Options::default()).await;
    let set = owner
        .rpc("stt.setProvider", json!({ "provider": "sherpa-onnx" }))
        .await;
    assert_eq!(set.unwrap(), json!({ "provider": "stt_local_3" }));
    let refused = blamed(&owner, "stt.transcribe", json!({ "audio": wav() })).await;
    assert_eq!(
        refused,
        bad("NOT_CONFIGURED", "voice.stt.stt_local_3.model_dir")
    );
    let server = server.restart().await;
    let owner = owner.at(server.address());
    assert_eq!(
        owner.rpc("stt.status", json!({})).await.unwrap(),
        json!({ "enabled": true, "provider": "stt_local_3", "configured": false })
    );
    let doctor = owner.rpc("system.doctor", json!({})).await.unwrap();
    let checks = doctor["checks"].as_array().unwrap();
    let voice = checks.iter().find(|check| check["id"] == "voice").unwrap();
    assert_eq!(voice["ok"], false);
    assert!(
        voice["message"]
            .as_str()
            .unwrap()
            .contains("Speech-to-text uses sherpa-onnx."),
        "{voice}"
    );
    let off = json!({ "key": "voice.stt.enabled", "value": false });
    owner.rpc("config.set", off).await.unwrap();
    let refused = blamed(&owner, "stt.transcribe", json!({ "audio": wav() })).await;
    assert_eq!(refused, bad("NOT_CONFIGURED", "voice.stt.enabled"));
    let fixed = Options::default().env("SERVICE_VOICE__STT__PROVIDER", "groq");
    let (_server, owner) = light_owner(fixed).await;
    let refused = owner
        .rpc("stt.setProvider", json!({ "provider": "mistral" }))
        .await;
    assert_eq!(refused, Err("CONFLICT".to_owned()));
}
