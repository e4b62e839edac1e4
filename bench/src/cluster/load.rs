//! Senders that behave like a code host behind a load balancer. If one node does not accept a delivery, the sender
//! repeats it with the same ID at the next node.

use crate::crash::lane::Lane;
use crate::crash::{Accepted, Message};
use crate::http1::Client;
use anyhow::{Result, bail};
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Number of connections for each webhook.
const CONNECTIONS: usize = 8;
/// How long a sender waits for a node before it goes to the next one, in `cluster`.
pub const ATTEMPT: Duration = Duration::from_secs(1);
/// If no node accepts a delivery for this long, the cluster is broken.
const PATIENCE: Duration = Duration::from_mins(1);
/// Number of deliveries in one session.
const OF_A_SESSION: usize = 20;

/// The addresses of the nodes; `None` for a node that does not run.
#[derive(Clone)]
pub struct Addresses(Arc<RwLock<Vec<Option<SocketAddr>>>>);

impl Addresses {
    pub fn new(nodes: usize) -> Self {
        Self(Arc::new(RwLock::new(vec![None; nodes])))
    }

    pub fn set(&self, number: usize, address: Option<SocketAddr>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = all.get_mut(number) {
            *place = address;
        }
    }

    /// Returns the addresses of the nodes that run.
    pub fn running(&self) -> Vec<SocketAddr> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().flatten().copied().collect()
    }

    /// Returns the address of one of the nodes that run.
    pub fn choose(&self, number: usize) -> Option<SocketAddr> {
        let running = self.running();
        running.get(number % running.len().max(1)).copied()
    }
}

/// The running senders.
pub struct Senders {
    pub tasks: Vec<JoinHandle<Result<Sent>>>,
    stop: CancellationToken,
}

/// The result of one sender.
#[derive(Default)]
pub struct Sent {
    pub accepted: Vec<Accepted>,
    /// The time from the first attempt until each delivery was accepted.
    pub waits: Vec<Duration>,
    /// Number of attempts that were not accepted.
    pub refused: usize,
}

/// Starts senders for each webhook. Together they send `rate` deliveries per second. `attempt` is how long they
/// wait for a node's answer.
pub fn start(lanes: &[Lane], rate: u32, (addresses, attempt): (&Addresses, Duration)) -> Senders {
    let stop = CancellationToken::new();
    let senders = u32::try_from(lanes.len() * CONNECTIONS).unwrap_or(u32::MAX);
    let pause = Duration::from_secs(1) * senders / rate.max(1);
    let one = |lane: &Lane, connection: usize| {
        let (name, public_id) = (lane.name, lane.public_id.clone());
        let (secret, addresses) = (lane.secret.clone(), addresses.clone());
        let stop = stop.clone();
        tokio::spawn(async move {
            let mut sent = Sent::default();
            let mut number = 0;
            while !stop.is_cancelled() {
                let stream = format!("{name}-{connection}-{}", number / OF_A_SESSION);
                let issue = number / OF_A_SESSION * CONNECTIONS + connection;
                let message = Message::new((&public_id, &secret), (&stream, number), issue)?;
                let begun = Instant::now();
                sent.refused +=
                    deliver((&addresses, attempt), &message, connection + number).await?;
                sent.waits.push(begun.elapsed());
                sent.accepted.push(Accepted {
                    mark: message.mark,
                    lane: name,
                });
                number += 1;
                tokio::time::sleep(pause.saturating_sub(begun.elapsed())).await;
            }
            Ok(sent)
        })
    };
    let tasks = lanes
        .iter()
        .flat_map(|lane| (0..CONNECTIONS).map(move |connection| (lane, connection)))
        .map(|(lane, connection)| one(lane, connection))
        .collect();
    Senders { tasks, stop }
}

/// Makes the senders stop after the delivery that they are sending.
pub fn stop(senders: &Senders) {
    senders.stop.cancel();
}

/// Offers a delivery to one node after another, beginning with the node of this number, until a node accepts it.
/// Returns the number of attempts that were not accepted.
async fn deliver(
    (addresses, patience): (&Addresses, Duration),
    message: &Message,
    first: usize,
) -> Result<usize> {
    let begun = Instant::now();
    let (mut next, mut refused) = (first, 0);
    while begun.elapsed() < PATIENCE {
        next += 1;
        let Some(address) = addresses.choose(next) else {
            tokio::time::sleep(Duration::from_millis(2)).await;
            continue;
        };
        match tokio::time::timeout(patience, attempt(address, message)).await {
            Ok(Ok(200 | 202)) => return Ok(refused),
            // The node was killed, is frozen, is still starting, or has no database.
            Err(_) | Ok(Err(_) | Ok(503)) => {
                refused += 1;
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            Ok(Ok(status)) => bail!("a delivery was answered {status}"),
        }
    }
    bail!("no node accepted a delivery")
}

/// Sends a delivery to a node. Returns the status of the answer.
pub async fn attempt(address: SocketAddr, message: &Message) -> Result<u16> {
    let mut client = Client::connect(address).await?;
    Ok(client.exchange(&message.request).await?.status)
}

/// Returns whether a node accepts a delivery.
pub async fn is_accepting(address: SocketAddr, probed: &Lane) -> bool {
    let Ok(message) = Message::new((&probed.public_id, &probed.secret), ("probe", 0), 0) else {
        return false;
    };
    let answer = tokio::time::timeout(ATTEMPT, attempt(address, &message)).await;
    matches!(answer, Ok(Ok(200 | 202)))
}
