//! The time from the revocation of an API key on one node until its sockets on all nodes are closed. Measured while
//! nodes, the database and the network fail, and without faults.

use super::load::Addresses;
use super::node::Node;
use super::{Cluster, PATIENCE, Span};
use crate::figures::{greatest, median, millis};
use crate::gate::revocation::{end, open};
use crate::http1::{Client, request};
use crate::owner::text;
use crate::table::{Goal, Report};
use anyhow::{Context, Result, bail, ensure};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_util::sync::CancellationToken;

const REVOCATIONS: usize = 20;
/// Close code of a socket whose credential has ended.
const NOT_AUTHENTICATED: u16 = 4401;
/// How long a request may take during the faults.
const ATTEMPT: Duration = Duration::from_secs(2);
/// The time between two revocations.
const PAUSE: Duration = Duration::from_millis(500);
/// The limit without faults.
const LIMIT: Duration = Duration::from_secs(1);
/// The limit after the end of a fault: [`LIMIT`], plus two seconds in which a node may trust its memory.
const LIMIT_AFTER_FAULT: Duration = Duration::from_secs(3);

/// A socket of a key that was revoked.
#[derive(Clone, Copy)]
struct Ended {
    revoked: Instant,
    /// When the socket was closed. `None` if it was still open at the end of the run.
    closed: Option<Instant>,
}

/// Revokes keys until it is stopped.
pub struct Revoker {
    task: JoinHandle<Result<Vec<Ended>>>,
    stop: CancellationToken,
}

/// Starts to revoke keys.
pub fn start(cookie: &str, addresses: &Addresses) -> Revoker {
    let stop = CancellationToken::new();
    let (stopped, cookie, addresses) = (stop.clone(), cookie.to_owned(), addresses.clone());
    let task = tokio::spawn(async move {
        let mut sockets = Vec::new();
        let mut number = 0;
        while !stopped.is_cancelled() {
            number += 1;
            // If the key or its sockets could not be created, there is nothing to measure.
            if let Ok(watched) = revoke(&cookie, &addresses, number).await {
                sockets.extend(watched);
            }
            tokio::time::sleep(PAUSE).await;
        }
        let mut ended = Vec::new();
        for socket in sockets {
            ended.push(socket.await?);
        }
        Ok(ended)
    });
    Revoker { task, stop }
}

