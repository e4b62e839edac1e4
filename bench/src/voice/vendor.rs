//! A fake vendor with `OpenAI`'s speech interface. It sends each response at a fixed pace.

use anyhow::Result;
use axum::Json;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream;
use gatehouse_audio::{Format, Sound, encode};
use serde::Deserialize;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;

/// Delay before the first byte.
const THINKING: Duration = Duration::from_millis(50);
/// Delay before each further chunk.
const PACE: Duration = Duration::from_millis(40);
/// Size of a chunk in bytes: 200 ms of MP3 at 128 kbit/s.
const PIECE_BYTES: usize = 3200;
/// Number of chunks of a streamed response.
const PIECES: usize = 25;
/// Samples per character at 24 kHz. The resulting speech is four times as fast as normal speech, so that the
/// longest text finishes while a client waits.
const SAMPLES_PER_CHARACTER: usize = 400;

#[derive(Deserialize)]
struct Asked {
    input: String,
    response_format: String,
}

type Heard = Arc<Mutex<Vec<String>>>;

/// The fake vendor. It runs until the harness ends.
pub struct Vendor {
    pub address: SocketAddr,
    heard: Heard,
}

impl Vendor {
    /// Starts the vendor.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let heard = Heard::default();
        let router = Router::new()
            .route("/v1/audio/speech", post(speak))
            .with_state(Arc::clone(&heard));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, heard })
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the requested texts, in order.
    pub fn heard(&self) -> Vec<String> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.clone()
    }
}

async fn speak(State(heard): State<Heard>, Json(asked): Json<Asked>) -> Response {
    let characters = asked.input.chars().count();
    let is_mp3 = asked.response_format == "mp3";
    heard
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(asked.input);
    if asked.response_format == "opus" {
        let silence = Sound {
            rate: 24_000,
            samples: vec![0; characters * SAMPLES_PER_CHARACTER],
        };
        let opus = encode(&silence, Format::Opus).unwrap_or_default();
        return ([(CONTENT_TYPE, "audio/ogg")], opus).into_response();
    }
    if !is_mp3 {
        let silence = vec![0_u8; characters * SAMPLES_PER_CHARACTER * 2];
        return ([(CONTENT_TYPE, "audio/pcm")], silence).into_response();
    }
    tokio::time::sleep(THINKING).await;
    let pieces = stream::unfold(0, |sent| async move {
        if sent == PIECES {
            return None;
        }
        if sent > 0 {
            tokio::time::sleep(PACE).await;
        }
        Some((Ok::<_, std::convert::Infallible>(piece()), sent + 1))
    });
    ([(CONTENT_TYPE, "audio/mpeg")], Body::from_stream(pieces)).into_response()
}

/// Returns bytes that begin like frames of MPEG audio.
fn piece() -> Bytes {
    let mut piece = vec![0_u8; PIECE_BYTES];
    for frame in piece.chunks_mut(417) {
        if let Some(head) = frame.first_chunk_mut() {
            *head = [0xff, 0xfb, 0x90, 0xc4];
        }
    }
    piece.into()
}
