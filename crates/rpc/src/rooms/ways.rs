//! The services for incoming and outgoing traffic: outbound, models, agents with their tools, channels,
//! webhooks and voice.

#[cfg(feature = "voice")]
use crate::live_config::voice::voice_settings;
use crate::live_config::{LiveConfig, rooms as settings};
use gatehouse_agents::{Agents, AgentsError, AgentsParts};
use gatehouse_channels::{Channels, ChannelsParts};
use gatehouse_domain::{Clock, Random};
use gatehouse_models::{Models, ModelsParts};
use gatehouse_outbound::{Outbound, OutboundError};
use gatehouse_secrets::Secrets;
use gatehouse_store::Store;
use gatehouse_tools::{ToolsHandle, ToolsParts};
#[cfg(feature = "voice")]
use gatehouse_voice::{Voice, VoiceParts};
use gatehouse_webhooks::{Webhooks, WebhooksError, WebhooksParts};
use std::sync::Arc;

/// A service could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum WaysError {
    #[error("cannot set up outgoing connections")]
    Outbound(#[from] OutboundError),
    #[error("cannot open the agents")]
    Agents(#[from] AgentsError),
    #[error("cannot open the webhooks")]
    Webhooks(#[from] WebhooksError),
}

/// The opened services.
#[derive(Debug)]
pub struct Ways {
    /// The HTTP clients for outgoing requests.
    pub outbound: Outbound,
    /// The accounts that send messages, and the inbox.
    pub channels: Channels,
    pub models: Models,
    pub agents: Agents,
    /// The built-in tools and those of MCP servers.
    pub tools: ToolsHandle,
    pub webhooks: Webhooks,
    #[cfg(feature = "voice")]
    pub voice: Voice,
}

impl Ways {
    /// Opens the services in order of their dependencies. Starts no tasks.
    pub async fn open(
        config: &LiveConfig,
        store: &Store,
        secrets: &Secrets,
        (clock, random): (&Arc<dyn Clock>, &Arc<dyn Random>),
    ) -> Result<Self, WaysError> {
        let (resolved, layers) = (config.resolved(), config.layers());
        let now = &resolved.settings;
        let outbound = Outbound::new(settings::outbound_settings(now))?;
        let channels = Channels::open(ChannelsParts {
            store: store.clone(),
            secrets: secrets.clone(),
            outbound: outbound.clone(),
            clock: Arc::clone(clock),
            random: Arc::clone(random),
        });
        let parts = ModelsParts {
            secrets: secrets.clone(),
            outbound: outbound.clone(),
            clock: Arc::clone(clock),
            random: Arc::clone(random),
        };
        let models = Models::new(parts, settings::models_settings(&resolved, layers));
        let parts = AgentsParts {
            store: store.clone(),
            models: models.clone(),
            clock: Arc::clone(clock),
            random: Arc::clone(random),
        };
        let agents = Agents::open(parts, settings::agents_settings(now)).await?;
        let parts = ToolsParts {
            secrets: secrets.clone(),
            outbound: outbound.clone(),
        };
        let wanted = settings::tools_settings(&resolved, layers);
        let tools = gatehouse_tools::register(&agents, parts, wanted);
        let parts = WebhooksParts {
            store: store.clone(),
            secrets: secrets.clone(),
            agents: agents.clone(),
            channels: channels.clone(),
            clock: Arc::clone(clock),
            random: Arc::clone(random),
        };
        let webhooks = Webhooks::open(parts, settings::webhooks_settings(&resolved)).await?;
        webhooks.register_tools(agents.tools());
        #[cfg(feature = "voice")]
        let voice = {
            let parts = VoiceParts {
                store: store.clone(),
                secrets: secrets.clone(),
                outbound: outbound.clone(),
                clock: Arc::clone(clock),
                random: Arc::clone(random),
                data_dir: layers.data_dir().to_owned(),
            };
            let voice = Voice::open(parts, voice_settings(&resolved, layers));
            voice.register(&agents);
            voice
        };
        Ok(Self {
            outbound,
            channels,
            models,
            agents,
            tools,
            webhooks,
            #[cfg(feature = "voice")]
            voice,
        })
    }
}
