//! The rooms that calls may use, put together once by the binary.

mod ways;

pub use ways::{Ways, WaysError};

use crate::events::EventBus;
use crate::live_config::LiveConfig;
use crate::live_config::rooms as settings;
#[cfg(feature = "voice")]
use crate::live_config::voice::voice_settings;
use gatehouse_auth::Auth;
use gatehouse_domain::{Clock, Problem, Random};
use gatehouse_secrets::Secrets;
use gatehouse_store::Store;
use std::sync::Arc;

/// What was built.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// Its version.
    pub version: &'static str,
    /// Whether the vault is in it.
    pub vault: bool,
    /// Whether voice is in it.
    pub voice: bool,
}

/// The rooms, and what they share.
#[derive(Debug)]
pub struct Rooms {
    /// The database.
    pub store: Store,
    /// Secrets and their vault.
    pub secrets: Secrets,
    /// Who may come in.
    pub auth: Auth,
    /// The rooms on the ways in and out.
    pub ways: Ways,
    /// The settings in force.
    pub config: Arc<LiveConfig>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub random: Arc<dyn Random>,
    /// What is told to everybody.
    pub events: EventBus,
    /// What was built.
    pub build: Build,
    /// When the server started, by the clock's `monotonic_ms`.
    pub started_at_ms: u64,
}

/// `rooms.agents` and the like.
impl std::ops::Deref for Rooms {
    type Target = Ways;

    fn deref(&self) -> &Ways {
        &self.ways
    }
}

impl Rooms {
    /// Reads the run-time changes again and puts them in force: after one was stored here, or by
    /// another node.
    pub async fn apply_settings(&self) -> Result<(), Problem> {
        self.config
            .apply(&self.store, &self.auth, &self.secrets)
            .await?;
        let (resolved, layers) = (self.config.resolved(), self.config.layers());
        let now = &resolved.settings;
        self.outbound
            .update_settings(settings::outbound_settings(now));
        self.models
            .update_settings(settings::models_settings(&resolved, layers));
        self.agents.update_settings(settings::agents_settings(now));
        self.tools
            .update_settings(settings::tools_settings(&resolved, layers));
        self.webhooks
            .update_settings(settings::webhooks_settings(&resolved));
        #[cfg(feature = "voice")]
        self.voice
            .update_settings(voice_settings(&resolved, layers));
        self.config.tell_applied();
        Ok(())
    }
}
