//! The handle of this room: what it is made of, its settings, and opening it. The operations are in
//! the other modules, each on the same type.

use crate::delivery::Delivery;
use crate::delivery_ids::DeliveryIds;
use crate::error::WebhooksError;
use crate::ingest::{Batches, Guesses, Refusals};
use crate::limits::Limits;
use crate::live::LiveWebhooks;
use crate::snapshots::Snapshots;
use crate::worker::circuit::Circuits;
use arc_swap::ArcSwap;
use data_encoding::HEXLOWER;
use gatehouse_agents::Agents;
use gatehouse_channels::Channels;
use gatehouse_domain::{Clock, DeliveryId, Random, Timestamp};
use gatehouse_secrets::Secrets;
use gatehouse_store::{DeliveryRow, Store, StoreError, SweepClock};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many changes of deliveries a listener may be behind.
const EVENTS: usize = 1024;

/// The rooms that this one uses.
#[derive(Clone, Debug)]
pub struct WebhooksParts {
    /// The database.
    pub store: Store,
    /// Secrets and their vault.
    pub secrets: Secrets,
    /// Who works on deliveries.
    pub agents: Agents,
    /// Where deliveries are sent on to.
    pub channels: Channels,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
}

/// What the settings say of this room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhooksSettings {
    /// `webhooks.agent_workers`: turns of agents at a time.
    pub agent_workers: usize,
    /// `webhooks.send_workers`: sends to channels at a time.
    pub send_workers: usize,
    /// `webhooks.per_webhook_concurrency`.
    pub per_webhook_concurrency: usize,
    /// `webhooks.per_account_concurrency`.
    pub per_account_concurrency: usize,
    /// `server.drain_seconds`.
    pub drain_seconds: u64,
    /// `webhooks.lease_seconds`.
    pub lease_seconds: u64,
    /// `webhooks.max_attempts`.
    pub max_attempts: u32,
    /// `webhooks.retry_base_ms`.
    pub retry_base_ms: u64,
    /// `webhooks.global_rate_limit_per_minute`.
    pub global_rate_limit_per_minute: u32,
    /// `webhooks.retention_days`.
    pub retention_days: u32,
    /// `webhooks.retry_agent_errors`.
    pub retry_agent_errors: bool,
    /// `webhooks.tracker_tolerance_seconds`.
    pub tracker_tolerance_seconds: i64,
    /// Where senders reach this server, such as `https://gate.example`: `server.external_url`, else
    /// the address it listens on.
    pub base_url: String,
}

impl Default for WebhooksSettings {
    fn default() -> Self {
        Self {
            agent_workers: 4,
            send_workers: 64,
            per_webhook_concurrency: 8,
            per_account_concurrency: 8,
            drain_seconds: 30,
            lease_seconds: 60,
            max_attempts: 12,
            retry_base_ms: 10_000,
            global_rate_limit_per_minute: 300,
            retention_days: 30,
            retry_agent_errors: false,
            tracker_tolerance_seconds: 300,
            base_url: "http://127.0.0.1:8420".to_owned(),
        }
    }
}

/// The runs in progress, so that they can be ended.
#[derive(Debug, Default)]
pub(crate) struct Cancels(
    Mutex<HashMap<DeliveryId, (gatehouse_domain::WebhookId, CancellationToken)>>,
);

/// Removes its run from the list when it is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    inner: Arc<Inner>,
    delivery: DeliveryId,
    /// Cancelled when the webhook is deleted.
    pub(crate) cancel: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.inner.cancels.lock().remove(&self.delivery);
    }
}

impl Cancels {
    fn lock(
        &self,
    ) -> MutexGuard<'_, HashMap<DeliveryId, (gatehouse_domain::WebhookId, CancellationToken)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run of a delivery.
    pub(crate) fn cancel_delivery(&self, delivery: &DeliveryId) {
        if let Some((_, cancel)) = self.lock().get(delivery) {
            cancel.cancel();
        }
    }

    /// Ends every run of a webhook.
    pub(crate) fn cancel_webhook(&self, webhook: &gatehouse_domain::WebhookId) {
        for (whose, cancel) in self.lock().values() {
            if whose == webhook {
                cancel.cancel();
            }
        }
    }
}

