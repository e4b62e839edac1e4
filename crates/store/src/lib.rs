//! The database, and the only crate with SQL. One type and one set of statements cover SQLite and PostgreSQL;
//! `dialect.rs` contains the differences. Each table or group of tables has a module with its row type and
//! its statements, which are methods of [`Conn`].
//!
//! Callers read with [`Store::read`] and write with [`Store::write`]. The closure passed to `write` is one
//! transaction. The writers of a process commit transactions in groups.

mod agents;
mod allowed_calls;
mod api_keys;
mod approval_links;
mod audit_intents;
mod audit_log;
mod auth_sessions;
mod budgets;
mod challenges;
mod changes;
mod channel_accounts;
mod channel_pairings;
mod channel_parts;
mod channel_polls;
mod chat_messages;
mod chat_sessions;
mod chat_shares;
mod chat_turns;
mod compatibility;
mod conn;
mod copy;
mod credential_limits;
mod database_clock;
mod deliveries;
mod delivery_answers;
mod delivery_attempts;
mod delivery_claim;
mod delivery_configs;
mod delivery_control;
mod delivery_counts;
mod delivery_durations;
mod delivery_keys;
mod delivery_leases;
mod delivery_lines;
mod delivery_list;
mod delivery_pace;
mod delivery_queue;
mod delivery_replays;
mod delivery_retention;
mod delivery_search;
mod delivery_unreadable;
mod delivery_waits;
mod delivery_walk;
mod devices;
mod dialect;
mod duties;
mod env_variables;
mod error;
pub mod fault;
mod file_owner;
mod free_pages;
mod guard;
mod held_deliveries;
mod inbox;
mod letter_case;
mod location;
mod mcp_authorizations;
mod mcp_tools;
mod migrate;
mod migrate_progress;
mod migrations;
mod node_lock;
mod node_messages;
mod open;
mod open_file;
mod passkeys;
mod password;
mod pieces;
mod pipeline;
#[cfg(test)]
mod plan;
mod postgres;
mod postgres_answers;
mod postgres_link;
mod postgres_silence;
mod postgres_tls;
mod postgres_watch;
mod preferences;
mod protected;
mod provider_keys;
mod push_subscriptions;
mod rate_leases;
mod rate_permits;
mod reach_questions;
mod readers;
mod received_messages;
mod secret_uses;
mod session_attachments;
mod session_audio;
mod settings;
mod setup_code;
mod shared_counts;
mod sql;
mod sqlite;
mod ssh_keys;
mod status_conditions;
mod stored_bytes;
mod superseded;
mod sweep_clock;
mod take;
#[cfg(feature = "testing")]
#[expect(
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test cannot continue without its database"
)]
pub mod testing;
mod tls_certificates;
mod transaction;
mod usage_days;
mod vault_record;
mod vault_shares;
mod voice_personas;
mod waiting_approvals;
mod webhook_notices;
mod webhook_schedules;
mod webhooks;
mod write_group;
mod write_health;
mod write_job;
mod writer;

