//! A webhook with a rate limit. Senders offer it more deliveries than it may accept, through all nodes in turn.

use super::load::{Addresses, attempt};
use super::node::Node;
use crate::crash::Message;
use crate::crash::lane::{Lane, make_lane};
use crate::table::{Goal, Report};
use anyhow::{Result, bail};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The limit in deliveries per minute.
const PER_MINUTE: u32 = 600;
/// The allowed deviation.
const TENTH: f64 = 0.1;
/// The period of the limit.
pub const WINDOW: Duration = Duration::from_mins(1);
const SENDERS: usize = 3;
/// The time between two deliveries of a sender. Together, the senders offer twice the limit.
const PAUSE: Duration = Duration::from_millis(150);
/// How long a sender waits for a node.
const ATTEMPT: Duration = Duration::from_secs(1);

/// Senders to the limited webhook.
pub struct Offered {
    tasks: Vec<JoinHandle<Result<Vec<Instant>>>>,
    stop: CancellationToken,
}

/// Creates the webhook. Its deliveries go to the log, because the inbox, which is read at the end, keeps a limited
/// number of messages.
pub async fn make(node: &Node) -> Result<Lane> {
    let params = json!({
        "name": "limited", "source_profile": "codehost_a", "rate_limit_per_minute": PER_MINUTE,
        "deliver_only": true, "deliver_to": "log", "prompt_template": "limited",
    });
    make_lane(&node.installation, node.server()?, "limited", params).await
}

/// Starts the senders.
pub fn start(lane: &Lane, addresses: &Addresses) -> Offered {
    let stop = CancellationToken::new();
    let sender = |sender: usize| {
        let (public_id, secret) = (lane.public_id.clone(), lane.secret.clone());
        let (addresses, stop) = (addresses.clone(), stop.clone());
        tokio::spawn(async move {
            let stream = format!("limited-{sender}");
            let mut accepted = Vec::new();
            let mut number = 0;
            while !stop.is_cancelled() {
                let message = Message::new((&public_id, &secret), (&stream, number), number)?;
                let begun = Instant::now();
                if let Some(address) = addresses.choose(number + sender) {
                    match timeout(ATTEMPT, attempt(address, &message)).await {
                        Ok(Ok(202)) => accepted.push(Instant::now()),
                        // The limit refused the delivery, or the node is killed, frozen, starting or without the
                        // database.
                        Err(_) | Ok(Err(_) | Ok(429 | 503)) => {}
                        Ok(Ok(status)) => bail!("a limited delivery was answered {status}"),
                    }
                }
                number += 1;
                tokio::time::sleep(PAUSE.saturating_sub(begun.elapsed())).await;
            }
            Ok(accepted)
        })
    };
    let tasks = (0..SENDERS).map(sender).collect();
    Offered { tasks, stop }
}

/// Stops the senders at the end of a minute without faults, and reports what was accepted.
pub async fn check(offered: Offered, report: &mut Report) -> Result<()> {
    let end = Instant::now();
    offered.stop.cancel();
    let mut accepted = Vec::new();
    for task in offered.tasks {
        accepted.extend(task.await??);
    }
    accepted.sort_unstable();
    let limit = f64::from(PER_MINUTE);
    let unit = (0, "deliveries");
    report.value(
        format!("limit of {PER_MINUTE} a minute over all nodes: most accepted in any minute"),
        Goal::AtMost(limit * (1.0 + TENTH)),
        count(most_in_a_window(&accepted)),
        unit,
    );
    let last = accepted
        .iter()
        .filter(|at| end.duration_since(**at) < WINDOW);
    report.value(
        "the same: accepted in the last minute, without faults",
        Goal::AtLeast(limit * (1.0 - TENTH)),
        count(last.count()),
        unit,
    );
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a count of deliveries")]
const fn count(number: usize) -> f64 {
    number as f64
}

/// Returns the greatest number of moments in any period of [`WINDOW`]. `moments` must be sorted.
fn most_in_a_window(moments: &[Instant]) -> usize {
    let mut first = 0;
    let mut most = 0;
    for (place, moment) in moments.iter().enumerate() {
        while moments
            .get(first)
            .is_some_and(|it| moment.duration_since(*it) >= WINDOW)
        {
            first += 1;
        }
        most = most.max(place + 1 - first);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_contains_its_beginning_and_not_its_end() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert_eq!(most_in_a_window(&[]), 0);
        assert_eq!(most_in_a_window(&[at(0), at(59), at(60), at(61)]), 3);
        assert_eq!(most_in_a_window(&[at(0), at(60), at(120)]), 1);
    }
}
