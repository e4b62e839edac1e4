//! Opens the services.

use super::{Services, ServicesError, ServicesParts};
use crate::audit_export::AuditExport;
use crate::backup::Drills;
use crate::certificates::CertificateState;
use crate::chat_approvals::Presses;
use crate::database_probe::{DatabaseProbe, WriteProbe};
use crate::live_config::settings;
#[cfg(feature = "voice")]
use crate::live_config::voice::voice_settings;
use crate::profile_files::ProfileFilesState;
use crate::push::Push;
use crate::reach::Reach;
use crate::sent_links::SentLinks;
use crate::telemetry::{DatabaseMeasured, Telemetry};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use gatehouse_agents::{Agents, AgentsParts, NewAttachment};
use gatehouse_channels::{Channels, ChannelsParts};
use gatehouse_config::{Resolved, Settings};
use gatehouse_models::{Models, ModelsParts};
use gatehouse_outbound::Outbound;
use gatehouse_tools::{ToolsHandle, ToolsParts};
#[cfg(feature = "voice")]
use gatehouse_voice::{Voice, VoiceParts};
use gatehouse_webhooks::{ReadFile, Webhooks, WebhooksParts};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

impl Services {
    /// Opens the services in order of their dependencies. Starts no tasks.
    pub async fn open(parts: ServicesParts) -> Result<Self, ServicesError> {
        let (resolved, layers) = (parts.config.resolved(), parts.config.layers());
        let now = &resolved.settings;
        let telemetry = open_telemetry(&parts, now);
        let outbound = Outbound::new(settings::outbound_settings(now))?;
        let channels = open_channels(&parts, &outbound, now);
        let models = open_models(&parts, &outbound, &resolved);
        let agents_parts = AgentsParts {
            store: parts.store.clone(),
            models: models.clone(),
            clock: Arc::clone(&parts.clock),
            random: Arc::clone(&parts.random),
            tracer: telemetry.tracer(),
        };
        let agents = Agents::open(agents_parts, settings::agents_settings(now)).await?;
        let tools_parts = ToolsParts {
            secrets: parts.secrets.clone(),
            outbound: outbound.clone(),
            store: parts.store.clone(),
            clock: Arc::clone(&parts.clock),
            random: Arc::clone(&parts.random),
        };
        let tools = settings::tools_settings(&resolved, layers);
        let tools = gatehouse_tools::register(&agents, tools_parts, tools);
        let given = WebhooksParts {
            store: parts.store.clone(),
            secrets: parts.secrets.clone(),
            agents: agents.clone(),
            channels: channels.clone(),
            clock: Arc::clone(&parts.clock),
            random: Arc::clone(&parts.random),
            tracer: telemetry.tracer(),
        };
        let webhooks = Webhooks::open(given, settings::webhooks_settings(&resolved)).await?;
        webhooks.register_tools(agents.tools());
        webhooks.read_files_with(file_reader(&tools));
        let push = Push::open(&parts.store, &*parts.clock, &*parts.random).await?;
        #[cfg(feature = "voice")]
        let voice = open_voice(&parts, outbound.clone(), &telemetry);
        #[cfg(feature = "voice")]
        voice.register(&agents);
        Ok(Self {
            store: parts.store,
            secrets: parts.secrets,
            auth: parts.auth,
            outbound,
            channels,
            models,
            agents,
            tools,
            webhooks,
            #[cfg(feature = "voice")]
            voice,
            certificates: CertificateState::default(),
            profile_files: ProfileFilesState::default(),
            reach: Reach::default(),
            telemetry,
            push,
            config: parts.config,
            clock: parts.clock,
            random: parts.random,
            build: parts.build,
            started_at_ms: parts.started_at_ms,
            presses: Presses::default(),
            sent_links: SentLinks::default(),
            audit_export: AuditExport::default(),
            database: DatabaseProbe::default(),
            write_probe: WriteProbe::default(),
            database_measured: DatabaseMeasured::default(),
            backup_turn: Arc::default(),
            backup_shown: AtomicBool::new(false),
            backup_place_turn: Arc::default(),
            backup_stream: Arc::default(),
            drills: Drills::default(),
            draining: AtomicBool::new(false),
        })
    }
}

fn open_models(parts: &ServicesParts, outbound: &Outbound, resolved: &Resolved) -> Models {
    let layers = parts.config.layers();
    let parts = ModelsParts {
        secrets: parts.secrets.clone(),
        outbound: outbound.clone(),
        clock: Arc::clone(&parts.clock),
        random: Arc::clone(&parts.random),
    };
    Models::new(parts, settings::models_settings(resolved, layers))
}

/// Opens the accounts. Their messages name the host of this server.
fn open_channels(parts: &ServicesParts, outbound: &Outbound, settings: &Settings) -> Channels {
    let channels = Channels::open(ChannelsParts {
        store: parts.store.clone(),
        secrets: parts.secrets.clone(),
        outbound: outbound.clone(),
        clock: Arc::clone(&parts.clock),
        random: Arc::clone(&parts.random),
    });
    channels.set_host(settings::external_host(settings));
    channels
}

fn open_telemetry(parts: &ServicesParts, settings: &Settings) -> Telemetry {
    let endpoint = settings.telemetry.otlp_endpoint.clone();
    Telemetry::new(endpoint, &parts.clock, &parts.random)
}

/// Returns the reader of files in payloads. The names of the files are chosen later.
fn file_reader(tools: &ToolsHandle) -> ReadFile {
    let tools = tools.clone();
    let read = move |data: Bytes| -> BoxFuture<'static, Option<NewAttachment>> {
        let tools = tools.clone();
        Box::pin(async move { tools.read_file(String::new(), data).await.ok() })
    };
    Arc::new(read)
}

#[cfg(feature = "voice")]
fn open_voice(parts: &ServicesParts, outbound: Outbound, telemetry: &Telemetry) -> Voice {
    let (resolved, layers) = (parts.config.resolved(), parts.config.layers());
    let voice = VoiceParts {
        store: parts.store.clone(),
        secrets: parts.secrets.clone(),
        outbound,
        clock: Arc::clone(&parts.clock),
        random: Arc::clone(&parts.random),
        tracer: telemetry.tracer(),
        data_dir: layers.data_dir().to_owned(),
    };
    Voice::open(voice, voice_settings(&resolved, layers))
}
