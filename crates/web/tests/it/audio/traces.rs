//! Trace spans of speech, their caller and their trace.

use super::talk::Talking;
use super::{Harness, bytes};
use crate::telemetry::collector::{Collector, Seen};
use crate::telemetry::{attribute, is_one_trace, named, only};
use gatehouse_testkit::Options;
use serde_json::{Value, json};

const FIRST: &str = "The quagga is the first sentence.";
const SECOND: &str = "And the okapi is the second one.";

async fn traced() -> (Collector, Harness) {
    let collector = Collector::start().await;
    let options = Options::default().env("SERVICE_TELEMETRY__OTLP_ENDPOINT", &collector.url);
    (collector, Harness::with(options).await)
}

/// Checks that each part of an answer has a span below the span of the turn.
fn is_spoken_by(seen: &Seen, turn: &Value, count: usize) {
    let speech = named(seen, "speech.synthesize");
    assert_eq!(speech.len(), count, "{:#?}", seen.spans);
    for part in speech {
        assert_eq!(part["parentSpanId"], turn["spanId"]);
        assert_eq!(attribute(part, "gatehouse.speech.provider"), "tts_cloud_2");
        assert_eq!(part.get("status"), None);
    }
}

fn has_no_text(seen: &Seen) {
    for text in ["quagga", "okapi", "Hello there"] {
        assert!(!seen.texts.contains(text), "{text} was sent");
    }
}

#[tokio::test]
async fn the_speech_of_an_answer_belongs_to_its_turn() {
    let (collector, mut harness) = traced().await;
    harness.set("voice.tts.auto", json!("always")).await;
    let mut socket = harness.server.socket(&harness.owner, "/ws/chat").await;
    harness.model.will_say(&[FIRST, " ", SECOND]);
    let sent = json!({ "text": "Tell me." });
    socket.call("chat.send", sent).await.unwrap();
    while socket.event("chat.audio").await.unwrap()["last"] != true {}
    drop(harness.server.stop().await);

    let seen = collector.seen();
    assert_eq!(seen.faults, [""; 0]);
    let turn = only(&seen, "agent.turn");
    is_one_trace(&seen, &turn["traceId"], None);
    is_spoken_by(&seen, turn, 2);
    has_no_text(&seen);
}

#[tokio::test]
async fn a_spoken_conversation_is_one_trace_from_the_utterance_to_the_speech() {
    let (collector, mut harness) = traced().await;
    harness.model.will_say(&[FIRST, " ", SECOND]);
    let mut talking = Talking::start(&harness, json!({})).await;
    talking.ask().await;
    talking.until("answer").await;
    drop(talking);
    drop(harness.server.stop().await);

    let seen = collector.seen();
    assert_eq!(seen.faults, [""; 0]);
    let utterance = only(&seen, "talk.utterance");
    is_one_trace(&seen, &utterance["traceId"], None);
    for name in ["speech.transcribe", "agent.turn"] {
        assert_eq!(only(&seen, name)["parentSpanId"], utterance["spanId"]);
    }
    is_spoken_by(&seen, only(&seen, "agent.turn"), 2);
    has_no_text(&seen);
}

#[tokio::test]
async fn a_programs_request_for_speech_is_a_trace_to_the_last_byte() {
    for (input, stream_format, error) in [
        ("okapi", "audio", None),
        ("okapi", "sse", None),
        ("break", "sse", Some("PROVIDER_FAILED")),
    ] {
        let (collector, mut harness) = traced().await;
        let body = json!({ "input": input, "stream_format": stream_format });
        let asked = harness.owner.request("POST", "/v1/audio/speech");
        assert_eq!(bytes(asked.json(&body)).await.status, 200);
        drop(harness.server.stop().await);

        let seen = collector.seen();
        assert_eq!(seen.faults, [""; 0]);
        let request = only(&seen, "api.speech");
        is_one_trace(&seen, &request["traceId"], None);
        let speech = only(&seen, "speech.synthesize");
        assert_eq!(speech["parentSpanId"], request["spanId"]);
        for span in [request, speech] {
            let failed = span.get("status").map(|_| attribute(span, "error.type"));
            assert_eq!(failed.and_then(Value::as_str), error, "{span}");
        }
        has_no_text(&seen);
    }
}
