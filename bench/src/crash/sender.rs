//! A sender that behaves like a code host: if it receives no response, it repeats a delivery with the same ID.

use super::lane::Lane;
use super::recorder::MARK;
use crate::http1::{Client, request};
use anyhow::{Result, bail};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// Number of connections for each webhook.
const CONNECTIONS: usize = 8;
/// Maximum number of attempts for a delivery. If it is exceeded, the gateway is broken.
const TRIES: usize = 10_000;

/// The total number of deliveries, and how many may be sent so far.
pub struct Plan {
    wanted: usize,
    released: AtomicUsize,
    next: AtomicUsize,
    accepted: AtomicUsize,
    more: Notify,
}

impl Plan {
    /// Creates a plan and releases only the first share.
    pub fn new(wanted: usize) -> Self {
        Self {
            wanted,
            released: AtomicUsize::new(wanted / 100 + 1),
            next: AtomicUsize::new(0),
            accepted: AtomicUsize::new(0),
            more: Notify::new(),
        }
    }

    /// Releases the share for the given number of kills.
    pub fn release(&self, kills: u32, of: u32) {
        let share = self.wanted * (kills as usize + 1) / (of.max(1) as usize) + 1;
        self.released
            .fetch_max(share.min(self.wanted), Ordering::AcqRel);
        self.more.notify_waiters();
    }

    /// Releases all deliveries.
    pub fn release_all(&self) {
        self.released.store(self.wanted, Ordering::Release);
        self.more.notify_waiters();
    }

    /// Returns the number of deliveries answered with 202.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Acquire)
    }

    /// Returns the number of the next delivery when it may be sent; `None` after the last one.
    async fn take(&self) -> Option<usize> {
        let number = self.next.fetch_add(1, Ordering::AcqRel);
        while number >= self.released.load(Ordering::Acquire) && number < self.wanted {
            // A wake-up between the check and the wait is missed. The timeout limits the delay.
            let wait = self.more.notified();
            drop(tokio::time::timeout(Duration::from_millis(20), wait).await);
        }
        (number < self.wanted).then_some(number)
    }
}

/// A delivery that was answered with 202, or with 200 as a duplicate of a stored one.
pub struct Accepted {
    /// The delivery's mark, which is also its ID at the sender.
    pub mark: String,
    /// The webhook's lane.
    pub lane: &'static str,
}

/// Starts the senders of one webhook.
pub fn start(
    lane: &Lane,
    plan: &Arc<Plan>,
    address: &watch::Receiver<SocketAddr>,
) -> Vec<JoinHandle<Result<Vec<Accepted>>>> {
    let one = |_| {
        let (plan, address) = (Arc::clone(plan), address.clone());
        let (name, public_id) = (lane.name, lane.public_id.clone());
        let secret = lane.secret.clone();
        tokio::spawn(async move {
            let mut accepted = Vec::new();
            while let Some(number) = plan.take().await {
                let message = Message::new((&public_id, &secret), (name, number), number)?;
                send(&address, &message).await?;
                plan.accepted.fetch_add(1, Ordering::AcqRel);
                accepted.push(Accepted {
                    mark: message.mark,
                    lane: name,
                });
            }
            Ok(accepted)
        })
    };
    (0..CONNECTIONS).map(one).collect()
}

/// A delivery as the code host sends it.
pub struct Message {
    /// The delivery's mark, which is also its ID at the sender.
    pub mark: String,
    /// The whole HTTP request.
    pub request: Vec<u8>,
}

impl Message {
    /// Builds the delivery with this number in its stream. The delivery is about the issue with this number, which
    /// is its entity.
    pub fn new(
        (public_id, secret): (&str, &str),
        (stream, number): (&str, usize),
        issue: usize,
    ) -> Result<Self> {
        let mark = format!("{MARK}{stream}-{number}");
        let body = format!(
            r#"{{"action":"edited","issue":{{"number":{issue},"title":"{mark}"}},"repository":{{"full_name":"a/b"}},"mark":"{mark}"}}"#
        );
        let signature = sign(secret, &body)?;
        let headers = [
            ("x-github-event", "issues"),
            ("x-github-delivery", mark.as_str()),
            ("x-hub-signature-256", signature.as_str()),
        ];
        let path = format!("/api/webhooks/ingest/{public_id}");
        let request = request("POST", &path, &headers, Some(&body));
        Ok(Self { mark, request })
    }
}

async fn send(address: &watch::Receiver<SocketAddr>, message: &Message) -> Result<()> {
    for _ in 0..TRIES {
        let now = *address.borrow();
        match attempt(now, &message.request).await {
            Ok(200 | 202) => return Ok(()),
            // The gateway was killed or is still starting.
            Err(_) | Ok(503) => tokio::time::sleep(Duration::from_millis(2)).await,
            Ok(status) => bail!("a delivery was answered {status}"),
        }
    }
    bail!("the gateway did not become available again")
}

async fn attempt(address: SocketAddr, message: &[u8]) -> Result<u16> {
    let mut client = Client::connect(address).await?;
    Ok(client.exchange(message).await?.status)
}

/// Returns the signature in the code host's format: `sha256=` and the hex of the body's HMAC-SHA256.
pub fn sign(secret: &str, body: &str) -> Result<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())?;
    mac.update(body.as_bytes());
    Ok(format!(
        "sha256={}",
        HEXLOWER.encode(&mac.finalize().into_bytes())
    ))
}
