//! Receives the messages of one account until it is stopped.

mod code;
mod store;

use super::Inbound;
use gatehouse_channels::{InboundAccount, Poll, PollHolder, ReceiveError, ReceiverState};
use gatehouse_domain::Watched;
use gatehouse_secrets::Status;
use gatehouse_store::StoreError;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long a lease may stay unchanged before it counts as lost. Receiving takes 75 seconds at most.
const LEASE_MS: u64 = 90_000;
/// How often the lease is renewed while nothing is received.
const RENEWED: Duration = Duration::from_secs(10);
/// How often the lease of another node is checked.
const OTHER: Duration = Duration::from_secs(15);
/// The delay after the first of several failures, and the maximum delay.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(2), Duration::from_mins(1));
/// The delay after the vendor refused the token.
const STOPPED: Duration = Duration::from_mins(15);

/// How often a code is sent if the vendor requests a delay, and the longest delay. A code is valid for one hour.
const CODE_SENDS: u32 = 5;
const CODE_WAIT: Duration = Duration::from_mins(5);

/// The receiver of an account.
struct Receiver {
    inbound: Arc<Inbound>,
    account: InboundAccount,
    state: ReceiverState,
    status: watch::Receiver<Status>,
    /// The position at which receiving continues, in the vendor's format.
    position: Option<String>,
    /// The stored reason why receiving fails.
    error: Option<String>,
    /// Number of consecutive failures.
    failures: u32,
    /// The lease of another node.
    other: Option<Watched<PollHolder>>,
}

pub(super) async fn receive(inbound: Arc<Inbound>, account: InboundAccount) {
    let mut receiver = Receiver {
        status: inbound.services.secrets.subscribe_status(),
        inbound,
        account,
        state: ReceiverState::default(),
        position: None,
        error: None,
        failures: 0,
        other: None,
    };
    loop {
        if let Err(error) = receiver.step().await {
            // Messages that were received but not stored must be received again.
            receiver.state = ReceiverState::default();
            let account = &receiver.account.id;
            tracing::warn!(%error, account, "receiving is interrupted, because the database cannot be used");
            tokio::time::sleep(BACKOFF.0).await;
        }
    }
}

impl Receiver {
    /// Makes one request and stores its result.
    async fn step(&mut self) -> Result<(), StoreError> {
        // A sealed node releases the account, so that other nodes can receive its messages.
        while *self.status.borrow_and_update() == Status::Sealed {
            self.state = ReceiverState::default();
            self.inbound.release(&self.account.id).await;
            if self.status.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
        if !self.claim().await? {
            self.state = ReceiverState::default();
            tokio::time::sleep(OTHER).await;
            return Ok(());
        }
        let channels = &self.inbound.services.channels;
        let position = self.position.as_deref();
        let request = channels.receive(&self.account.id, &mut self.state, position);
        let received = tokio::select! {
            received = request => received,
            // The token must not be used after the vault was sealed.
            _ = self.status.changed() => {
                self.state = ReceiverState::default();
                return Ok(());
            }
        };
        match received {
            Ok(received) => self.store(received).await,
            Err(ReceiveError::Sealed) => {
                drop(tokio::time::timeout(OTHER, self.status.changed()).await);
                Ok(())
            }
            Err(ReceiveError::Stopped { why }) => {
                tracing::warn!(account = self.account.id, why, "receiving has stopped");
                self.state = ReceiverState::default();
                // Retries later, because the response may be an error of a proxy or of the vendor. A change of the
                // account ends the delay.
                self.pause(why, STOPPED).await;
                Ok(())
            }
            Err(ReceiveError::Later { after, why }) => {
                tracing::warn!(account = self.account.id, why, "nothing was received");
                let wait = BACKOFF.0.saturating_mul(1 << self.failures.min(8));
                self.failures = self.failures.saturating_add(1);
                let wait = wait.min(BACKOFF.1);
                // A vendor that requests no delay may fail again immediately.
                let wait = after.map_or(wait, |after| after.max(BACKOFF.0));
                self.pause(why, wait).await;
                Ok(())
            }
        }
    }

    /// Stores why nothing is received, and waits. Keeps the lease, because no other node may contact the vendor
    /// during the wait. Ends early if the vault is sealed or the lease is lost, but not if the database fails.
    async fn pause(&mut self, why: String, wait: Duration) {
        if let Err(error) = self.note(Some(why)).await {
            let account = &self.account.id;
            tracing::warn!(%error, account, "the reason why receiving fails could not be stored");
        }
        let mut left = wait;
        while !left.is_zero() {
            let part = left.min(RENEWED);
            match tokio::time::timeout(part, self.status.changed()).await {
                Ok(Err(_)) => return std::future::pending().await,
                Ok(Ok(())) if *self.status.borrow() == Status::Sealed => return,
                Ok(Ok(())) => continue,
                Err(_) => left = left.saturating_sub(part),
            }
            match self.claim().await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    let account = &self.account.id;
                    tracing::warn!(%error, account, "the lease of a channel could not be renewed");
                }
            }
        }
    }

    /// Returns whether this node receives the account's messages.
    async fn claim(&mut self) -> Result<bool, StoreError> {
        let services = &self.inbound.services;
        let now = services.clock.monotonic_ms();
        let other = self.other.as_ref();
        let stale = other.filter(|other| other.unchanged_ms(now) >= LEASE_MS);
        let stale = stale.map(|other| other.value().clone());
        let (id, node) = (&self.account.id, &self.inbound.node);
        match services.channels.claim_poll(id, node, stale).await? {
            Poll::Own {
                position,
                received_at,
                error,
            } => {
                self.other = None;
                self.error = error;
                if self.inbound.state().own.insert(id.clone()) {
                    let age = received_at.until(services.clock.now());
                    let is_old = self.account.forgets_after.is_some_and(|after| age > after);
                    self.position = position.filter(|_| !is_old);
                    self.inbound.arrived.notify_one();
                    // The stored reason is older than the account's last change or than this start. It is removed
                    // before the request, because a successful request may take half a minute.
                    self.note(None).await?;
                }
                Ok(true)
            }
            Poll::Other(holder) => {
                self.inbound.state().own.remove(id);
                let now = services.clock.monotonic_ms();
                self.other = Some(Watched::after(self.other.take(), holder, now));
                Ok(false)
            }
        }
    }
}

#[cfg(test)]
mod tests;
