//! External services that record what they receive: a receiver of forwarded messages and a model server. Both
//! count how often each delivery's mark arrives.

use anyhow::Result;
use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use gatehouse_domain::{Clock, SystemClock, Timestamp};
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpListener;

/// Prefix of a delivery's mark in its payload.
pub const MARK: &str = "mark-";

/// The received marks.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    counts: HashMap<String, u32>,
    /// The arrivals in order.
    arrivals: Vec<Arrival>,
}

/// A mark that arrived.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub mark: String,
    pub at: Timestamp,
}

impl Recorder {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how often a mark was received.
    pub fn count(&self, mark: &str) -> u32 {
        self.seen().counts.get(mark).copied().unwrap_or(0)
    }

    /// Returns all marks in the order in which they arrived, with repeats.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.seen().arrivals.clone()
    }

    /// Records the last mark in a text.
    pub fn note(&self, body: &str) {
        let Some(at) = body.rfind(MARK) else { return };
        let mark: String = body
            .get(at..)
            .unwrap_or_default()
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
            .collect();
        let mut seen = self.seen();
        seen.arrivals.push(Arrival {
            mark: mark.clone(),
            at: SystemClock::new().now(),
        });
        *seen.counts.entry(mark).or_default() += 1;
    }
}

async fn sink(State(recorder): State<Recorder>, body: String) -> &'static str {
    recorder.note(&body);
    "ok"
}

/// Responds in the format that the vendor's API reference specifies for a streamed chat completion.
async fn model(State(recorder): State<Recorder>, body: String) -> Response {
    recorder.note(&body);
    let answer = concat!(
        "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",",
        "\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Noted.\"},",
        "\"finish_reason\":null}]}\n\n",
        "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",",
        "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",",
        "\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2,",
        "\"total_tokens\":12}}\n\n",
        "data: [DONE]\n\n",
    );
    ([(CONTENT_TYPE, "text/event-stream")], answer).into_response()
}

/// Starts both services, which run until the harness ends. Returns their address and recorders.
pub async fn start() -> Result<(SocketAddr, Recorder, Recorder)> {
    let (sunk, asked) = (Recorder::default(), Recorder::default());
    let router = Router::new()
        .route("/sink", post(sink).with_state(sunk.clone()))
        .route(
            "/v1/chat/completions",
            post(model).with_state(asked.clone()),
        );
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok((address, sunk, asked))
}
