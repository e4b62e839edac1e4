//! `gatehouse voice …` against a real process and a small vendor.

use crate::process::{BINARY, CommandOutput, Installation, Server};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

pub const KEY: &str = "sk-vendor-test";
/// A tenth of a second of silence: 16 bits, mono, 24 kHz.
const SILENCE: [u8; 4800] = [0; 4800];

/// A vendor that follows `OpenAI`'s reference (<https://platform.openai.com/docs/api-reference/audio>). It records the
/// texts to speak and can be made to fail.
#[derive(Clone, Default)]
pub struct Vendor {
    asked: Arc<Mutex<Vec<Value>>>,
    is_broken: Arc<AtomicBool>,
}

impl Vendor {
    pub fn start() -> (Self, String) {
        let vendor = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let serving = vendor.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serving.serve(stream);
            }
        });
        (vendor, url)
    }

    fn serve(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut first, mut length, mut is_known) = (String::new(), 0, false);
        reader.read_line(&mut first).unwrap();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap(),
                "authorization" => is_known = value.trim() == format!("Bearer {KEY}"),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let path = first.split(' ').nth(1).unwrap_or_default();
        let (status, answer) = match path {
            _ if !is_known => ("401 Unauthorized", Vec::new()),
            _ if self.is_broken.load(Ordering::SeqCst) => ("400 Bad Request", Vec::new()),
            "/v1/audio/speech" => self.speak(&body),
            "/v1/audio/transcriptions" => ("200 OK", listen(&body)),
            _ => ("404 Not Found", Vec::new()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            answer.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&answer).unwrap();
    }

    fn speak(&self, body: &[u8]) -> (&'static str, Vec<u8>) {
        let Ok(body) = serde_json::from_slice::<Value>(body) else {
            return ("400 Bad Request", Vec::new());
        };
        let audio = match body["response_format"].as_str().unwrap_or("mp3") {
            "wav" => [wav_head(), SILENCE.to_vec()].concat(),
            "pcm" => SILENCE.to_vec(),
            // Frames of silence: MPEG 1 layer 3, 128 kbit/s, 44.1 kHz.
            _ => [&[0xff, 0xfb, 0x90, 0x64][..], &[0; 413]]
                .concat()
                .repeat(8),
        };
        self.asked.lock().unwrap().push(body);
        ("200 OK", audio)
    }

    fn last(&self) -> Value {
        self.asked.lock().unwrap().last().unwrap().clone()
    }
}

/// RIFF WAVE, PCM (<https://learn.microsoft.com/windows/win32/multimedia/multimedia-file-format>).
fn wav_head() -> Vec<u8> {
    let length = u32::try_from(SILENCE.len()).unwrap();
    let mut head = b"RIFF".to_vec();
    head.extend((36 + length).to_le_bytes());
    head.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    head.extend(24_000_u32.to_le_bytes());
    head.extend(48_000_u32.to_le_bytes());
    head.extend(b"\x02\0\x10\0data");
    head.extend(length.to_le_bytes());
    head
}

fn listen(body: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(body);
    assert!(text.contains("name=\"file\"") && text.contains("name=\"model\""));
    let heard = json!({
        "task": "transcribe", "language": "english", "duration": 1.5, "text": "Hello there.",
        "words": [{ "word": "Hello", "start": 0.0, "end": 0.5 }, { "word": "there", "start": 0.5, "end": 1.25 }],
        "segments": [
            { "id": 0, "seek": 0, "start": 0.0, "end": 1.25, "text": " Hello there.", "tokens": [],
              "temperature": 0.0, "avg_logprob": 0.0, "compression_ratio": 1.0, "no_speech_prob": 0.01 },
        ],
    });
    heard.to_string().into_bytes()
}

/// A server that uses the vendor for speech and transcription. Lists hide the speech provider.
struct Gateway {
    installation: Installation,
    server: Server,
    vendor: Vendor,
}

impl Gateway {
    fn new() -> Self {
        let (vendor, url) = Vendor::start();
        let mut installation = Installation::new();
        for section in ["TTS__OPENAI", "STT__WHISPER"] {
            installation.env(&format!("SERVICE_VOICE__{section}__BASE_URL"), url.as_str());
            installation.env(&format!("SERVICE_VOICE__{section}__API_KEY"), KEY);
        }
        installation.env("SERVICE_VOICE__TTS__PROVIDERS", "piper");
        let server = installation.start();
        Self {
            installation,
            server,
            vendor,
        }
    }

    fn voice(&self, args: &[&str]) -> CommandOutput {
        let mut all = vec!["--url", &self.server.url, "voice"];
        all.extend(args);
        self.installation.run(&all)
    }

