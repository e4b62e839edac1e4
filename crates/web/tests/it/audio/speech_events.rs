//! `/v1/audio/speech` with `stream_format: "sse"`.

use super::vendor::audio_of;
use super::{Harness, bytes};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gatehouse_testkit::Actor;
use serde_json::{Value, json};

/// Returns the data of the events of a body.
pub fn events(body: &[u8]) -> Vec<Value> {
    let body = std::str::from_utf8(body).unwrap();
    let events = body.split("\n\n").filter(|event| !event.is_empty());
    events
        .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
        .collect()
}

/// Returns the audio of the deltas and the events after them.
fn spoken(events: &[Value]) -> (Vec<u8>, &[Value]) {
    let is_delta = |event: &&Value| event["type"] == "speech.audio.delta";
    let count = events.iter().take_while(is_delta).count();
    let audio = events[..count]
        .iter()
        .flat_map(|event| STANDARD.decode(event["audio"].as_str().unwrap()).unwrap());
    (audio.collect(), &events[count..])
}

async fn client(harness: &Harness) -> Actor {
    let scopes = ["operator.write"];
    harness.server.api_key(&harness.owner, &scopes).await
}

#[tokio::test]
async fn audio_arrives_as_events() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    let long = "A long text. ".repeat(300);
    for (text, model, format) in [
        ("Hello.", "tts-1", "mp3"),
        ("Hello.", "gpt-4o-mini-tts", "flac"),
        (&long, "gpt-4o-mini-tts", "pcm"),
    ] {
        let body = json!({ "model": model, "voice": "coral", "input": text,
            "response_format": format, "stream_format": "sse" });
        let got = bytes(client.request("POST", "/v1/audio/speech").json(&body)).await;
        assert_eq!(
            (got.status, got.header("content-type")),
            (200, "text/event-stream")
        );
        assert_eq!(got.header("cache-control"), "no-store");
        assert_eq!(
            (got.header("x-provider"), got.header("x-format")),
            ("tts_cloud_2", format)
        );
        let events = events(&got.body);
        let (audio, rest) = spoken(&events);
        let asked = harness.vendor.spoken().pop().unwrap();
        let input = asked["input"].as_str().unwrap();
        assert!(audio == audio_of(input, format), "{model} {format}");
        assert_eq!(asked.get("stream_format"), None);
        let usage = json!({ "input_tokens": 0, "output_tokens": 0, "total_tokens": 0 });
        let done = json!({ "type": "speech.audio.done", "usage": usage });
        assert_eq!(rest, [done], "{model} {format}");
        for event in &events[..events.len() - 1] {
            assert!(event["audio"].as_str().unwrap().len() <= 64 << 10);
        }
    }
}

#[tokio::test]
async fn speech_that_breaks_off_ends_with_an_error() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    let body = json!({ "input": "break", "stream_format": "sse" });
    let got = bytes(client.request("POST", "/v1/audio/speech").json(&body)).await;
    assert_eq!(got.status, 200);
    let events = events(&got.body);
    let (audio, rest) = spoken(&events);
    assert!(!audio.is_empty());
    let [error] = rest else {
        panic!("{rest:?}");
    };
    assert_eq!(error["code"], "PROVIDER_FAILED");
    assert_eq!(error["error"]["type"], "server_error");
    assert!(!error.to_string().contains("fault"), "{error}");
}

#[tokio::test]
async fn speech_that_does_not_begin_is_a_status() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    for (body, status, code) in [
        (json!({ "input": "refuse" }), 502, "PROVIDER_FAILED"),
        (json!({ "input": "" }), 400, "INVALID_PARAMS"),
        (
            json!({ "input": "x", "model": "piper" }),
            503,
            "NOT_CONFIGURED",
        ),
    ] {
        let mut body = body;
        body["stream_format"] = json!("sse");
        let refused = client.post("/v1/audio/speech", body).await;
        refused.refused(status, code);
    }
}