pub use agents::AgentRow;
pub use allowed_calls::{AllowedCall, AllowedCallRow, AllowedScope};
pub use api_keys::ApiKeyRow;
pub use approval_links::ApprovalLinkRow;
pub use audit_intents::{AuditIntent, AuditIntentRow};
pub use audit_log::{AUDIT_GREW, AuditAnchor, AuditEntry, AuditPage, AuditRow};
pub use auth_sessions::AuthSessionRow;
pub use budgets::BudgetRow;
pub use challenges::ChallengeRow;
pub use changes::{ChangeRow, NewChanges};
pub use channel_accounts::{ChannelAccountRow, ChannelSecretRow};
pub use channel_pairings::ChannelPairingRow;
pub use channel_polls::ChannelPollRow;
pub use chat_messages::ChatMessageRow;
pub use chat_sessions::{ChatSessionPage, ChatSessionRow, TaggedChatSessions};
pub use chat_shares::ChatShareRow;
pub use chat_turns::ChatTurnRow;
pub use compatibility::SCHEMA_CHANGED;
pub use conn::Conn;
pub use copy::{
    Cell, ColumnKind, Import, ImportError, MoveStep, MovedTable, Page, Snapshot, Table,
    TableColumn, move_rows,
};
pub use credential_limits::{CreatedCredentialRow, MakerRow};
pub use deliveries::{DeliveryRow, NewDelivery, PREVIEW_BYTES};
pub use delivery_answers::DeliveryAnswer;
pub use delivery_attempts::{DeliveryAttempt, DeliveryResponse};
pub use delivery_claim::{ClaimRequest, Claims, DeliveryWork, Take};
pub use delivery_configs::DeliveryConfig;
pub use delivery_control::CANCELLED;
pub use delivery_counts::{COUNTED_DAYS, DeliveryCount, OpenCount, WebhookDay};
pub use delivery_durations::{DURATION_BUCKETS, Durations};
pub use delivery_keys::{KeyHolder, RepeatRow};
pub use delivery_leases::LeaseRow;
pub use delivery_lines::{DeliveryLine, UntargetedDelivery};
pub use delivery_list::{DeliveryFilter, DeliveryMoment};
pub use delivery_pace::{Pace, WAITS_FOR_RATE};
pub use delivery_queue::{
    DeliveryEnd, DeliveryFinish, DeliveryRequeue, WAITS_FOR_RELEASE, WAITS_FOR_VAULT,
};
pub use delivery_replays::{ReplayFilter, ReplayableDelivery};
pub use delivery_retention::{OldDelivery, RefusedGroup};
pub use delivery_waits::{RELEASED_AT_ONCE, WAITS_FOR_BUDGET};
pub use delivery_walk::DeliveryPage;
pub use devices::DeviceRow;
pub use dialect::Engine;
pub use duties::Duty;
pub use env_variables::EnvVariableRow;
pub use error::{OpenError, StoreError};
pub use file_owner::FileOwner;
pub use guard::{Guard, Guarded, inherit, intending, unguarded};
pub use held_deliveries::{HeldDelivery, HoldLimit};
pub use inbox::{INBOX_MAX_BYTES, InboxCounts, InboxMessagePage, InboxMessageRow};
pub use letter_case::lower_case;
pub use location::Location;
pub use mcp_authorizations::McpAuthorizationRow;
pub use mcp_tools::McpToolRow;
pub use migrate::migration_versions;
pub use node_lock::NodeLock;
pub use node_messages::NodeMessage;
pub use passkeys::PasskeyRow;
pub use preferences::PreferenceRow;
pub use protected::{ProtectedRow, SecretTable};
pub use provider_keys::ProviderKeyRow;
pub use push_subscriptions::{LivePushSubscription, PushSubscriptionRow};
pub use rate_leases::{RateKey, RateLeases, RatePermit, RateRefused};
pub use rate_permits::{RateLease, RateRequest};
pub use received_messages::ReceivedMessageRow;
pub use secret_uses::SecretUseRow;
pub use session_attachments::{AttachmentContent, SessionAttachmentRow};
pub use session_audio::SessionAudioRow;
pub use setup_code::SetupCodeRow;
pub use shared_counts::{Permits, Purpose, SharedCounts};
pub use ssh_keys::SshKeyRow;
pub use sweep_clock::SweepClock;
pub use tls_certificates::{FailedOrder, TlsAccountRow, TlsCertificateKey, TlsCertificateRow};
pub use usage_days::{Spent, UsageColumn, UsageRow, UsageSum};
pub use vault_record::VaultRow;
pub use vault_shares::VaultShareRow;
pub use voice_personas::VoicePersonaRow;
pub use waiting_approvals::WaitingApprovalRow;
pub use webhook_notices::WebhookNoticeRow;
pub use webhook_schedules::ScheduleRow;
pub use webhooks::{WebhookRow, WebhookSecretRow};

use compatibility::Outdated;
use database_clock::DatabaseClock;
use dialect::Lane;
use futures_util::future::BoxFuture;
use open_file::OpenFile;
use readers::Readers;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use writer::Writers;

/// An open database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    engine: Engine,
    readers: Readers,
    writers: Writers,
    outdated: Outdated,
    database_clock: Arc<DatabaseClock>,
    /// `None` for PostgreSQL.
    file: Option<Arc<OpenFile>>,
    changed: broadcast::Sender<Arc<str>>,
    /// Counts notifications from a database that other processes may write to.
    heard: watch::Receiver<u64>,
    to_nodes: mpsc::Sender<String>,
    from_nodes: broadcast::Sender<NodeMessage>,
    /// Stops the task that listens for notifications.
    stop: CancellationToken,
    listener: TaskTracker,
}

/// Changes buffered for each subscriber.
const CHANGES: usize = 256;
/// The maximum number of attempts of [`Store::checkpoint`] while readers need the log, and the pause between them.
const CHECKPOINT_TRIES: u32 = 20;
const CHECKPOINT_PAUSE: Duration = Duration::from_millis(50);
/// Messages between nodes buffered in each direction.
const MESSAGES: usize = 256;

impl Store {
    /// Returns the engine, for display and metrics. SQL must not depend on it.
    pub const fn engine(&self) -> Engine {
        self.engine
    }

