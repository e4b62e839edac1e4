//! The handle of the crate, [`Channels`].

use crate::inbox::InboxMessage;
use crate::live::Live;
use arc_swap::ArcSwapOption;
use gatehouse_domain::{Clock, Random};
use gatehouse_outbound::Outbound;
use gatehouse_secrets::Secrets;
use gatehouse_store::{Store, SweepClock};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::sync::broadcast;

/// The number of inbox messages buffered for each listener. A slower listener misses the oldest
/// ones.
const QUEUE: usize = 256;

/// The dependencies of [`Channels::open`].
#[derive(Debug)]
pub struct ChannelsParts {
    pub store: Store,
    /// Encrypts the accounts' secrets.
    pub secrets: Secrets,
    pub outbound: Outbound,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

/// Accounts, senders and the inbox. Cheap to clone.
#[derive(Clone)]
pub struct Channels(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) secrets: Secrets,
    pub(crate) outbound: Outbound,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) inbox: broadcast::Sender<InboxMessage>,
    pub(crate) live: Live,
    /// The number of messages that the vendor accepted, except deliveries, by account.
    pub(crate) accepted: Mutex<HashMap<String, u64>>,
    /// The clock that decides which progress rows are old enough to delete.
    pub(crate) sweep_clock: SweepClock,
    /// The configured host name of this server.
    pub(crate) host: ArcSwapOption<String>,
}

impl Channels {
    /// Creates the handle. Starts no background work.
    pub fn open(parts: ChannelsParts) -> Self {
        let (inbox, _) = broadcast::channel(QUEUE);
        Self(Arc::new(Inner {
            live: Live::new(&parts.store, &parts.secrets),
            accepted: Mutex::default(),
            sweep_clock: SweepClock::default(),
            store: parts.store,
            secrets: parts.secrets,
            outbound: parts.outbound,
            clock: parts.clock,
            random: parts.random,
            inbox,
            host: ArcSwapOption::empty(),
        }))
    }

    /// Subscribes to inbox messages of this process. Each message arrives after it is stored.
    pub fn subscribe(&self) -> broadcast::Receiver<InboxMessage> {
        self.0.inbox.subscribe()
    }
}

impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channels").finish_non_exhaustive()
    }
}
