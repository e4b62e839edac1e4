//! Receives the messages of one account until it is stopped.

use super::Inbound;
use crate::Services;
use crate::own_messages::SOURCE;
use gatehouse_channels::{
    InboundAccount, Outgoing, PairingRequest, Poll, PollHolder, ReceiveError, Received,
    ReceiverState, SendError,
};
use gatehouse_domain::{Timestamp, Watched};
use gatehouse_secrets::Status;
use gatehouse_store::StoreError;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// A lease that has not changed for this long is lost. Receiving takes 75 seconds at most.
const LEASE_MS: u64 = 90_000;
/// How often the lease is renewed while nothing is received.
const RENEWED: Duration = Duration::from_secs(10);
/// How often the lease of another node is checked.
const OTHER: Duration = Duration::from_secs(15);
/// The delay after the first of several failures, and the maximum delay.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(2), Duration::from_mins(1));
/// The delay after the vendor refused the token.
const STOPPED: Duration = Duration::from_mins(15);
/// Maximum number of checks whether the bot has joined a conversation, before it sends a code.
const CODE_TRIES: u32 = 6;
/// How often a code is sent if the vendor asks to wait, and the longest wait. A code is valid for one hour.
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
    /// Failures in a row.
    failures: u32,
    /// Another node's lease.
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
        // A sealed node must not keep the account from others.
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
                // A proxy or the vendor may have answered by mistake. A change of the account does not wait.
                self.pause(why, STOPPED).await;
                Ok(())
            }
            Err(ReceiveError::Later { after, why }) => {
                tracing::warn!(account = self.account.id, why, "nothing was received");
                let wait = BACKOFF.0.saturating_mul(1 << self.failures.min(8));
                self.failures = self.failures.saturating_add(1);
                let wait = wait.min(BACKOFF.1);
                // A vendor that asks for no delay may fail again at once.
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
            tracing::warn!(%error, account, "why nothing is received could not be stored");
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

    /// Whether this node receives the account's messages.
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
                    // The stored reason is older than the account's last change or than this start. A successful
                    // request may take half a minute, so the reason is removed before it.
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

    async fn store(&mut self, mut received: Received) -> Result<(), StoreError> {
        let presses = std::mem::take(&mut received.presses);
        let position = received.position.clone();
        let warning = received.warning.map(str::to_owned);
        let services = Arc::clone(&self.inbound.services);
        let (channels, id) = (&services.channels, &self.account.id);
        let node = &self.inbound.node;
        let stored = channels.store_received(id, node, received).await?;
        if stored.is_lease_lost {
            self.inbound.state().own.remove(id);
            self.state = ReceiverState::default();
            return Ok(());
        }
        self.position = position;
        self.failures = 0;
        services.take_presses(id, presses, &self.inbound.tasks);
        if stored.has_messages {
            self.inbound.arrived.notify_one();
        }
        let confirm = channels.confirm_received(id, &mut self.state, &stored.accepted);
        let confirmed = confirm.await;
        if let Err(error) = &confirmed {
            // Messages that the vendor delivers again are not stored again.
            tracing::warn!(%error, account = id, "received messages were not confirmed");
        }
        // The next request accepts the invitations that could not be accepted.
        let tries = if confirmed.is_err() { CODE_TRIES } else { 1 };
        for request in stored.requests {
            let (inbound, account) = (Arc::clone(&self.inbound), self.account.clone());
            // A separate task, because the receiver must continue to answer the vendor's heartbeats.
            self.inbound.tasks.spawn(async move {
                if let Err(error) = send_code(&inbound, &account, &request, tries).await {
                    tracing::warn!(%error, account = account.id, "a pairing code was not sent");
                }
            });
        }
        self.note(warning).await
    }

    /// Stores why receiving fails, if that has changed.
    async fn note(&mut self, error: Option<String>) -> Result<(), StoreError> {
        if self.error != error {
            let channels = &self.inbound.services.channels;
            let id = &self.account.id;
            channels.set_poll_error(id, error.clone()).await?;
            self.error = error;
        }
        Ok(())
    }
}

/// Sends a code, if no other people read the conversation. A person who does not get it can request another after an
/// hour.
async fn send_code(
    inbound: &Inbound,
    account: &InboundAccount,
    request: &PairingRequest,
    tries: u32,
) -> Result<(), SendError> {
    // Each attempt is the same message.
    let at = inbound.services.clock.now();
    let mut sends = 1;
    loop {
        let error = match try_send_code(&inbound.services, account, (request, at), tries).await {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let SendError::Retry { after, .. } = &error else {
            return Err(error);
        };
        let Some(wait) = code_wait(*after, sends) else {
            return Err(error);
        };
        inbound.pause(wait).await;
        if inbound.shutdown.is_cancelled() {
            return Err(error);
        }
        sends += 1;
    }
}

/// Returns how long to wait before a code is sent again, after this many sends; `None` if it is not sent again.
fn code_wait(after: Option<Duration>, sends: u32) -> Option<Duration> {
    let wait = after.unwrap_or(BACKOFF.0);
    (sends < CODE_SENDS && wait <= CODE_WAIT).then_some(wait)
}

async fn try_send_code(
    services: &Services,
    account: &InboundAccount,
    (request, at): (&PairingRequest, Timestamp),
    tries: u32,
) -> Result<(), SendError> {
    let channels = &services.channels;
    let mut looks = 1;
    while !channels
        .is_private(&account.id, &request.chat, &request.person)
        .await?
    {
        if looks == tries {
            tracing::warn!(account = account.id, "others would read a pairing code");
            return Ok(());
        }
        tokio::time::sleep(BACKOFF.0.saturating_mul(looks)).await;
        looks += 1;
    }
    let mut text = format!(
        "Your pairing code is {}. The owner can approve it within one hour.",
        request.code
    );
    if let Some(note) = request.note {
        text.push(' ');
        text.push_str(note);
    }
    let thread = request.thread.as_deref();
    let extra = channels.address(&account.id, &request.chat, thread).await?;
    let message = Outgoing {
        target: &account.target(),
        text: &text,
        is_json: false,
        extra: &extra,
        source: SOURCE,
        at,
        delivery: None,
        pictures: &[],
        links: &[],
    };
    channels.send(message).await
}

#[cfg(test)]
mod tests;
