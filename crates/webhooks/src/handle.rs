//! The crate's handle: its dependencies, its settings, and its creation. Other modules implement the operations on
//! the same type.

mod running;
mod settings;

use crate::changes::Changes;
use crate::delivery_ids::DeliveryIds;
use crate::error::WebhooksError;
use crate::forward::kept::Originals;
use crate::health::verdicts::Verdicts;
use crate::ingest::batch::Batches;
use crate::ingest::guesses::Guesses;
use crate::ingest::refusals::Refusals;
use crate::limits::Limits;
use crate::live::LiveWebhooks;
use crate::open_counts::OpenCounts;
use crate::run::ReadFile;
use crate::schedule::ScheduleTurns;
use crate::shared_limits::SharedLimits;
use crate::snapshots::Snapshots;
use crate::worker::blocked::{BlockedLines, WorkerSignal};
use crate::worker::circuit::Circuits;
use arc_swap::ArcSwap;
use data_encoding::HEXLOWER;
use gatehouse_agents::Agents;
use gatehouse_channels::Channels;
use gatehouse_domain::trace::Tracer;
use gatehouse_domain::{Clock, DeliveryId, Random, Timestamp};
use gatehouse_secrets::Secrets;
use gatehouse_store::{DeliveryRow, Store, StoreError, SweepClock};
use running::{Cancels, Running};
pub use settings::{WebhooksParts, WebhooksSettings};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The shared state behind [`Webhooks`].
pub(crate) struct Inner {
    pub(crate) store: Store,
    /// The same database with a reserved connection, for the worker.
    pub(crate) queue: Store,
    pub(crate) secrets: Secrets,
    pub(crate) agents: Agents,
    /// Reads files in payloads.
    pub(crate) read_file: OnceLock<ReadFile>,
    pub(crate) channels: Channels,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) tracer: Tracer,
    pub(crate) settings: ArcSwap<WebhooksSettings>,
    /// The in-memory copy of all webhooks.
    pub(crate) live: LiveWebhooks,
    /// Publishes every change of a delivery's status.
    pub(crate) changes: Arc<Changes>,
    /// Notified when the worker may have work to do.
    pub(crate) wake: Arc<Notify>,
    /// The lines that the worker currently cannot serve.
    pub(crate) blocked: Arc<BlockedLines>,
    /// Notified when a delivery was held but the vault may have been unsealed in the meantime.
    pub(crate) held: Notify,
    /// Random ID of this process, recorded in its leases.
    pub(crate) node: String,
    /// Notified when the next run of a schedule may have changed.
    pub(crate) schedules_changed: Arc<Notify>,
    /// The checks of the schedules for due runs.
    pub(crate) schedule_turns: tokio::sync::watch::Sender<ScheduleTurns>,
    /// How many passes the worker has completed.
    pub(crate) turns: tokio::sync::watch::Sender<u64>,
    pub(crate) cancels: Cancels,
    /// Circuit breakers of the channel accounts.
    pub(crate) circuits: Mutex<Circuits>,
    /// Cached results: whether the sender of a silent webhook was regular.
    pub(crate) verdicts: Verdicts,
    /// Parsed configuration snapshots of deliveries.
    pub(crate) snapshots: Snapshots,
    pub(crate) limits: Arc<Limits>,
    /// Set if other nodes may share the database.
    pub(crate) shared_limits: Option<Arc<SharedLimits>>,
    pub(crate) batches: Batches,
    pub(crate) refusals: Refusals,
    pub(crate) guesses: Guesses,
    /// Requests of the webhooks that clients forward.
    pub(crate) originals: Originals,
    pub(crate) delivery_ids: DeliveryIds,
    pub(crate) open_counts: OpenCounts,
    /// The clock that sweeps use.
    pub(crate) sweep_clock: SweepClock,
    /// Tasks that must run to completion even if the caller disconnects.
    pub(crate) tasks: TaskTracker,
    /// Locked during a change of a webhook and the following update of memory.
    pub(crate) changing: tokio::sync::Mutex<()>,
    /// Locked while deliveries of deleted webhooks are removed.
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

    /// Generates a delivery ID that sorts after all previous IDs.
    pub(crate) fn new_delivery_id(&self) -> DeliveryId {
        self.delivery_ids.next(&*self.clock, &*self.random)
    }

    /// Reads the last ID in the database, so that new IDs sort after it even if the clock was set back.
    async fn remember_last_id(&self) -> Result<(), StoreError> {
        let last = self
            .store
            .read(|conn| Box::pin(async move { conn.find_last_delivery_id().await }));
        if let Some(last) = last.await? {
            self.delivery_ids.go_on_after(&last);
        }
        Ok(())
    }

    /// Returns the time that decides which rows have expired.
    pub(crate) async fn sweep_now(&self) -> Result<Timestamp, StoreError> {
        self.sweep_clock.now(&self.store, &*self.clock).await
    }

    /// Publishes the current state of a delivery to subscribers.
    pub(crate) fn publish(&self, row: &DeliveryRow) {
        self.changes.publish_row(row);
    }

    /// Registers a run for cancellation until the returned guard is dropped.
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

/// Handle to the webhooks subsystem. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Webhooks(pub(crate) Arc<Inner>);

impl Webhooks {
    /// Loads every webhook into memory. Processing starts with [`Webhooks::background`].
    pub async fn open(
        parts: WebhooksParts,
        settings: WebhooksSettings,
    ) -> Result<Self, WebhooksError> {
        let changes = Arc::<Changes>::default();
        let worker = WorkerSignal::default();
        let tasks = TaskTracker::new();
        let limits = Arc::new(Limits::new(Arc::clone(&parts.clock)));
        let shared_limits = parts.store.engine().is_shared().then(|| {
            let (store, clock) = (parts.store.clone(), Arc::clone(&parts.clock));
            Arc::new(SharedLimits::new(store, clock, tasks.clone()))
        });
        let batches = Batches::start(&parts.store, &changes, &worker, &tasks);
        let inner = Inner {
            delivery_ids: DeliveryIds::default(),
            open_counts: OpenCounts::default(),
            sweep_clock: SweepClock::default(),
            refusals: Refusals::new(Arc::clone(&parts.clock)),
            guesses: Guesses::new(Arc::clone(&parts.clock)).shared(&parts.store, &tasks),
            originals: Originals::default(),
            node: HEXLOWER.encode(&parts.random.bytes::<16>()),
            turns: tokio::sync::watch::Sender::new(0),
            schedules_changed: Arc::default(),
            schedule_turns: tokio::sync::watch::Sender::default(),
            queue: parts.store.with_reserved_reader(),
            store: parts.store,
            secrets: parts.secrets,
            agents: parts.agents,
            read_file: OnceLock::new(),
            channels: parts.channels,
            clock: parts.clock,
            random: parts.random,
            tracer: parts.tracer,
            settings: ArcSwap::from_pointee(settings),
            live: LiveWebhooks::default(),
            changes,
            wake: worker.wake,
            blocked: worker.blocked,
            held: Notify::new(),
            cancels: Cancels::default(),
            circuits: Mutex::default(),
            verdicts: Verdicts::default(),
            snapshots: Snapshots::default(),
            limits,
            shared_limits,
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

    pub fn update_settings(&self, settings: WebhooksSettings) {
        self.0.settings.store(Arc::new(settings));
        self.0.wake.notify_one();
    }
}
