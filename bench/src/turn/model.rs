//! A model double with `OpenAI`'s streaming interface. It answers immediately. The newest text of the user selects
//! the kind of answer.

use anyhow::Result;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// The delay before each token of a paced answer.
const PACE: Duration = Duration::from_millis(5);
/// The length of a token in characters. The text of a paced token is the time at which it was sent, in
/// microseconds.
pub const TOKEN_CHARACTERS: usize = 16;

/// The kind of answer.
#[derive(Clone, Copy, Debug)]
pub enum Plan {
    /// One token.
    Ping,
    /// This many tokens, as fast as possible.
    Tokens(usize),
    /// This many tokens, one every 5 ms.
    Paced(usize),
    /// This many calls of the tool `calc`, one after another, followed by one token.
    Steps(usize),
}

impl Plan {
    /// Returns the user's text that requests this kind of answer.
    pub fn text(self) -> String {
        match self {
            Self::Ping => "ping".to_owned(),
            Self::Tokens(count) => format!("tokens {count}"),
            Self::Paced(count) => format!("paced {count}"),
            Self::Steps(count) => format!("steps {count}"),
        }
    }

    /// Parses the text. Any other text, such as the request for a summary, is a ping.
    fn read(text: &str) -> Self {
        let Some((word, count)) = text.split_once(' ') else {
            return Self::Ping;
        };
        match (word, count.parse()) {
            ("tokens", Ok(count)) => Self::Tokens(count),
            ("paced", Ok(count)) => Self::Paced(count),
            ("steps", Ok(count)) => Self::Steps(count),
            _ => Self::Ping,
        }
    }
}

/// The double. It runs until the harness ends.
#[derive(Clone, Copy, Debug)]
pub struct Double {
    pub address: SocketAddr,
    /// The origin of the times in paced tokens.
    pub epoch: Instant,
}

impl Double {
    /// Starts the double.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let double = Self {
            address: listener.local_addr()?,
            epoch: Instant::now(),
        };
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/models", get(list))
            .layer(DefaultBodyLimit::disable())
            .with_state(double.epoch);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(double)
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

#[derive(Deserialize)]
struct Asked {
    messages: Vec<AskedMessage>,
}

#[derive(Deserialize)]
struct AskedMessage {
    role: String,
    content: Option<String>,
}

async fn list() -> Json<Value> {
    Json(json!({ "object": "list", "data": [{ "id": "m1", "object": "model" }] }))
}

async fn complete(State(epoch): State<Instant>, Json(asked): Json<Asked>) -> Response {
    let from_user = |message: &AskedMessage| message.role == "user";
    let newest = asked.messages.iter().rposition(from_user);
    let (before, after) = asked.messages.split_at(newest.map_or(0, |at| at + 1));
    let text = before.last().and_then(|message| message.content.as_deref());
    let results = after
        .iter()
        .filter(|message| message.role == "tool")
        .count();
    match Plan::read(text.unwrap_or_default()) {
        Plan::Steps(count) if results < count => events(vec![call(results), end("tool_calls")]),
        Plan::Ping | Plan::Steps(_) => events(vec![token(0), end("stop")]),
        Plan::Tokens(count) => {
            let mut all: Vec<Bytes> = (0..count).map(|_| token(0)).collect();
            all.push(end("stop"));
            events(all)
        }
        Plan::Paced(count) => paced(count, epoch),
    }
}

fn events(all: Vec<Bytes>) -> Response {
    let pieces = all.into_iter().map(Ok::<_, Infallible>);
    let body = Body::from_stream(stream::iter(pieces));
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn paced(count: usize, epoch: Instant) -> Response {
    let pieces = stream::unfold(0, move |sent| async move {
        if sent > count {
            return None;
        }
        tokio::time::sleep(PACE).await;
        let piece = if sent == count {
            end("stop")
        } else {
            token(epoch.elapsed().as_micros())
        };
        Some((Ok::<_, Infallible>(piece), sent + 1))
    });
    let body = Body::from_stream(pieces);
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// Returns the event of a token. The field `content` is the last one, so that a client finds it without parsing.
fn token(number: u128) -> Bytes {
    let event = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{number:0TOKEN_CHARACTERS$}\"}}}}]}}\n\n"
    );
    event.into()
}

fn call(number: usize) -> Bytes {
    let arguments = json!({ "expression": format!("{number} + 1") }).to_string();
    let function = json!({ "name": "calc", "arguments": arguments });
    let call = json!({ "index": 0, "id": format!("call_{number}"), "type": "function",
        "function": function });
    let event = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] });
    format!("data: {event}\n\n").into()
}

/// Returns the last events of an answer.
fn end(reason: &str) -> Bytes {
    let last = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 3 });
    let usage = json!({ "choices": [], "usage": usage });
    format!("data: {last}\n\ndata: {usage}\n\ndata: [DONE]\n\n").into()
}