/// Creates a key, opens sockets with it on all running nodes, revokes it on one of them, and watches the sockets.
async fn revoke(
    cookie: &str,
    addresses: &Addresses,
    number: usize,
) -> Result<Vec<JoinHandle<Ended>>> {
    let wanted = json!({ "label": "revoked", "scopes": ["operator.read"] }).to_string();
    let first = addresses.choose(number).context("no node is running")?;
    let path = "/api/auth/api-keys";
    let made = call(
        first,
        request("POST", path, &[("cookie", cookie)], Some(&wanted)),
    );
    let (status, made) = made.await?;
    ensure!(status == 200, "no key: {status}");
    let made: Value = serde_json::from_slice(&made)?;
    let bearer = format!("Bearer {}", text(&made, "key")?);
    let mut sockets = Vec::new();
    for address in addresses.running() {
        let opened = timeout(ATTEMPT, open(address, "authorization", &bearer)).await;
        sockets.extend(opened.ok().and_then(Result::ok));
    }
    ensure!(!sockets.is_empty(), "no socket");
    let path = format!("/api/auth/api-keys/{}", text(&made, "id")?);
    let delete = request("DELETE", &path, &[("cookie", cookie)], None);
    let begun = Instant::now();
    let mut next = number;
    loop {
        next += 1;
        if let Some(address) = addresses.choose(next) {
            match call(address, delete.clone()).await {
                // 404 means that an earlier request succeeded, but its answer was lost.
                Ok((200 | 404, _)) => break,
                Err(_) | Ok((503, _)) => {}
                Ok((status, _)) => bail!("a revocation was answered {status}"),
            }
        }
        ensure!(begun.elapsed() < PATIENCE, "no node revokes the key");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let revoked = Instant::now();
    let watched = sockets.into_iter();
    let watched = watched.map(|socket| tokio::spawn(watch(socket, revoked)));
    Ok(watched.collect())
}

/// Makes a request and returns its status and body.
async fn call(address: SocketAddr, request: Vec<u8>) -> Result<(u16, Vec<u8>)> {
    let exchange = async {
        let mut client = Client::connect(address).await?;
        let answer = client.exchange(&request).await?;
        anyhow::Ok((answer.status, answer.body.to_vec()))
    };
    timeout(ATTEMPT, exchange).await?
}

/// Waits until the socket is closed, either by its node or because its node ended.
async fn watch(mut socket: WebSocketStream<TcpStream>, revoked: Instant) -> Ended {
    let closed = timeout(PATIENCE, async {
        while let Some(Ok(message)) = socket.next().await {
            if message.is_close() {
                break;
            }
        }
        Instant::now()
    });
    let closed = closed.await.ok();
    Ended { revoked, closed }
}

/// Returns how late a socket was closed. Measured from the end of the last fault in between, otherwise from the
/// revocation. The second value is whether there was a fault.
fn lateness(ended: Ended, faults: &[Span]) -> Option<(Duration, bool)> {
    let Ended { revoked, closed } = ended;
    let closed = closed?;
    let between = faults.iter().filter(|it| it.0 <= closed && it.1 >= revoked);
    let last = between.map(|it| it.1).max();
    let from = last.map_or(revoked, |end| end.max(revoked));
    Some((closed.saturating_duration_since(from), last.is_some()))
}

/// Stops the revocations and reports the revocations during the faults.
pub async fn check(revoker: Revoker, faults: &[Span], report: &mut Report) -> Result<()> {
    revoker.stop.cancel();
    let ended = revoker.task.await??;
    let open = ended.iter().filter(|it| it.closed.is_none()).count();
    report.fact(
        format!(
            "sockets of revoked keys, of {}, still open at the end",
            ended.len()
        ),
        "0",
        open == 0 && !ended.is_empty(),
        open,
    );
    let late: Vec<_> = ended
        .iter()
        .filter_map(|it| lateness(*it, faults))
        .collect();
    for (is_faulty, what, limit) in [
        (false, "revocation to closed sockets between faults", LIMIT),
        (
            true,
            "revocation during a fault: from its end to closed sockets",
            LIMIT_AFTER_FAULT,
        ),
    ] {
        let times = late.iter().filter(|it| it.1 == is_faulty).map(|it| it.0);
        let times: Vec<Duration> = times.collect();
        report.value(
            format!("{what}, longest of {}", times.len()),
            Goal::AtMost(millis(limit)),
            millis(greatest(&times)),
            (1, "ms"),
        );
    }
    Ok(())
}

/// Creates a key. The first attempt may use a connection that the last fault made silent, and fail.
async fn make_key(node: &Node, wanted: &Value) -> Result<Value> {
    let begun = Instant::now();
    loop {
        let place = ("POST", "/api/auth/api-keys");
        match node
            .installation
            .call(node.server()?, place, Some(wanted))
            .await
        {
            Err(error) if begun.elapsed() > PATIENCE => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            made => return made,
        }
    }
}

/// Measures revocations on a cluster without faults.
pub async fn measure(cluster: &Cluster, report: &mut Report) -> Result<()> {
    let wanted = json!({ "label": "revoked", "scopes": ["operator.read"] });
    let mut times = Vec::new();
    for number in 0..REVOCATIONS {
        let node = cluster
            .nodes
            .get(number % cluster.nodes.len())
            .context("no node")?;
        let key = make_key(node, &wanted).await?;
        let bearer = format!("Bearer {}", text(&key, "key")?);
        let mut sockets = Vec::new();
        for other in &cluster.nodes {
            sockets.push(open(other.address()?, "authorization", &bearer).await?);
        }
        let path = format!("/api/auth/api-keys/{}", text(&key, "id")?);
        let begun = Instant::now();
        node.installation
            .call(node.server()?, ("DELETE", &path), None)
            .await?;
        for mut socket in sockets {
            let code = end(&mut socket).await?;
            ensure!(code == NOT_AUTHENTICATED, "closed with {code}");
        }
        times.push(begun.elapsed());
    }
    let worst = millis(greatest(&times));
    report.value(
        format!("revocation to closed sockets on all nodes, median of {REVOCATIONS}"),
        Goal::Reported,
        millis(median(&mut times)),
        (1, "ms"),
    );
    report.value(
        format!("revocation to closed sockets on all nodes, longest of {REVOCATIONS}"),
        Goal::AtMost(millis(LIMIT)),
        worst,
        (1, "ms"),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_late_after_the_last_fault_between_revocation_and_close() {
        let begun = Instant::now();
        let at = |millis| begun + Duration::from_millis(millis);
        let late = |revoked, closed, faults: &[(u64, u64)]| {
            let faults: Vec<Span> = faults.iter().map(|it| (at(it.0), at(it.1))).collect();
            let ended = Ended {
                revoked: at(revoked),
                closed: Some(at(closed)),
            };
            let (late, is_faulty) = lateness(ended, &faults).unwrap();
            (late.as_millis(), is_faulty)
        };
        assert_eq!(late(100, 700, &[]), (600, false));
        assert_eq!(late(100, 700, &[(0, 99), (701, 900)]), (600, false));
        assert_eq!(late(100, 700, &[(0, 150), (200, 400)]), (300, true));
        assert_eq!(late(100, 700, &[(200, 900)]), (0, true));
        let open = Ended {
            revoked: at(0),
            closed: None,
        };
        assert!(lateness(open, &[]).is_none());
    }
}
