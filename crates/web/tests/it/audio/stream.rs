//! `POST /api/tts/stream`.

use super::vendor::{ATTEMPTS, audio_of};
use super::{Harness, bytes};
use gatehouse_testkit::{Actor, Socket};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn audio_comes_with_what_there_is_to_know_of_it() {
    let harness = Harness::new().await;
    let persona = json!({ "id": "ada", "label": "Ada",
        "providerBindings": [{ "provider": "openai", "voice_id": "nova" }] });
    harness
        .owner
        .rpc("voice.personas.create", persona)
        .await
        .unwrap();
    for format in ["mp3", "opus", "wav", "pcm"] {
        let body = json!({ "text": "Hello.", "format": format, "persona": "ada" });
        let request = harness.owner.request("POST", "/api/tts/stream").json(&body);
        let got = bytes(request).await;
        assert_eq!(got.status, 200, "{format}");
        assert_eq!(got.body, audio_of("Hello.", format), "{format}");
        let media_type = gatehouse_audio::Format::parse(format).unwrap().mime_type();
        assert_eq!(got.header("content-type"), media_type);
        assert_eq!(got.header("x-provider"), "tts_cloud_2");
        assert_eq!(got.header("x-persona"), "ada");
        assert_eq!(got.header("cache-control"), "no-store");
        assert_eq!(got.headers.get("content-length"), None);
        assert_eq!(harness.vendor.spoken().last().unwrap()["voice"], "nova");
    }
}

#[tokio::test]
async fn the_first_bytes_come_before_the_last_and_who_leaves_ends_it() {
    let harness = Harness::new().await;
    let request = harness.owner.request("POST", "/api/tts/stream");
    let mut response = request
        .json(&json!({ "text": "hang" }))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status().as_u16(), 200);
    let whole = audio_of("hang", "mp3");
    let first = response.chunk().await.unwrap().unwrap();
    assert!(whole.starts_with(&first) && first.len() < whole.len());
    drop(response);
    harness.vendor.until_left(1).await;
}

/// The answer ends within a second over both transports.
#[tokio::test]
async fn a_call_that_nobody_waits_for_ends_at_the_vendor() {
    let harness = Harness::new().await;
    let call = json!({ "id": 1, "method": "tts.convert", "params": { "text": "hang" } });
    let sending = harness.owner.request("POST", "/api/rpc").json(&call).send();
    let mut sending = Box::pin(sending);
    tokio::select! {
        _ = &mut sending => panic!("nothing is to be answered"),
        () = harness.vendor.until_asked(1) => {}
    }
    drop(sending);
    soon(harness.vendor.until_left(1)).await;
    let mut socket = Socket::open(&harness.owner, "/ws").await.unwrap();
    socket.send(call.to_string()).await;
    harness.vendor.until_asked(2).await;
    drop(socket);
    soon(harness.vendor.until_left(2)).await;
}

async fn soon(happens: impl Future<Output = ()>) {
    let limit = std::time::Duration::from_secs(1);
    tokio::time::timeout(limit, happens).await.unwrap();
}

#[tokio::test]
async fn what_breaks_off_is_not_taken_for_whole() {
    let harness = Harness::new().await;
    for path in ["/api/tts/stream", "/v1/audio/speech"] {
        let body = if path.starts_with("/v1") {
            json!({ "model": "tts-1", "voice": "alloy", "input": "break" })
        } else {
            json!({ "text": "break" })
        };
        let request = harness.owner.request("POST", path).json(&body);
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        assert!(response.bytes().await.is_err(), "{path}");
    }
}

#[tokio::test]
async fn before_the_first_byte_an_error_is_one() {
    let harness = Harness::new().await;
    let post = async |body| harness.owner.post("/api/tts/stream", body).await;
    let refused = post(json!({ "text": "refuse" })).await;
    let received = refused.refused(502, "PROVIDER_FAILED");
    assert_eq!(
        (&received["provider"], &received["retryable"]),
        (&json!("tts_cloud_2"), &json!(true))
    );
    for (body, field) in [
        (json!({}), "text"),
        (json!({ "text": " " }), "text"),
        (json!({ "text": "x".repeat(4097) }), "text"),
        (json!({ "text": "x", "format": "ape" }), "format"),
        (json!({ "text": "x", "speed": 5 }), "speed"),
        (json!({ "text": "x", "volume": 5 }), "volume"),
        (json!({ "text": "x", "persona": "nobody" }), "persona"),
    ] {
        let received = post(body.clone()).await.refused(400, "INVALID_PARAMS");
        assert_eq!(received["field"], field, "{body}");
    }
    assert_eq!(harness.vendor.spoken().len(), ATTEMPTS);
    harness.owner.rpc("tts.disable", json!({})).await.unwrap();
    let off = post(json!({ "text": "x" })).await;
    assert_eq!(
        off.refused(503, "NOT_CONFIGURED")["what"],
        "voice.tts.enabled"
    );
}

/// The setting limits the text's length, up to the setting's own maximum.
#[tokio::test]
async fn a_long_text_is_not_a_large_body() {
    let harness = Harness::new().await;
    for (text, code) in [
        ("\u{fffd}".repeat(1_000_000), "INVALID_PARAMS"),
        ("x".repeat(8 << 20), "PAYLOAD_TOO_LARGE"),
    ] {
        let said = harness
            .owner
            .post("/api/tts/stream", json!({ "text": text }))
            .await;
        assert_eq!(said.code(), code);
    }
}

#[tokio::test]
async fn streamed_speech_ends_with_the_key_of_its_request() {
    let harness = Harness::new().await;
    let keys = "/api/auth/api-keys";
    let key = json!({ "label": "x", "scopes": ["operator.write"] });
    let made = harness.owner.post(keys, key).await.expect(200);
    let client = harness.server.local();
    let client = client.bearer(made["key"].as_str().unwrap());
    let begun = async |actor: &Actor, path: &str, body: Value| {
        let sent = actor.request("POST", path).json(&body).send().await;
        let mut response = sent.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        assert!(response.chunk().await.unwrap().is_some());
        response
    };
    let own = || json!({ "text": "hang", "format": "mp3" });
    let audio = begun(&client, "/api/tts/stream", own()).await;
    let openai = begun(&client, "/v1/audio/speech", json!({ "input": "hang" })).await;
    let events = json!({ "input": "hang", "stream_format": "sse" });
    let events = begun(&client, "/v1/audio/speech", events).await;
    // Another caller gets the same speech.
    let mut others = begun(&harness.owner, "/api/tts/stream", own()).await;
    assert_eq!(harness.vendor.spoken().len(), 1);

    let path = format!("{keys}/{}", made["id"].as_str().unwrap());
    harness.owner.delete(&path).await.expect(200);
    let rest = async |response: reqwest::Response| {
        let rest = tokio::time::timeout(Duration::from_secs(20), response.bytes());
        rest.await.expect("it ends")
    };
    assert!(rest(audio).await.is_err(), "not mistaken for complete");
    assert!(rest(openai).await.is_err());
    let events = rest(events).await.unwrap();
    let last = super::speech_events::events(&events).pop().unwrap();
    assert_eq!(last["code"], "AUTH_NOT_AUTHENTICATED", "{last}");
    let waited = tokio::time::timeout(Duration::from_millis(300), others.chunk()).await;
    assert!(waited.is_err(), "it still waits for the vendor: {waited:?}");
    drop(others);
    harness.vendor.until_left(1).await;
}
