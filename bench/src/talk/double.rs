//! Doubles of a model, a recognizer and a voice with `OpenAI`'s interfaces. All of them answer immediately.

use anyhow::Result;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::net::TcpListener;

/// The answer: one sentence.
const SENTENCE: &str = "This is the answer to what was asked. ";
/// Size of the audio of the answer in bytes: 500 ms of samples at 24 kHz.
const AUDIO_BYTES: usize = 24_000;

/// When the sentence for each model was sent.
type Sent = Arc<Mutex<HashMap<String, Instant>>>;

/// The doubles. They run until the harness ends.
#[derive(Clone, Debug)]
pub struct Double {
    address: SocketAddr,
    sent: Sent,
}

#[derive(Deserialize)]
struct Asked {
    model: String,
}

impl Double {
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let double = Self {
            address: listener.local_addr()?,
            sent: Sent::default(),
        };
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/audio/transcriptions", post(transcribe))
            .route("/v1/audio/speech", post(speak))
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&double.sent));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(double)
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns when the latest sentence for this model was sent.
    pub fn sent(&self, model: &str) -> Option<Instant> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.get(model).copied()
    }
}

async fn transcribe(_form: Bytes) -> Json<Value> {
    Json(json!({ "text": "What is the weather like today?" }))
}

async fn speak(_asked: Bytes) -> Response {
    ([(CONTENT_TYPE, "audio/pcm")], vec![0_u8; AUDIO_BYTES]).into_response()
}

async fn complete(State(sent): State<Sent>, Json(asked): Json<Asked>) -> Response {
    let event = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let text = event(json!({ "content": SENTENCE }), Value::Null);
    let end = event(json!({}), json!("stop"));
    let mut sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    sent.insert(asked.model, Instant::now());
    let body = Body::from(format!("{text}{end}data: [DONE]\n\n"));
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}
