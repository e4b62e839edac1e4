//! The dependencies and settings that opening the webhooks requires.

use gatehouse_agents::Agents;
use gatehouse_channels::Channels;
use gatehouse_domain::trace::Tracer;
use gatehouse_domain::{Clock, Random};
use gatehouse_secrets::Secrets;
use gatehouse_store::Store;
use std::sync::Arc;

/// The dependencies of this crate.
#[derive(Clone, Debug)]
pub struct WebhooksParts {
    pub store: Store,
    pub secrets: Secrets,
    pub agents: Agents,
    pub channels: Channels,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub tracer: Tracer,
}

/// The settings of this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhooksSettings {
    pub section: gatehouse_config::Webhooks,
    /// `server.drain_seconds`.
    pub drain_seconds: u64,
    /// `vault.hold_while_sealed`.
    pub hold_while_sealed: bool,
    /// The base URL that senders use, such as `https://gate.example`: `server.external_url`, otherwise the
    /// listen address.
    pub base_url: String,
}

impl Default for WebhooksSettings {
    fn default() -> Self {
        Self {
            section: gatehouse_config::Webhooks::default(),
            drain_seconds: 30,
            hold_while_sealed: false,
            base_url: "http://127.0.0.1:8420".to_owned(),
        }
    }
}
