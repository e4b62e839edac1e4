//! `/v1/audio/transcriptions` with `stream`.

use super::speech_events::events;
use super::{Harness, upload};
use gatehouse_testkit::{Actor, Reply};
use serde_json::json;

async fn client(harness: &Harness) -> Actor {
    let scopes = ["operator.write"];
    harness.server.api_key(&harness.owner, &scopes).await
}

async fn transcribe(client: &Actor, fields: &[(&str, &str)]) -> Reply {
    upload(client, "/v1/audio/transcriptions", fields).await
}

#[tokio::test]
async fn a_transcript_arrives_as_events() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    for (value, format) in [("true", "json"), ("True", "text"), ("1", "")] {
        let fields = [
            ("model", "gpt-4o-transcribe"),
            ("stream", value),
            ("response_format", format),
        ];
        let got = transcribe(&client, &fields).await;
        assert_eq!(got.status, 200, "{}", got.text);
        assert_eq!(got.header("content-type"), Some("text/event-stream"));
        assert_eq!(got.header("cache-control"), Some("no-store"));
        let delta = |text: &str| json!({ "type": "transcript.text.delta", "delta": text });
        let usage = json!({ "type": "tokens", "input_tokens": 14, "output_tokens": 5,
            "total_tokens": 19 });
        let done =
            json!({ "type": "transcript.text.done", "text": "Hello there.", "usage": usage });
        assert_eq!(
            events(got.text.as_bytes()),
            [delta("Hello "), delta("there."), done]
        );
        let heard = harness.vendor.heard().pop().unwrap();
        assert_eq!(heard["stream"], ["true"]);
    }
}

#[tokio::test]
async fn what_is_not_streamed_is_one_delta() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    // The provider's own model is Whisper.
    for model in ["whisper", "stt_cloud_1"] {
        let got = transcribe(&client, &[("model", model), ("stream", "true")]).await;
        let expected = [
            json!({ "type": "transcript.text.delta", "delta": "Hello there." }),
            json!({ "type": "transcript.text.done", "text": "Hello there." }),
        ];
        assert_eq!(events(got.text.as_bytes()), expected, "{model}");
    }
    harness.vendor.will_hear("");
    let got = transcribe(&client, &[("model", "whisper"), ("stream", "true")]).await;
    let done = json!({ "type": "transcript.text.done", "text": "" });
    assert_eq!(events(got.text.as_bytes()), [done]);
}

/// "Streaming is not supported for the `whisper-1` model and will be ignored."
#[tokio::test]
async fn for_whisper_1_the_field_is_ignored() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    for model in ["whisper-1", "whisper/whisper-1"] {
        let fields = [("model", model), ("stream", "true")];
        let got = transcribe(&client, &fields).await.expect(200);
        assert_eq!(got, json!({ "text": "Hello there." }), "{model}");
    }
    let fields = [
        ("model", "whisper-1"),
        ("stream", "true"),
        ("response_format", "srt"),
    ];
    let srt = transcribe(&client, &fields).await;
    assert!(srt.text.contains("-->"), "{}", srt.text);
}

#[tokio::test]
async fn a_stream_has_no_times() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    for format in ["srt", "vtt", "verbose_json", "xml"] {
        let fields = [
            ("model", "gpt-4o-transcribe"),
            ("stream", "true"),
            ("response_format", format),
        ];
        let received = transcribe(&client, &fields).await;
        let received = received.refused(400, "INVALID_PARAMS");
        assert_eq!(received["field"], "response_format", "{format}");
        assert!(
            received["error"]["message"]
                .as_str()
                .unwrap()
                .contains("json")
        );
    }
    assert!(harness.vendor.heard().is_empty());
}

#[tokio::test]
async fn a_transcript_that_breaks_off_ends_with_an_error() {
    let harness = Harness::new().await;
    let client = client(&harness).await;
    harness.vendor.will_hear("break");
    let fields = [("model", "gpt-4o-transcribe"), ("stream", "true")];
    let got = transcribe(&client, &fields).await;
    assert_eq!(got.status, 200);
    let events = events(got.text.as_bytes());
    assert_eq!(events[0]["delta"], "break");
    assert_eq!(events[1]["code"], "PROVIDER_FAILED");
    assert_eq!(events[1]["error"]["type"], "server_error");
    assert_eq!(events.len(), 2);
    harness.vendor.will_hear("refuse");
    let refused = transcribe(&client, &fields).await;
    refused.refused(502, "PROVIDER_FAILED");
}