/// What this room holds.
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) secrets: Secrets,
    pub(crate) agents: Agents,
    pub(crate) channels: Channels,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) settings: ArcSwap<WebhooksSettings>,
    /// The webhooks, in memory.
    pub(crate) live: LiveWebhooks,
    /// What is told at each change of a delivery's status.
    pub(crate) events: broadcast::Sender<Arc<Delivery>>,
    /// Told when there may be work.
    pub(crate) wake: Arc<Notify>,
    /// The name of this life of this process, which leases carry.
    pub(crate) node: String,
    /// How often the worker has looked at everything.
    pub(crate) turns: tokio::sync::watch::Sender<u64>,
    pub(crate) cancels: Cancels,
    /// Accounts that did not answer lately.
    pub(crate) circuits: Mutex<Circuits>,
    /// Configurations of deliveries, parsed.
    pub(crate) snapshots: Snapshots,
    pub(crate) limits: Arc<Limits>,
    pub(crate) batches: Batches,
    pub(crate) refusals: Refusals,
    pub(crate) guesses: Guesses,
    pub(crate) delivery_ids: DeliveryIds,
    /// The time that sweeps go by.
    pub(crate) sweep_clock: SweepClock,
    /// Changes that must run to their end.
    pub(crate) tasks: TaskTracker,
    /// Held over a change of webhooks and what follows from it in memory.
    pub(crate) changing: tokio::sync::Mutex<()>,
    /// Held while deliveries of deleted webhooks are removed.
    pub(crate) purging: tokio::sync::Mutex<()>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhooks").finish_non_exhaustive()
    }
}

impl Inner {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The id of a new delivery: after every one before it.
    pub(crate) fn new_delivery_id(&self) -> DeliveryId {
        self.delivery_ids.next(&*self.clock, &*self.random)
    }

    /// Ids go on after the last one in the database, also if the clock was set back since.
    async fn remember_last_id(&self) -> Result<(), StoreError> {
        let last = self
            .store
            .read(|conn| Box::pin(async move { conn.find_last_delivery_id().await }));
        if let Some(last) = last.await? {
            self.delivery_ids.go_on_after(&last);
        }
        Ok(())
    }

    /// The time up to which sweeps may remove what is old.
    pub(crate) async fn sweep_now(&self) -> Result<Timestamp, StoreError> {
        self.sweep_clock.now(&self.store, &*self.clock).await
    }

    /// Tells whoever listens where a delivery stands now.
    pub(crate) fn publish(&self, row: DeliveryRow) {
        publish(&self.events, || row);
    }

    /// The same, without making the row when nobody listens.
    pub(crate) fn publish_with(&self, row: impl FnOnce() -> DeliveryRow) {
        publish(&self.events, row);
    }

    /// Notes that a delivery is being worked on, until what is returned is dropped.
    pub(crate) fn running(
        self: &Arc<Self>,
        delivery: &DeliveryId,
        webhook: &gatehouse_domain::WebhookId,
        cancel: CancellationToken,
    ) -> Running {
        self.cancels
            .lock()
            .insert(delivery.clone(), (webhook.clone(), cancel.clone()));
        Running {
            inner: Arc::clone(self),
            delivery: delivery.clone(),
            cancel,
        }
    }
}

/// Tells whoever listens; nobody listening is no error and costs nothing.
pub(crate) fn publish(
    events: &broadcast::Sender<Arc<Delivery>>,
    row: impl FnOnce() -> DeliveryRow,
) {
    if events.receiver_count() > 0 {
        drop(events.send(Arc::new(Delivery::from(row()))));
    }
}

/// Inbound webhooks. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Webhooks(pub(crate) Arc<Inner>);

impl Webhooks {
    /// Reads every webhook into memory. Work begins with [`Webhooks::background`].
    pub async fn open(
        parts: WebhooksParts,
        settings: WebhooksSettings,
    ) -> Result<Self, WebhooksError> {
        let events = broadcast::Sender::new(EVENTS);
        let wake = Arc::new(Notify::new());
        let tasks = TaskTracker::new();
        let limits = Arc::new(Limits::new(Arc::clone(&parts.clock)));
        let batches = Batches::start(&parts.store, &events, &wake, &tasks);
        let inner = Inner {
            delivery_ids: DeliveryIds::default(),
            sweep_clock: SweepClock::default(),
            refusals: Refusals::new(Arc::clone(&parts.clock)),
            guesses: Guesses::new(Arc::clone(&parts.clock)),
            node: HEXLOWER.encode(&parts.random.bytes::<16>()),
            turns: tokio::sync::watch::Sender::new(0),
            store: parts.store,
            secrets: parts.secrets,
            agents: parts.agents,
            channels: parts.channels,
            clock: parts.clock,
            random: parts.random,
            settings: ArcSwap::from_pointee(settings),
            live: LiveWebhooks::default(),
            events,
            wake,
            cancels: Cancels::default(),
            circuits: Mutex::default(),
            snapshots: Snapshots::default(),
            limits,
            batches,
            tasks,
            changing: tokio::sync::Mutex::new(()),
            purging: tokio::sync::Mutex::new(()),
        };
        let webhooks = Self(Arc::new(inner));
        webhooks.reload().await?;
        webhooks.0.remember_recent().await?;
        webhooks.0.remember_last_id().await?;
        Ok(webhooks)
    }

    /// Puts new settings in force.
    pub fn update_settings(&self, settings: WebhooksSettings) {
        self.0.settings.store(Arc::new(settings));
        self.0.wake.notify_one();
    }

    /// Where deliveries stand, at each change. A listener that falls behind misses some.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Delivery>> {
        self.0.events.subscribe()
    }
}
