//! `POST /v1/audio/translations`.

use super::{Harness, form, upload, wav};
use gatehouse_testkit::{Actor, Reply};
use serde_json::json;

const PATH: &str = "/v1/audio/translations";

async fn translate(client: &Actor, fields: &[(&str, &str)]) -> Reply {
    upload(client, PATH, fields).await
}

async fn client(harness: &Harness) -> Actor {
    let scopes = ["operator.write"];
    harness.server.api_key(&harness.owner, &scopes).await
}

#[tokio::test]
async fn a_recording_is_translated_in_each_format() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    let format = async |format: &str| {
        let fields = [
            ("model", "whisper-1"),
            ("response_format", format),
            ("temperature", "0.2"),
            ("prompt", "Ada"),
        ];
        translate(&client, &fields).await
    };
    let plain = json!({ "text": "Good morning." });
    assert_eq!(translate(&client, &[]).await.expect(200), plain);
    let heard = harness.vendor.heard().pop().unwrap();
    assert_eq!(heard["model"], ["whisper-1"]);
    assert_eq!(format("json").await.expect(200), plain);
    let heard = harness.vendor.heard().pop().unwrap();
    assert_eq!(heard["prompt"], ["Ada"]);
    assert_eq!(format("text").await.text, "Good morning.\n");
    let srt = format("srt").await;
    assert_eq!(
        srt.text.trim_end(),
        "1\n00:00:00,000 --> 00:00:00,500\nGood morning."
    );
    let vtt = format("vtt").await;
    assert_eq!(
        vtt.text.trim_end(),
        "WEBVTT\n\n00:00:00.000 --> 00:00:00.500\nGood morning."
    );
    let verbose = format("verbose_json").await.expect(200);
    assert_eq!(
        (&verbose["task"], &verbose["language"], &verbose["text"]),
        (
            &json!("translate"),
            &json!("english"),
            &json!("Good morning.")
        )
    );
    assert_eq!(verbose["segments"].as_array().unwrap().len(), 1);
    assert_eq!(verbose.get("words"), None);
}

#[tokio::test]
async fn what_cannot_be_translated_is_refused() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    for (fields, field) in [
        ([("response_format", "xml")], "response_format"),
        ([("temperature", "1.1")], "temperature"),
        ([("language", "klingon")], "language"),
        ([("model", "gpt-4o-transcribe")], "model"),
        ([("model", "deepgram")], "model"),
        ([("model", "voxtral-local/any")], "model"),
    ] {
        let received = translate(&client, &fields).await;
        let received = received.refused(400, "INVALID_PARAMS");
        assert_eq!(received["field"], field, "{fields:?}");
        assert_eq!(received["error"]["param"], field, "{fields:?}");
        if field == "model" {
            let message = received["error"]["message"].as_str().unwrap();
            let names = ["whisper-1", "stt_cloud_1"];
            assert!(names.iter().any(|name| message.contains(name)), "{message}");
        }
    }
    let (media_type, body) = form(&[("\"model\"", b"whisper-1")]);
    let none = client
        .send_bytes("POST", PATH, Some(media_type), body)
        .await;
    assert_eq!(none.refused(400, "INVALID_PARAMS")["field"], "file");
    let raw = client
        .send_bytes("POST", PATH, Some("audio/wav"), wav())
        .await;
    raw.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    let groq = translate(&client, &[("model", "groq")]).await;
    groq.refused(503, "NOT_CONFIGURED");
    assert!(harness.vendor.heard().is_empty());
}

#[tokio::test]
async fn a_translation_needs_the_scope_and_the_path() {
    let harness = Harness::new().await;
    for (scope, only, status) in [
        ("operator.write", json!(null), 200),
        ("operator.write", json!(["/v1/audio/*"]), 200),
        ("operator.write", json!(["/v1/audio/transcriptions"]), 403),
        ("operator.read", json!(null), 403),
    ] {
        let body = json!({ "label": "key", "scopes": [scope], "only": only });
        let made = harness.owner.post("/api/auth/api-keys", body).await;
        let key = made.expect(200)["key"].as_str().unwrap().to_owned();
        let got = translate(&harness.server.local().bearer(&key), &[]).await;
        assert_eq!(got.status, status, "{scope} {only} {}", got.text);
    }
}
