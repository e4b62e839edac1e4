//! Simulates a person with a microphone, who speaks a recorded sentence in real time, is silent, and listens.

use super::double::Double;
use anyhow::{Context, Result, ensure};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

/// A WAV of a sentence: 16 kHz, mono.
const SPEECH: &[u8] = include_bytes!("../../../crates/testkit/fixtures/speech.wav");
const WAV_HEADER_BYTES: usize = 44;
/// 20 ms at 16 kHz.
const FRAME: Duration = Duration::from_millis(20);
const FRAME_BYTES: usize = 640;
/// Timeout for a turn.
const PATIENCE: Duration = Duration::from_secs(30);

/// The measured times of a turn.
#[derive(Debug)]
pub struct Turn {
    /// The time from the end of speech, which the gateway reports after the silence, to the beginning of the turn.
    pub to_turn: Duration,
    /// The time from the model's first sentence to the first audio.
    pub to_audio: Duration,
}

/// A conversation.
pub struct Caller {
    socket: WebSocketStream<TcpStream>,
    double: Double,
    model: String,
    frames: Interval,
}

impl Caller {
    pub async fn call(
        address: SocketAddr,
        cookie: &str,
        double: Double,
        number: usize,
    ) -> Result<Self> {
        let mut request = format!("ws://{address}/ws/talk").into_client_request()?;
        request.headers_mut().insert("cookie", cookie.parse()?);
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (mut socket, _) = client_async(request, stream).await?;
        let model = format!("m{number}");
        let start =
            json!({ "type": "start", "model": format!("double/{model}"), "silence_ms": 300 });
        socket.send(Message::text(start.to_string())).await?;
        let mut frames = interval(FRAME);
        frames.set_missed_tick_behavior(MissedTickBehavior::Burst);
        Ok(Self {
            socket,
            double,
            model,
            frames,
        })
    }

    pub async fn talk(&mut self, turns: usize) -> Result<Vec<Turn>> {
        let mut all = Vec::new();
        for _ in 0..turns {
            all.push(timeout(PATIENCE, self.turn()).await??);
        }
        Ok(all)
    }

    /// Speaks a sentence, and sends silence until the answer was played.
    async fn turn(&mut self) -> Result<Turn> {
        let speech = SPEECH.get(WAV_HEADER_BYTES..).unwrap_or_default();
        let mut speech = speech.chunks_exact(FRAME_BYTES);
        let silence = [0; FRAME_BYTES];
        let (mut ended, mut turn, mut audio) = (None, None, None);
        let mut quiet_after = None;
        loop {
            let frame = tokio::select! {
                _ = self.frames.tick() => None,
                frame = self.socket.next() => Some(frame.context("the socket closed")??),
            };
            let now = Instant::now();
            match frame {
                None => {
                    let frame = speech.next().unwrap_or(&silence);
                    self.socket.send(Message::binary(frame.to_vec())).await?;
                    if quiet_after.is_some_and(|at| at <= now) {
                        break;
                    }
                }
                Some(Message::Binary(_)) => {
                    audio.get_or_insert(now);
                }
                Some(Message::Text(text)) => {
                    let message: Value = serde_json::from_str(&text)?;
                    match message
                        .get("type")
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                    {
                        "speech_ended" => ended = Some(now),
                        "turn" => turn = Some(now),
                        "answer" => {
                            ensure!(message.get("stop") == Some(&json!("end")), "{message}");
                            quiet_after = Some(now + Duration::from_secs(1));
                        }
                        "error" => anyhow::bail!("{message}"),
                        _ => {}
                    }
                }
                Some(_) => {}
            }
        }
        let turn = turn.context("no turn")?;
        let sent = self.double.sent(&self.model).context("no sentence")?;
        Ok(Turn {
            to_turn: turn.duration_since(ended.context("no end of speech")?),
            to_audio: audio.context("no audio")?.duration_since(sent),
        })
    }
}
