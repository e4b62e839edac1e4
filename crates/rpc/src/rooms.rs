//! The services that calls may use. The binary creates them once.

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

/// Facts about this build.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    pub version: &'static str,
    /// Whether the build includes the vault.
    pub vault: bool,
    /// Whether the build includes voice.
    pub voice: bool,
}

/// All services and their shared parts.
#[derive(Debug)]
pub struct Rooms {
    pub store: Store,
    pub secrets: Secrets,
    pub auth: Auth,
    /// The services for agents, channels, webhooks and providers.
    pub ways: Ways,
    /// The settings in effect.
    pub config: Arc<LiveConfig>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub events: EventBus,
    pub build: Build,
    /// When the server started, in `monotonic_ms` of the clock.
    pub started_at_ms: u64,
}

/// Allows `rooms.agents` and the like.
impl std::ops::Deref for Rooms {
    type Target = Ways;

    fn deref(&self) -> &Ways {
        &self.ways
    }
}

impl Rooms {
    /// Reloads the run-time changes and applies them. Call it after a change on this or another node.
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
