//! The server that speaks and transcribes is a Wyoming program from the protocol's own Python package.

use super::wyoming::interpreter;
use super::{Harness, bytes};
use gatehouse_testkit::{Options, SPEECH};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

const VOICE: &str = "en_US-lessac-medium";

/// The program. It ends when this is dropped.
struct Program {
    child: Child,
    shown: Lines<BufReader<ChildStdout>>,
    port: String,
}

impl Program {
    /// Starts the program. `None` without a Python interpreter.
    async fn start() -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wyoming_program.py");
        let mut child = Command::new(interpreter()?)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut shown = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = shown.next_line().await.unwrap().expect("a port");
        Some(Self { child, shown, port })
    }

    /// Returns the next request that the program received.
    async fn request(&mut self) -> Value {
        let line = self.shown.next_line().await.unwrap().expect("a request");
        serde_json::from_str(&line).unwrap()
    }

    async fn harness(&self) -> Harness {
        let url = format!("tcp://127.0.0.1:{}", self.port);
        let options = Options::default()
            .env("SERVICE_VOICE__TTS__COQUI__ENDPOINT", &url)
            .env("SERVICE_VOICE__TTS__COQUI__MODEL", VOICE)
            .env("SERVICE_VOICE__TTS__PROVIDER", "coqui")
            .env("SERVICE_VOICE__STT__VOXTRAL_LOCAL__ENDPOINT", &url)
            .env("SERVICE_VOICE__STT__PROVIDER", "voxtral-local");
        Harness::with(options).await
    }
}

#[tokio::test]
async fn a_program_of_the_protocol_s_own_package_speaks() {
    let Some(mut program) = Program::start().await else {
        return;
    };
    let harness = program.harness().await;
    let owner = &harness.owner;
    let convert = |params: Value| owner.rpc("tts.convert", params);
    let spoken = convert(json!({ "text": "Hello there.", "format": "wav" })).await;
    let spoken = spoken.unwrap();
    assert_eq!(spoken["provider"], "tts_local_2");
    // Five and six letters.
    assert_eq!(spoken["durationMs"], 220);
    let expected = json!({ "text": "Hello there.", "voice": VOICE, "speaker": null });
    assert_eq!(program.request().await, expected);
    // A listed voice with its speaker.
    let list = owner.get("/v1/audio/voices").await.expect(200);
    let voices = list["voices"].as_array().unwrap().iter();
    let ids: Vec<&str> = voices.map(|voice| voice["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [VOICE, "de_DE-mls-medium", "de_DE-mls-medium#2422"]);
    let body =
        json!({ "input": "Hallo.", "voice": ids[2], "model": "tts-1", "response_format": "pcm" });
    let got = bytes(owner.request("POST", "/v1/audio/speech").json(&body)).await;
    assert_eq!(got.status, 200);
    assert_eq!(got.body.len(), 24_000 / 50 * 6 * 2);
    let expected = json!({ "text": "Hallo.", "voice": "de_DE-mls-medium", "speaker": "2422" });
    assert_eq!(program.request().await, expected);
    let unknown = json!({ "text": "Hello.", "voiceId": "nobody" });
    let reply = owner.rpc_reply("tts.convert", unknown).await.expect(200);
    let words = "tts_local_2 reported: Unable to find voice: nobody (VoiceNotFoundError)";
    assert_eq!(reply["error"]["message"], words, "{reply}");
    assert_eq!(reply["error"]["data"]["code"], "PROVIDER_FAILED");
}

#[tokio::test]
async fn a_program_of_the_protocol_s_own_package_transcribes() {
    let Some(mut program) = Program::start().await else {
        return;
    };
    let harness = program.harness().await;
    let audio = data_encoding::BASE64.encode(SPEECH);
    let params = json!({ "audio": audio, "language": "en" });
    let heard = harness.owner.rpc("stt.transcribe", params).await.unwrap();
    assert_eq!(heard["text"], "Hello there.");
    assert_eq!(heard["language"], "en");
    assert_eq!(heard["provider"], "stt_local_1");
    let seconds = heard["durationSeconds"].as_f64().unwrap();
    let asked = program.request().await;
    assert_eq!(
        (&asked["name"], &asked["language"]),
        (&Value::Null, &json!("en"))
    );
    let sent = asked["bytes"].as_f64().unwrap() / 32_000.0;
    assert!((sent - seconds).abs() < 0.05, "{sent} of {seconds}");
}

#[tokio::test]
async fn the_doctor_says_what_the_program_has_or_that_it_is_gone() {
    let Some(mut program) = Program::start().await else {
        return;
    };
    let harness = program.harness().await;
    let check = async || {
        let doctor = harness.owner.rpc("system.doctor", json!({})).await.unwrap();
        let checks = doctor["checks"].as_array().unwrap().clone();
        checks
            .into_iter()
            .find(|check| check["id"] == "voice")
            .unwrap()
    };
    let fine = check().await;
    assert_eq!(fine["ok"], true, "{fine}");
    let message = fine["message"].as_str().unwrap();
    assert!(message.contains("piper 1.0 with the voices"), "{message}");
    assert!(
        message.contains("whisper 1.0 with the model base-int8 (de, en)"),
        "{message}"
    );
    program.child.kill().await.unwrap();
    let gone = check().await;
    assert_eq!(gone["ok"], false, "{gone}");
}
