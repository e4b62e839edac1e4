//! Opens the services in order of their dependencies, and applies changed settings to them.

mod open;

use crate::audit_export::AuditExport;
use crate::backup::Drills;
use crate::certificates::CertificateState;
use crate::chat_approvals::Presses;
use crate::database_probe::{DatabaseProbe, WriteProbe};
use crate::live_config::LiveConfig;
use crate::live_config::settings;
#[cfg(feature = "voice")]
use crate::live_config::voice::voice_settings;
use crate::profile_files::ProfileFilesState;
use crate::push::Push;
use crate::reach::Reach;
use crate::sent_links::SentLinks;
use crate::telemetry::{DatabaseMeasured, Telemetry};
use gatehouse_agents::{Agents, AgentsError};
use gatehouse_auth::Auth;
use gatehouse_channels::Channels;
use gatehouse_config::Resolved;
use gatehouse_domain::{Clock, Problem, Random};
use gatehouse_models::Models;
use gatehouse_outbound::{Outbound, OutboundError};
use gatehouse_secrets::Secrets;
use gatehouse_store::{Store, StoreError};
use gatehouse_tools::ToolsHandle;
#[cfg(feature = "voice")]
use gatehouse_voice::Voice;
use gatehouse_webhooks::{Webhooks, WebhooksError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a writer may work on one group of writes before the process counts as stuck.
pub const WRITER_LIMIT: Duration = Duration::from_secs(30);

/// Facts about this build.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    pub version: &'static str,
    /// Whether the build includes the vault.
    pub vault: bool,
    /// Whether the build includes voice.
    pub voice: bool,
}

/// A service could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ServicesError {
    #[error("cannot read the key for push services")]
    Push(#[from] StoreError),
    #[error("cannot set up outgoing connections")]
    Outbound(#[from] OutboundError),
    #[error("cannot open the agents")]
    Agents(#[from] AgentsError),
    #[error("cannot open the webhooks")]
    Webhooks(#[from] WebhooksError),
}

/// The dependencies of [`Services::open`].
#[derive(Debug)]
pub struct ServicesParts {
    pub store: Store,
    pub secrets: Secrets,
    pub auth: Auth,
    pub config: Arc<LiveConfig>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub build: Build,
    /// When the server started, in `monotonic_ms` of the clock.
    pub started_at_ms: u64,
}

/// The services available to handlers and calls. The binary opens them once.
#[derive(Debug)]
pub struct Services {
    pub store: Store,
    pub secrets: Secrets,
    pub auth: Auth,
    /// The HTTP clients for outgoing requests.
    pub outbound: Outbound,
    /// The accounts that send messages, and the inbox.
    pub channels: Channels,
    pub models: Models,
    pub agents: Agents,
    /// The built-in tools and the tools of MCP servers.
    pub tools: ToolsHandle,
    pub webhooks: Webhooks,
    #[cfg(feature = "voice")]
    pub voice: Voice,
    pub certificates: CertificateState,
    pub profile_files: ProfileFilesState,
    /// The test of the public URL.
    pub reach: Reach,
    pub telemetry: Telemetry,
    /// Notifications through push services.
    pub push: Push,
    /// The settings in effect.
    pub config: Arc<LiveConfig>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub build: Build,
    /// When the server started, in `monotonic_ms` of the clock.
    pub started_at_ms: u64,
    /// The state of button presses in chats.
    pub(crate) presses: Presses,
    /// The links that were sent for calls that wait for approval.
    pub(crate) sent_links: SentLinks,
    /// Copies of the audit log.
    pub(crate) audit_export: AuditExport,
    /// Whether the database responds.
    pub(crate) database: DatabaseProbe,
    /// Whether the database accepts writes again.
    pub(crate) write_probe: WriteProbe,
    /// When the metrics of the database were last measured.
    pub(crate) database_measured: DatabaseMeasured,
    /// Locked while a backup is created.
    pub(crate) backup_turn: Arc<tokio::sync::Mutex<()>>,
    /// Whether the metrics contain the time of a scheduled backup.
    pub(crate) backup_shown: AtomicBool,
    /// Locked while the directory for backups is examined.
    pub(crate) backup_place_turn: Arc<tokio::sync::Mutex<()>>,
    /// Locked while a backup is sent to a client.
    pub(crate) backup_stream: Arc<tokio::sync::Mutex<()>>,
    /// The trial restores of this process.
    pub(crate) drills: Drills,
    /// Whether the server has received the signal to stop.
    draining: AtomicBool,
}

impl Services {
    /// Returns whether the process works. It does not if a write has been running for too long; the process must
    /// then be restarted.
    pub fn is_live(&self) -> bool {
        self.store.busy_for() <= WRITER_LIMIT
    }

    /// From now on, reports that requests should go to another node.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Reloads the run-time changes and applies them. Call it after a change on this or another node.
    pub async fn apply_settings(&self) -> Result<(), Problem> {
        let (store, auth, secrets) = (&self.store, &self.auth, &self.secrets);
        let to_others = |resolved: &Resolved| self.update_settings(resolved);
        self.config.apply(store, auth, secrets, to_others).await
    }

    fn update_settings(&self, resolved: &Resolved) {
        let (now, layers) = (&resolved.settings, self.config.layers());
        self.outbound
            .update_settings(settings::outbound_settings(now));
        self.channels.set_host(settings::external_host(now));
        self.models
            .update_settings(settings::models_settings(resolved, layers));
        self.agents.update_settings(settings::agents_settings(now));
        self.tools
            .update_settings(settings::tools_settings(resolved, layers));
        self.webhooks
            .update_settings(settings::webhooks_settings(resolved));
        #[cfg(feature = "voice")]
        self.voice.update_settings(voice_settings(resolved, layers));
    }
}
