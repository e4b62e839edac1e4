//! Gateways for the measurements and the receivers of their messages.

use super::Target;
use crate::gateway::Server;
use crate::owner::{Installation, text};
use anyhow::Result;
use axum::Router;
use axum::extract::State;
use axum::routing::post;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// Returns an environment that removes all limits of the gateway. All other settings keep their defaults.
pub fn environment(more: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let mut all = vec![(
        "SERVICE_WEBHOOKS__GLOBAL_RATE_LIMIT_PER_MINUTE",
        "1000000".to_owned(),
    )];
    all.extend(more);
    all
}

/// A receiver of messages that records the time of each.
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
    /// Starts a receiver, which runs until the harness ends. Returns its address.
    pub async fn start() -> Result<(Self, SocketAddr)> {
        let receiver = Self::default();
        let router = Router::new().route("/", post(receive).with_state(receiver.clone()));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok((receiver, address))
    }

    /// Returns when the message with this index (from 0) arrived; `None` if it has not arrived.
    pub fn at(&self, number: usize) -> Option<Instant> {
        let came = self.came.lock().unwrap_or_else(PoisonError::into_inner);
        came.get(number).copied()
    }
}

/// Creates a channel account that posts to an address.
pub async fn channel(
    installation: &Installation,
    server: &Server,
    id: &str,
    to: SocketAddr,
) -> Result<()> {
    let account = json!({
        "type": "http", "id": id, "label": id, "fields": { "url": format!("http://{to}/") },
    });
    installation.rpc(server, "channels.create", account).await?;
    Ok(())
}

/// Creates a webhook with these additional fields. Returns the target for its deliveries.
pub async fn webhook(
    installation: &Installation,
    server: &Server,
    more: Value,
) -> Result<&'static Target> {
    let mut params = json!({
        "name": "bench", "source_profile": "codehost_a", "rate_limit_per_minute": 1_000_000,
    });
    if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
        params.extend(more);
    }
    let made = installation.rpc(server, "webhooks.create", params).await?;
    let target = Target::new(&text(&made, "public_id")?, &text(&made, "secret")?)?;
    Ok(Box::leak(Box::new(target)))
}

/// Returns the number of waiting deliveries.
pub async fn waiting(installation: &Installation, server: &Server) -> Result<u64> {
    let status = installation.rpc(server, "system.status", json!({})).await?;
    let waiting = status.get("queue_depth").and_then(Value::as_u64);
    Ok(waiting.unwrap_or(u64::MAX))
}

/// Waits until no delivery is waiting, for at most `most`. Returns the duration.
pub async fn until_empty(
    installation: &Installation,
    server: &Server,
    most: Duration,
) -> Result<Duration> {
    let begun = Instant::now();
    while begun.elapsed() < most && waiting(installation, server).await? > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(begun.elapsed())
}
