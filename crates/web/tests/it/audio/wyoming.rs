//! Wyoming clients: the protocol's own Python package, and clients that misbehave.

use super::Harness;
use super::vendor::audio_of;
use gatehouse_doubles::prepared;
use gatehouse_testkit::{Options, SPEECH, raw};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Returns a port that was free a moment ago.
fn address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

async fn harness(address: SocketAddr) -> Harness {
    let bind = address.to_string();
    Harness::with(Options::default().env("SERVICE_VOICE__WYOMING__BIND", &bind)).await
}

/// Returns the Python interpreter with the client.
pub(super) fn interpreter() -> Option<PathBuf> {
    prepared("GATEHOUSE_TEST_PYTHON", "the Wyoming client")
}

#[tokio::test]
async fn the_protocol_s_own_client_speaks_and_transcribes() {
    let Some(python) = interpreter() else { return };
    let address = address();
    let harness = harness(address).await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wyoming_client.py");
    let recording = harness.server.directory().join("speech.wav");
    tokio::fs::write(&recording, SPEECH).await.unwrap();
    let client = tokio::process::Command::new(python)
        .arg(script)
        .arg(address.port().to_string())
        .arg(&recording)
        .stdin(Stdio::null())
        .output();
    let output = client.await.unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    let audio = |text: &str| json!({ "rate": 24_000, "width": 2, "channels": 1, "bytes": audio_of(text, "pcm").len() });
    let expected = json!({
        "models": ["stt_cloud_1"], "voices": ["tts_cloud_2"], "languages": [true, true],
        "pong": "here", "spoken": audio("Hello there."), "with_voice": audio("Hello there."),
        "unknown_voice": { "error": "INVALID_PARAMS" }, "has_ended": true,
        "heard": { "text": "Hello there.", "language": "en" },
        "with_model": { "text": "Hello there.", "language": "en" },
        "unknown_model": { "error": "INVALID_PARAMS" },
        "streaming": [[false], [true]],
        "pieces": { "starts": 1, "stops": 1,
            "bytes": audio_of("Hello there, dear gateway.", "pcm").len() + audio_of("How are you?", "pcm").len() },
        "again": audio("Bye."),
    });
    assert_eq!(seen, expected);
    assert_eq!(harness.vendor.spoken()[1]["voice"], "nova");
    let asked = &harness.vendor.heard()[0];
    assert_eq!(asked["language"], ["en"]);
}

/// Returns one event as the protocol writes it.
fn event(head: &Value) -> Vec<u8> {
    format!("{head}\n").into_bytes()
}

#[tokio::test]
async fn what_is_malformed_or_has_failed_ends_the_connection() {
    let address = address();
    let harness = harness(address).await;
    for bad in [
        b"POST /v1 HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
        event(&json!({ "type": "audio-chunk", "payload_length": 1 << 30 })),
        b"{}\n".to_vec(),
    ] {
        assert_eq!(raw(address, &bad).await, b"");
    }
    // The body of a refused request is read to its end.
    let odd = json!({ "rate": 96_000, "width": 2, "channels": 1 });
    let sent = [
        event(&json!({ "type": "audio-start", "data": odd })),
        event(&json!({ "type": "ping", "data": { "text": "a" } })),
        event(&json!({ "type": "intent" })),
        event(&json!({ "type": "audio-stop" })),
    ]
    .concat();
    let answer = String::from_utf8(raw(address, &sent).await).unwrap();
    assert!(answer.contains("INVALID_PARAMS"), "{answer}");
    assert!(answer.contains("\"pong\""), "{answer}");
    assert!(harness.vendor.heard().is_empty());
}

#[tokio::test]
async fn nobody_listens_unless_it_is_configured() {
    let address = address();
    let _harness = Harness::new().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