    /// Runs `voice say` with the audio to this standard output.
    fn say_into(&self, stdout: impl Into<Stdio>) -> CommandOutput {
        let mut command = self.installation.prepared(Command::new(BINARY));
        command
            .args(["--url", &self.server.url, "voice", "say", "Hello."])
            .args(["--output", "-", "--format", "wav", "--data-dir"])
            .arg(self.installation.data_dir())
            .stdout(stdout);
        CommandOutput(command.output().unwrap())
    }

    /// Returns a file next to the data directory.
    fn file(&self, name: &str) -> PathBuf {
        self.installation.data_dir().with_file_name(name)
    }
}

#[tokio::test]
async fn a_text_goes_into_a_file_and_comes_back_as_text() {
    let gateway = Gateway::new();
    let file = gateway.file("speech.wav");
    let path = file.to_str().unwrap();
    let said = gateway
        .voice(&["say", "Hello there.", "--output", path])
        .ok();
    assert!(
        said.starts_with("Wrote ") && said.contains("tts_cloud_2"),
        "{said}"
    );
    let bytes = tokio::fs::read(&file).await.unwrap();
    assert!(bytes.starts_with(b"RIFF") && bytes.len() > SILENCE.len());
    assert_eq!(gateway.voice(&["transcribe", path]).ok(), "Hello there.\n");
    let subtitles = gateway
        .voice(&["transcribe", path, "--subtitles", "vtt"])
        .ok();
    assert!(subtitles.starts_with("WEBVTT"), "{subtitles}");
    // The extension selects the format. An explicit format takes precedence.
    let oga = gateway.file("speech.oga");
    let said = gateway.voice(&["--json", "say", "Hello.", "-o", oga.to_str().unwrap()]);
    assert_eq!(said.json()["format"], "ogg");
    assert_eq!(gateway.vendor.last()["response_format"], "opus");
    let mp3 = gateway.file("speech.mp3");
    let said = gateway.voice(&[
        "say",
        "Bye.",
        "--format",
        "wav",
        "-o",
        mp3.to_str().unwrap(),
    ]);
    said.ok();
    assert!(
        said.stderr().contains("the file will contain wav"),
        "{}",
        said.stderr()
    );
    assert!(tokio::fs::read(&mp3).await.unwrap().starts_with(b"RIFF"));
}

#[test]
fn audio_that_cannot_be_written_is_a_failure_and_a_closed_pipe_is_not() {
    let gateway = Gateway::new();
    let said = gateway.say_into(Stdio::piped()).0;
    assert!(said.status.success() && said.stdout.starts_with(b"RIFF"));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    gateway.say_into(writer).ok();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let error = gateway.say_into(full).failed(1);
    assert!(error.contains("No space left on device"), "{error}");
}

#[test]
fn a_wrong_line_is_two_and_calls_nobody() {
    let gateway = Gateway::new();
    let ape = gateway.file("speech.ape");
    let ape = ape.to_str().unwrap();
    let received = gateway.voice(&["say", "Hello."]).failed(2);
    assert!(received.contains("--output"), "{received}");
    let received = gateway.voice(&["say", "Hello.", "-o", ape]).failed(2);
    assert!(
        received.contains(".ape") && received.contains(".mp3") && received.contains(".oga"),
        "{received}"
    );
    gateway
        .voice(&["say", "Hello.", "-o", "a.mp3", "--format", "ape"])
        .failed(2);
    assert!(gateway.vendor.asked.lock().unwrap().is_empty());
    // An unreadable file is a failure, not a usage error.
    gateway
        .voice(&["transcribe", "/nowhere/speech.wav"])
        .failed(1);
}

#[test]
fn doctor_tries_a_chosen_provider_that_lists_hide() {
    let gateway = Gateway::new();
    let shown = gateway.voice(&["--json", "providers"]).json();
    let speakers = shown["tts"].as_array().unwrap();
    assert_eq!(
        (speakers.len(), &speakers[0]["id"]),
        (1, &json!("tts_local_1"))
    );
    let doctor = gateway.voice(&["--json", "doctor", "--try"]).json();
    let tried: Vec<_> = doctor["checks"].as_array().unwrap().iter().collect();
    let ids: Vec<_> = tried
        .iter()
        .map(|check| check["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["tts", "stt", "tts_cloud_2", "stt_cloud_1"]);
    assert!(tried.iter().all(|check| check["ok"] == true), "{doctor}");
    // No cached audio hides a failing vendor.
    gateway.vendor.is_broken.store(true, Ordering::SeqCst);
    let failed = gateway.voice(&["doctor", "--try"]);
    assert_eq!(failed.code(), Some(1));
    assert!(
        failed.stdout().contains("✗ tts_cloud_2"),
        "{}",
        failed.stdout()
    );
}
