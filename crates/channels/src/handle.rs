//! The handle of this room.

use crate::inbox::InboxMessage;
use crate::live::Live;
use gatehouse_domain::{Clock, Random};
use gatehouse_outbound::Outbound;
use gatehouse_secrets::Secrets;
use gatehouse_store::{Store, SweepClock};
use std::fmt;
use std::sync::Arc;
use tokio::sync::broadcast;

/// How many inbox messages a listener may be behind before it misses some.
const QUEUE: usize = 256;

/// What [`Channels::open`] is made of.
#[derive(Debug)]
pub struct ChannelsParts {
    /// The database.
    pub store: Store,
    /// Who encrypts the accounts' secrets.
    pub secrets: Secrets,
    /// The way out.
    pub outbound: Outbound,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
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
    /// The time that sweeps go by.
    pub(crate) sweep_clock: SweepClock,
}

impl Channels {
    /// Puts the room together. It does nothing by itself.
    pub fn open(parts: ChannelsParts) -> Self {
        let (inbox, _) = broadcast::channel(QUEUE);
        Self(Arc::new(Inner {
            live: Live::new(&parts.store, &parts.secrets),
            sweep_clock: SweepClock::default(),
            store: parts.store,
            secrets: parts.secrets,
            outbound: parts.outbound,
            clock: parts.clock,
            random: parts.random,
            inbox,
        }))
    }

    /// New inbox messages of this process, once they are stored.
    pub fn subscribe(&self) -> broadcast::Receiver<InboxMessage> {
        self.0.inbox.subscribe()
    }
}

impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channels").finish_non_exhaustive()
    }
}
