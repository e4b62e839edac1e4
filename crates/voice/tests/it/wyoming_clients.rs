//! Clients of the Wyoming server: clients that leave during a call, and the maximum number of
//! connections.

mod texts;
mod transcripts;

use crate::harness::{Harness, stt_at, tts_at};
use crate::vendor::fake_server::{Behavior, Server};
use crate::vendor::openai_tts::OpenAiTts;
use crate::vendor::{listener, openai_stt};
use gatehouse_voice::{SttId, TtsId, VoiceSettings};
use serde_json::{Map, Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// Timeout for the server.
const TIMEOUT: Duration = Duration::from_secs(10);

struct Served {
    address: SocketAddr,
    _harness: Harness,
    _running: DropGuard,
}

impl Served {
    async fn with(settings: VoiceSettings) -> Self {
        let harness = Harness::new().await;
        let voice = harness.voice(settings).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        TaskTracker::new().spawn(voice.serve_wyoming(listener, Vec::new(), shutdown.clone()));
        Self {
            address,
            _harness: harness,
            _running: shutdown.drop_guard(),
        }
    }

    /// Connects from 127.0.0.`host`.
    async fn connect(&self, host: u8) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        let from = SocketAddr::from((Ipv4Addr::new(127, 0, 0, host), 0));
        socket.bind(from).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    /// Connects a client that was answered. Returns `None` if the server closed its connection.
    async fn client(&self, host: u8) -> Option<TcpStream> {
        let mut stream = self.connect(host).await;
        // The server may have closed the connection already.
        drop(stream.write_all(&event(&json!({ "type": "ping" }))).await);
        let mut line = String::new();
        let mut reader = BufReader::new(&mut stream);
        let read = tokio::time::timeout(TIMEOUT, reader.read_line(&mut line)).await;
        let answered = matches!(read.unwrap(), Ok(1..)) && line.contains("\"pong\"");
        answered.then_some(stream)
    }
}

/// A received event.
#[derive(Clone, Debug, PartialEq)]
struct Received {
    kind: String,
    data: Map<String, Value>,
    payload: Vec<u8>,
}

impl Received {
    fn text(&self) -> &str {
        self.data["text"].as_str().unwrap()
    }
}

/// Reads the next event; `None` at the end of the connection.
async fn read(stream: &mut (impl AsyncBufReadExt + Unpin)) -> Option<Received> {
    let reading = async {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap() == 0 {
            return None;
        }
        let head: Value = serde_json::from_str(&line).unwrap();
        let length = |name: &str| head[name].as_u64().unwrap_or(0) as usize;
        let mut data = vec![0; length("data_length")];
        stream.read_exact(&mut data).await.unwrap();
        let mut payload = vec![0; length("payload_length")];
        stream.read_exact(&mut payload).await.unwrap();
        let data = if data.is_empty() { "{}".into() } else { data };
        Some(Received {
            kind: head["type"].as_str().unwrap().to_owned(),
            data: serde_json::from_slice(&data).unwrap(),
            payload,
        })
    };
    tokio::time::timeout(TIMEOUT, reading).await.unwrap()
}

/// Reads events up to the first of this kind.
async fn read_until(stream: &mut (impl AsyncBufReadExt + Unpin), kind: &str) -> Vec<Received> {
    let mut all = Vec::new();
    loop {
        let event = read(stream)
            .await
            .unwrap_or_else(|| panic!("no {kind} after {all:?}"));
        all.push(event);
        if all.last().unwrap().kind == kind {
            return all;
        }
    }
}

/// Returns the kinds of the events without consecutive repetitions.
fn kinds(events: &[Received]) -> Vec<&str> {
    let mut kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    kinds.dedup();
    kinds
}

/// Returns the bytes of audio in the events.
fn audio(events: &[Received]) -> usize {
    events.iter().map(|event| event.payload.len()).sum()
}

/// Returns one event as the protocol writes it.
fn event(head: &Value) -> Vec<u8> {
    format!("{head}\n").into_bytes()
}

fn synthesize() -> Vec<u8> {
    event(&json!({ "type": "synthesize", "data": { "text": "Hello there." } }))
}

/// Returns a tenth of a second.
fn recording() -> Vec<u8> {
    let format = json!({ "rate": 16_000, "width": 2, "channels": 1 });
    let samples = vec![1; 3_200];
    let chunk = json!({ "type": "audio-chunk", "data": format, "payload_length": samples.len() });
    [
        event(&json!({ "type": "audio-start", "data": format })),
        event(&chunk),
        samples,
        event(&json!({ "type": "audio-stop" })),
    ]
    .concat()
}

/// Sends `call`, waits until the vendor is called, and disconnects.
async fn leave_during(settings: VoiceSettings, vendor: &Server, call: &[u8]) {
    vendor.hold();
    let served = Served::with(settings).await;
    let mut client = served.connect(1).await;
    client.write_all(call).await.unwrap();
    vendor.asked(1).await;
    drop(client);
    assert!(vendor.was_left().await);
    assert_eq!(vendor.requests().len(), 1);
}

/// Returns the data that a client may have sent after the call: nothing, an event, or a part of an
/// event.
fn sent_ahead() -> [Vec<u8>; 3] {
    let ping = event(&json!({ "type": "ping" }));
    let part = b"{\"type\":".to_vec();
    [Vec::new(), ping, part]
}

#[tokio::test]
async fn speech_for_a_client_that_has_left_ends() {
    for ahead in sent_ahead() {
        let vendor = OpenAiTts::start().await;
        let settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
        leave_during(settings, &vendor, &[synthesize(), ahead].concat()).await;
    }
}

#[tokio::test]
async fn a_transcription_for_a_client_that_has_left_ends() {
    for ahead in sent_ahead() {
        let vendor = openai_stt::openai().await;
        let url = vendor.server.url("/v1");
        let settings = stt_at(SttId::OpenAi, url.as_str(), listener::KEY);
        leave_during(settings, &vendor.server, &[recording(), ahead].concat()).await;
    }
}

/// Sends `call`, closes the sending side during it, and returns the kinds of the events after that.
async fn half_close_during(settings: VoiceSettings, vendor: &Server, call: &[u8]) -> Vec<String> {
    vendor.hold();
    let served = Served::with(settings).await;
    let mut client = BufReader::new(served.connect(1).await);
    client.write_all(call).await.unwrap();
    vendor.asked(1).await;
    client.shutdown().await.unwrap();
    // The server has noticed that the sending side is closed: it sends a `pong` to check the connection.
    assert_eq!(read(&mut client).await.unwrap().kind, "pong");
    vendor.release();
    let mut events = Vec::new();
    while let Some(event) = read(&mut client).await {
        events.push(event);
    }
    kinds(&events).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_client_that_closes_only_its_sending_side_gets_its_answer() {
    for ahead in [Vec::new(), event(&json!({ "type": "ping" }))] {
        let vendor = OpenAiTts::start().await;
        let settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
        let call = [synthesize(), ahead.clone()].concat();
        let mut expected = vec!["audio-start", "audio-chunk", "audio-stop"];
        if !ahead.is_empty() {
            expected.push("pong");
        }
        assert_eq!(half_close_during(settings, &vendor, &call).await, expected);
    }
    let vendor = openai_stt::openai().await;
    let url = vendor.server.url("/v1");
    let settings = stt_at(SttId::OpenAi, url.as_str(), listener::KEY);
    let seen = half_close_during(settings, &vendor.server, &recording()).await;
    assert_eq!(seen, ["transcript"]);
}

/// Home Assistant ignores `error` and would wait until the connection ends.
#[tokio::test]
async fn after_the_error_of_a_request_the_connection_ends() {
    let vendor = OpenAiTts::start().await;
    let settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
    let served = Served::with(settings).await;
    for behavior in [Behavior::Status(500, None), Behavior::BreakOff(40_000)] {
        vendor.set_behavior(behavior);
        let mut client = BufReader::new(served.connect(1).await);
        client.write_all(&synthesize()).await.unwrap();
        let events = read_until(&mut client, "error").await;
        assert_eq!(events.last().unwrap().data["code"], "PROVIDER_FAILED");
        assert_eq!(read(&mut client).await, None);
    }
    // Refused audio is read to its end.
    let odd = json!({ "rate": 96_000, "width": 2, "channels": 1 });
    let start = event(&json!({ "type": "audio-start", "data": odd }));
    let ping = event(&json!({ "type": "ping" }));
    let mut client = BufReader::new(served.connect(1).await);
    client.write_all(&[start, ping].concat()).await.unwrap();
    let events = read_until(&mut client, "pong").await;
    assert_eq!(kinds(&events), ["error", "pong"]);
    let stop = event(&json!({ "type": "audio-stop" }));
    client.write_all(&stop).await.unwrap();
    assert_eq!(read(&mut client).await, None);
}

#[tokio::test]
async fn speech_for_a_client_that_leaves_in_the_middle_ends() {
    let vendor = OpenAiTts::start().await;
    vendor.set_behavior(Behavior::Stall(40_000));
    let mut settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
    settings.timeouts.idle = Duration::from_mins(1);
    let served = Served::with(settings).await;
    let mut client = BufReader::new(served.connect(1).await);
    client.write_all(&synthesize()).await.unwrap();
    let begun = read_until(&mut client, "audio-chunk").await;
    assert_eq!(kinds(&begun), ["audio-start", "audio-chunk"]);
    drop(client);
    assert!(vendor.was_left().await);
}

#[tokio::test]
async fn what_is_sent_during_a_call_is_answered_after_it() {
    let vendor = OpenAiTts::start().await;
    vendor.hold();
    let settings = tts_at(TtsId::OpenAi, vendor.base_url().as_str(), OpenAiTts::KEY);
    let served = Served::with(settings).await;
    let mut client = served.connect(1).await;
    client.write_all(&synthesize()).await.unwrap();
    vendor.asked(1).await;
    // More data than the server reads ahead.
    let ignored = json!({ "type": "other", "payload_length": 512 << 10 });
    let ignored = [event(&ignored), vec![0; 512 << 10]].concat();
    let ping = event(&json!({ "type": "ping", "data": { "text": "late" } }));
    let sent = [ignored.repeat(4), ping].concat();
    let (mut reader, mut writer) = client.into_split();
    let writing = async {
        writer.write_all(&sent).await.unwrap();
        writer
    };
    let answered = async {
        vendor.release();
        let mut seen = Vec::new();
        let mut buffer = vec![0; 65_536];
        while !String::from_utf8_lossy(&seen).contains("late") {
            let read = tokio::time::timeout(TIMEOUT, reader.read(&mut buffer)).await;
            let read @ 1.. = read.unwrap().unwrap() else {
                panic!("the server closed the connection");
            };
            seen.extend_from_slice(&buffer[..read]);
        }
        String::from_utf8_lossy(&seen).into_owned()
    };
    let (_writer, seen) = tokio::join!(writing, answered);
    assert!(seen.contains("audio-stop"), "no audio before the pong");
}

#[tokio::test]
async fn one_address_may_hold_half_of_the_connections() {
    let served = Served::with(crate::harness::settings()).await;
    let mut clients = Vec::new();
    for host in [1, 2] {
        for _ in 0..16 {
            clients.push(served.client(host).await.expect("a place"));
        }
        assert!(served.client(host).await.is_none(), "one too many");
    }
    assert!(served.client(3).await.is_none(), "all places are taken");
    // A slot becomes free when its client leaves.
    drop(clients.pop());
    let freed = async {
        while served.client(3).await.is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, freed).await.unwrap();
}
