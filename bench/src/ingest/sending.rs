//! Signed deliveries of 1 KB with unique IDs, cheap enough not to distort the measurement.

use crate::crash::sign;
use crate::gateway::Server;
use crate::http1::{Client, request};
use anyhow::{Context, Result, ensure};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Size of a body in bytes.
const BODY_BYTES: usize = 1024;
/// Number of digits of an ID.
const DIGITS: usize = 16;

/// The next ID. IDs are unique across all rounds.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The destination of deliveries, and a template delivery with a placeholder for its ID.
pub struct Target {
    message: Vec<u8>,
    id_at: usize,
    /// The secret that the bare handler verifies with.
    pub secret: String,
}

impl Target {
    /// Creates a target with a template. The signature covers only the body, so the same signature is valid for
    /// every ID.
    pub fn new(public_id: &str, secret: &str) -> Result<Self> {
        let start = r#"{"ref":"refs/heads/main","repository":{"full_name":"a/b"},"text":""#;
        let fill = BODY_BYTES.saturating_sub(start.len() + 2);
        let body = format!("{start}{}\"}}", "x".repeat(fill));
        let blank = "0".repeat(DIGITS);
        let signature = sign(secret, &body)?;
        let headers = [
            ("x-github-event", "push"),
            ("x-hub-signature-256", signature.as_str()),
            ("x-github-delivery", blank.as_str()),
        ];
        let path = format!("/api/webhooks/ingest/{public_id}");
        let message = request("POST", &path, &headers, Some(&body));
        let name = b"x-github-delivery: ";
        let at = message
            .windows(name.len())
            .position(|part| part == name)
            .context("no header for the id")?;
        Ok(Self {
            id_at: at + name.len(),
            message,
            secret: secret.to_owned(),
        })
    }

    /// Builds the next delivery.
    pub fn next(&self) -> Vec<u8> {
        let mut message = self.message.clone();
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let digits = format!("{id:0DIGITS$}");
        if let Some(place) = message.get_mut(self.id_at..self.id_at + DIGITS) {
            place.copy_from_slice(digits.as_bytes());
        }
        message
    }

    /// Sends a delivery, which must be answered with 202. Returns the duration.
    pub async fn send(&self, client: &mut Client) -> Result<Duration> {
        let message = self.next();
        let begun = Instant::now();
        let status = client.exchange(&message).await?.status;
        let took = begun.elapsed();
        ensure!(status == 202, "a delivery was answered {status}");
        Ok(took)
    }

    /// Sends on the given number of connections until `until` returns true.
    pub async fn flood(
        &'static self,
        server: &Server,
        connections: usize,
        until: impl Fn(usize, Duration) -> bool + Clone + Send + 'static,
    ) -> Result<Flood> {
        let mut clients = Vec::with_capacity(connections);
        for _ in 0..connections {
            clients.push(server.connect().await?);
        }
        let before = server.processor_time()?;
        let begun = Instant::now();
        let mut tasks = JoinSet::new();
        for mut client in clients {
            let until = until.clone();
            tasks.spawn(async move {
                let mut took = Vec::new();
                while !until(took.len(), begun.elapsed()) {
                    took.push(self.send(&mut client).await?);
                }
                anyhow::Ok(took)
            });
        }
        let mut all = Vec::new();
        while let Some(done) = tasks.join_next().await {
            all.extend(done??);
        }
        Ok(Flood {
            elapsed: begun.elapsed(),
            processor: server.processor_time()?.saturating_sub(before),
            took: all,
        })
    }
}

/// The result of a flood.
pub struct Flood {
    pub elapsed: Duration,
    /// The server's processor time.
    pub processor: Duration,
    /// The duration of each response.
    pub took: Vec<Duration>,
}

impl Flood {
    /// Returns deliveries per second.
    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    pub fn per_second(&self) -> f64 {
        self.took.len() as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the server's processor time per delivery, in microseconds.
    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    pub fn micros_each(&self) -> f64 {
        self.processor.as_secs_f64() * 1e6 / (self.took.len().max(1) as f64)
    }
}
