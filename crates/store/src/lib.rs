//! The only room with SQL. SQLite and PostgreSQL stand behind one concrete type and one SQL text;
//! what must differ is in `dialect.rs`. Each aggregate has a file of its own with its row type and
//! its statements, as methods of [`Conn`].
//!
//! A caller reads with [`Store::read`] and writes with [`Store::write`]; the closure given to
//! `write` is one transaction, and all writes of a process go through one writer that commits them
//! in groups.

mod agents;
mod api_keys;
mod audit_log;
mod auth_sessions;
mod challenges;
mod changes;
mod channel_accounts;
mod channel_parts;
mod chat_messages;
mod chat_sessions;
mod chat_shares;
mod conn;
mod credential_limits;
mod deliveries;
mod delivery_claim;
mod delivery_configs;
mod delivery_control;
mod delivery_keys;
mod delivery_leases;
mod delivery_lines;
mod delivery_list;
mod delivery_pace;
mod delivery_queue;
mod delivery_replays;
mod delivery_retention;
mod delivery_waits;
mod devices;
mod dialect;
mod env_variables;
mod error;
pub mod fault;
mod guard;
mod inbox;
mod migrate;
mod open;
mod passkeys;
mod password;
mod postgres;
mod postgres_tls;
mod protected;
mod readers;
mod session_audio;
mod settings;
mod setup_code;
mod sql;
mod sqlite;
mod ssh_keys;
mod sweep_clock;
#[cfg(feature = "testing")]
#[expect(
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test without its database cannot go on"
)]
pub mod testing;
mod vault_record;
mod voice_personas;
mod webhooks;
mod write_group;
mod writer;

pub use agents::AgentRow;
pub use api_keys::ApiKeyRow;
pub use audit_log::{AuditAnchor, AuditEntry, AuditPage, AuditRow};
pub use auth_sessions::AuthSessionRow;
pub use challenges::ChallengeRow;
pub use changes::ChangeRow;
pub use channel_accounts::{ChannelAccountRow, ChannelSecretRow};
pub use chat_messages::ChatMessageRow;
pub use chat_sessions::{ChatSessionPage, ChatSessionRow};
pub use chat_shares::ChatShareRow;
pub use conn::Conn;
pub use credential_limits::MadeRow;
pub use deliveries::{DeliveryRow, NewDelivery};
pub use delivery_claim::{ClaimRequest, Claims, DeliveryWork, Take};
pub use delivery_control::CANCELLED;
pub use delivery_keys::{KeyHolder, RepeatRow};
pub use delivery_leases::LeaseRow;
pub use delivery_lines::{DeliveryLine, UntargetedDelivery};
pub use delivery_list::{DeliveryCount, DeliveryFilter, DeliveryMoment, DeliveryPage};
pub use delivery_pace::{Pace, WAITS_FOR_RATE};
pub use delivery_queue::{DeliveryFinish, DeliveryRequeue, WAITS_FOR_VAULT};
pub use delivery_replays::{ReplayFilter, ReplayableDelivery};
pub use delivery_retention::{OldDelivery, RefusedPile};
pub use devices::DeviceRow;
pub use dialect::Engine;
pub use env_variables::EnvVariableRow;
pub use error::{OpenError, StoreError};
pub use guard::{Guard, Guarded, inherit, unguarded};
pub use inbox::{INBOX_MAX_BYTES, InboxMessageRow};
pub use migrate::migration_versions;
pub use open::Location;
pub use passkeys::PasskeyRow;
pub use protected::{ProtectedRow, SecretTable};
pub use session_audio::SessionAudioRow;
pub use setup_code::SetupCodeRow;
pub use ssh_keys::SshKeyRow;
pub use sweep_clock::SweepClock;
pub use vault_record::VaultRow;
pub use voice_personas::VoicePersonaRow;
pub use webhooks::{WebhookRow, WebhookSecretRow};

use dialect::Lane;
use futures_util::future::BoxFuture;
use readers::Readers;
use std::sync::Arc;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use writer::Writers;

/// The database, open.
#[derive(Clone, Debug)]
pub struct Store {
    engine: Engine,
    readers: Readers,
    writers: Writers,
    changed: broadcast::Sender<Arc<str>>,
    /// Counts notifications of a database that other processes may write.
    heard: watch::Receiver<u64>,
    /// Ends the task that listens for them.
    stop: CancellationToken,
    listener: TaskTracker,
}

/// How many changes a listener may be behind.
const CHANGES: usize = 256;

impl Store {
    /// Which engine it is, for display and metrics; SQL never asks.
    pub const fn engine(&self) -> Engine {
        self.engine
    }

    /// What this process noted as changed, after its commit. A listener that lags should take that for
    /// everything.
    pub fn changes(&self) -> broadcast::Receiver<Arc<str>> {
        self.changed.subscribe()
    }

    /// A counter that grows soon after a change is noted in the database, or after [`Conn::notify_nodes`], on this
    /// node or another. A notification may be lost, so read in intervals as well. With SQLite it never grows.
    pub fn notified(&self) -> watch::Receiver<u64> {
        self.heard.clone()
    }

    /// Reads. What the closure reads in several statements is not one snapshot.
    pub async fn read<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        self.readers.read(job).await
    }

    /// Writes: the closure is one transaction. `Ok` means committed and on disk; `Err`, whether the
    /// closure's own or the commit's, means that nothing of it is there.
    ///
    /// The transaction runs to its end even if the caller goes away meanwhile. The [`Guard`] of the
    /// calling task is checked first, in the same transaction.
    pub async fn write<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        self.writers.lane(Lane::Rules).submit(job).await
    }

    /// As [`Store::write`], for claims and ends of deliveries: excludes other such writes only.
    pub async fn write_queue<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        self.writers.lane(Lane::Queue).submit(job).await
    }

    /// As [`Store::write`], for new deliveries: excludes no other write, so that what the closure reads may
    /// change before it writes. Only unique keys decide.
    pub async fn write_arrivals<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        self.writers.lane(Lane::Arrivals).submit(job).await
    }

    /// Checks the [`Guard`] of the calling task against the database as it is now: before a change that
    /// is not made in the database.
    pub async fn check_guard(&self) -> Result<(), StoreError> {
        let Some(guard) = Guard::current() else {
            return Ok(());
        };
        self.read(move |conn| Box::pin(async move { guard.check(conn).await }))
            .await
    }

    /// Moves what the write-ahead log holds into the database and empties the log, so that no old
    /// plaintext stays in it. Nothing to do on PostgreSQL.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        self.writers.lane(Lane::Rules).checkpoint().await
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.read(|conn| Box::pin(async move { conn.ping().await }))
            .await
    }

    /// Lets queued writes finish, empties the log and closes. Later calls fail.
    pub async fn close(&self) {
        if let Err(error) = self.checkpoint().await {
            tracing::warn!(%error, "the write-ahead log was not emptied at close");
        }
        self.stop.cancel();
        self.listener.close();
        self.listener.wait().await;
        self.writers.stop().await;
        self.readers.close().await;
    }
}
