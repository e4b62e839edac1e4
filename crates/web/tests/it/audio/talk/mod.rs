//! `/ws/talk`: spoken conversations.

mod access;
mod interrupted;
mod turns;

use super::Harness;
use gatehouse_audio::{Kind, decode, pcm_of_samples};
use gatehouse_testkit::{Received, SPEECH, Socket};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message;

/// Bytes of 10 ms at 16 kHz.
const FRAME: usize = 320;

/// Returns the samples of a sentence at 16 kHz.
fn speech() -> Vec<u8> {
    pcm_of_samples(&decode(SPEECH, Kind::Wav, 60).unwrap().samples)
}

fn silence(ms: usize) -> Vec<u8> {
    vec![0; ms * 32]
}

/// A conversation over a socket.
pub struct Talking {
    socket: Socket,
}

impl Talking {
    /// Starts a conversation with these fields.
    pub async fn start(harness: &Harness, fields: Value) -> Self {
        let socket = harness.server.socket(&harness.owner, "/ws/talk").await;
        let mut talking = Self { socket };
        talking.begin(fields).await;
        let ready = talking.server_message("ready").await;
        assert_eq!(ready["input"]["rate"], 16_000);
        talking
    }

    async fn begin(&mut self, mut fields: Value) {
        fields["type"] = json!("start");
        self.socket.send(fields.to_string()).await;
    }

    /// Sends samples as fast as possible.
    async fn say(&mut self, samples: &[u8]) {
        for frame in samples.chunks(FRAME) {
            let frame = Message::binary(frame.to_vec());
            self.socket.send_frame(frame).await.unwrap();
        }
    }

    /// Sends samples as a microphone does.
    async fn say_in_time(&mut self, samples: &[u8]) {
        let mut tick = tokio::time::interval(Duration::from_millis(10));
        for frame in samples.chunks(FRAME) {
            tick.tick().await;
            let frame = Message::binary(frame.to_vec());
            self.socket.send_frame(frame).await.unwrap();
        }
    }

    /// Says a sentence, and is silent.
    pub async fn ask(&mut self) {
        let all = [silence(300), speech(), silence(1000)].concat();
        self.say(&all).await;
    }

    /// Returns the next message, which must be of this type.
    async fn server_message(&mut self, kind: &str) -> Value {
        match self.socket.receive().await.unwrap() {
            Received::Json(server_message) if server_message["type"] == kind => server_message,
            Received::Json(server_message) => panic!("expected {kind}: {server_message}"),
            Received::Bytes(bytes) => panic!("expected {kind}: {} bytes", bytes.len()),
        }
    }

    /// Returns the audio up to the next message, and that message.
    async fn audio(&mut self) -> (Vec<u8>, Value) {
        let mut audio = Vec::new();
        loop {
            match self.socket.receive().await.unwrap() {
                Received::Bytes(bytes) => audio.extend(bytes),
                Received::Json(server_message) => return (audio, server_message),
            }
        }
    }

    /// Skips everything up to the next message of this type.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            let (_, server_message) = self.audio().await;
            if server_message["type"] == kind {
                return server_message;
            }
        }
    }

    /// Skips messages up to the first audio.
    async fn until_audio(&mut self) -> Vec<u8> {
        loop {
            if let Received::Bytes(bytes) = self.socket.receive().await.unwrap() {
                return bytes;
            }
        }
    }
}