    /// Returns the subjects that this process changes, each sent after the commit. A receiver that lags must assume
    /// that everything changed.
    pub fn changes(&self) -> broadcast::Receiver<Arc<str>> {
        self.changed.subscribe()
    }

    /// Returns a counter that grows soon after any node records a change in the database or calls
    /// [`Conn::notify_nodes`]. Notifications can be lost, so callers must also poll. With SQLite, the counter never
    /// grows.
    pub fn notified(&self) -> watch::Receiver<u64> {
        self.heard.clone()
    }

    /// Sends a message to the other nodes that are currently connected. An empty message arrives as
    /// [`NodeMessage::Missed`]. Returns `false` if too many messages wait to be sent, and on SQLite, which has one
    /// node.
    pub fn send_to_nodes(&self, message: String) -> bool {
        self.to_nodes.try_send(message).is_ok()
    }

    /// Returns messages of other nodes from now on. A receiver that lags loses the oldest messages.
    pub fn node_messages(&self) -> broadcast::Receiver<NodeMessage> {
        self.from_nodes.subscribe()
    }

    /// Returns a handle with a reserved connection. Its reads do not wait for reads of other handles. Used where
    /// lists and searches must not delay a read: in the gate and in the worker.
    #[must_use]
    pub fn with_reserved_reader(&self) -> Self {
        Self {
            readers: self.readers.with_reserved(),
            ..self.clone()
        }
    }

    /// Runs a read. The statements of the closure do not share a snapshot.
    pub async fn read<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        self.readers.read(job).await
    }

    /// Runs the closure as one transaction. `Ok` means that the transaction is committed and durable. `Err` means
    /// that nothing was written, except for [`StoreError::OutcomeUnknown`].
    ///
    /// The transaction completes even if the caller drops the future. The [`Guard`] of the calling task is checked
    /// first, in the same transaction.
    pub async fn write<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        self.writers.lane(Lane::Rules).submit(job).await
    }

    /// Like [`Store::write`], for claiming, completing and deleting deliveries. Excludes only other writes with
    /// this method.
    pub async fn write_queue<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        self.writers.lane(Lane::Queue).submit(job).await
    }

    /// Like [`Store::write`], for new deliveries. Excludes no other write, so data that the closure reads may
    /// change before it writes. Conflicts are detected only by unique keys.
    pub async fn write_arrivals<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        self.writers.lane(Lane::Arrivals).submit(job).await
    }

    /// Like [`Store::write`], for [`Conn::lease_rate`]. Excludes only other writes with this method.
    pub async fn write_limits<T, E, F>(&self, job: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    {
        self.writers.lane(Lane::Limits).submit(job).await
    }

    /// Checks the [`Guard`] of the calling task against the current state of the database. Call it before a
    /// change that is not made in the database.
    pub async fn check_guard(&self) -> Result<(), StoreError> {
        let Some(guard) = Guard::current() else {
            return Ok(());
        };
        self.read(move |conn| Box::pin(async move { guard.check(conn).await }))
            .await
    }

    /// Copies the write-ahead log into the database and truncates it, so that the log contains no old
    /// plaintext. Fails with [`StoreError::Unavailable`] if a reader, such as a backup, needs the log for longer than
    /// about 2 seconds. Does nothing on PostgreSQL.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        let mut tries = 0;
        loop {
            match self.writers.lane(Lane::Rules).checkpoint().await {
                Err(StoreError::Unavailable(_)) if tries < CHECKPOINT_TRIES => tries += 1,
                ended => return ended,
            }
            tokio::time::sleep(CHECKPOINT_PAUSE).await;
        }
    }

    /// Returns how long a writer has been working on its current group of writes; zero if all are idle.
    pub fn busy_for(&self) -> Duration {
        self.writers.busy_for()
    }

    /// Returns how many writes wait for the writer with the longest queue, at most 1,024. Does not count the writes
    /// of the current group.
    pub fn waiting_writes(&self) -> usize {
        self.writers.waiting()
    }

    /// Returns whether the database responds.
    pub async fn ping(&self) -> Result<(), StoreError> {
        // The check must not wait for long list queries.
        let readers = self.readers.with_reserved();
        readers
            .read(|conn| Box::pin(async move { conn.ping().await }))
            .await
    }

    /// Completes queued writes, truncates the write-ahead log and closes the database. Later calls fail.
    pub async fn close(&self) {
        if let Err(error) = self.checkpoint().await {
            tracing::warn!(%error, "the write-ahead log was not emptied at close");
        }
        self.stop.cancel();
        self.listener.close();
        self.listener.wait().await;
        self.writers.stop().await;
        if let Some(file) = &self.file {
            file.close();
        }
        self.readers.close().await;
    }
}
