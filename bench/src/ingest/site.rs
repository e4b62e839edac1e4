//! Gateways for the measurements, and the world outside that they deliver to.

use super::Target;
use crate::gateway::Server;
use crate::owner::{Home, text};
use anyhow::Result;
use axum::Router;
use axum::extract::State;
use axum::routing::post;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// No limit but the machine, and nothing else that is not a default.
pub fn environment(more: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let mut all = vec![(
        "SERVICE_WEBHOOKS__GLOBAL_RATE_LIMIT_PER_MINUTE",
        "1000000".to_owned(),
    )];
    all.extend(more);
    all
}

/// A receiver of messages that notes when each came.
#[derive(Clone, Default)]
pub struct Receiver {
    came: Arc<Mutex<Vec<Instant>>>,
}

async fn receive(State(receiver): State<Receiver>) -> &'static str {
    let mut came = receiver.came.lock().unwrap_or_else(PoisonError::into_inner);
    came.push(Instant::now());
    "ok"
}

impl Receiver {
    /// Starts one; where it listens. It ends with the harness.
    pub async fn start() -> Result<(Self, SocketAddr)> {
        let receiver = Self::default();
        let router = Router::new().route("/", post(receive).with_state(receiver.clone()));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok((receiver, address))
    }

    /// When the n-th came, from 0, if it has come.
    pub fn at(&self, number: usize) -> Option<Instant> {
        let came = self.came.lock().unwrap_or_else(PoisonError::into_inner);
        came.get(number).copied()
    }
}

/// A channel account that posts to an address.
pub async fn channel(home: &Home, server: &Server, id: &str, to: SocketAddr) -> Result<()> {
    let account = json!({
        "type": "http", "id": id, "label": id, "fields": { "url": format!("http://{to}/") },
    });
    home.rpc(server, "channels.create", account).await?;
    Ok(())
}

/// A webhook with these fields besides, and what is sent to it.
pub async fn webhook(home: &Home, server: &Server, more: Value) -> Result<&'static Target> {
    let mut params = json!({
        "name": "bench", "source_profile": "codehost_a", "rate_limit_per_minute": 1_000_000,
    });
    if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
        params.extend(more);
    }
    let made = home.rpc(server, "webhooks.create", params).await?;
    let target = Target::new(&text(&made, "public_id")?, &text(&made, "secret")?)?;
    Ok(Box::leak(Box::new(target)))
}

/// How many deliveries wait.
pub async fn waiting(home: &Home, server: &Server) -> Result<u64> {
    let status = home.rpc(server, "system.status", json!({})).await?;
    let waiting = status.get("queue_depth").and_then(Value::as_u64);
    Ok(waiting.unwrap_or(u64::MAX))
}

/// Until nothing waits, or this long; how long it took.
pub async fn until_empty(home: &Home, server: &Server, most: Duration) -> Result<Duration> {
    let begun = Instant::now();
    while begun.elapsed() < most && waiting(home, server).await? > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(begun.elapsed())
}
