//! Stores received messages.

use super::{Receiver, code::send_code};
use gatehouse_channels::{Received, ReceiverState};
use gatehouse_store::StoreError;
use std::sync::Arc;

/// Maximum number of checks whether the bot has joined a conversation before it sends a code.
const CODE_TRIES: u32 = 6;

impl Receiver {
    pub(super) async fn store(&mut self, mut received: Received) -> Result<(), StoreError> {
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
            // A message that the vendor delivers again is not stored again.
            tracing::warn!(%error, account = id, "received messages were not confirmed");
        }
        // The next request accepts the invitations that could not be accepted now.
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
    pub(super) async fn note(&mut self, error: Option<String>) -> Result<(), StoreError> {
        if self.error != error {
            let channels = &self.inbound.services.channels;
            let id = &self.account.id;
            channels.set_poll_error(id, error.clone()).await?;
            self.error = error;
        }
        Ok(())
    }
}
