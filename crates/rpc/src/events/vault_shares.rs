//! Runs the rounds in which nodes share the vault's key: after changes by other nodes, after changes of the status, and
//! at regular intervals.

use gatehouse_services::Services;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{MissedTickBehavior, interval};

/// The interval of rounds without changes. A sealed node renews its request at this interval.
const INTERVAL: Duration = Duration::from_secs(20);

pub(super) async fn follow(services: Arc<Services>, mut feed: Receiver<Arc<str>>) {
    if !services.secrets.is_in_cluster() {
        return;
    }
    let mut status = services.secrets.subscribe_status();
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut has_failed = false;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            changed = status.changed() => {
                if changed.is_err() {
                    return;
                }
            }
            subject = feed.recv() => match subject {
                Ok(subject) if !matches!(&*subject, "vault_shares" | "*") => continue,
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            },
        }
        match services.secrets.share_unseal().await {
            Ok(()) => has_failed = false,
            Err(error) if !has_failed => {
                has_failed = true;
                tracing::warn!(%error, "the vault's key could not be exchanged with other nodes");
            }
            Err(_) => {}
        }
    }
}
