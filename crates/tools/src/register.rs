//! Registers the tools with the agents and applies settings changes.

use crate::calc::Calc;
use crate::fetch::WebFetch;
use crate::files::{FileError, FileReader};
use crate::mcp::Mcp;
use crate::pdf::PdfReader;
use crate::search::{WebSearch, bind_key, service_of_variable};
use crate::secrets::RequestSecrets;
use arc_swap::ArcSwap;
use bytes::Bytes;
use gatehouse_agents::{Agents, NewAttachment};
use gatehouse_config as config;
use gatehouse_domain::{Clock, KeyBinding, Random};
use gatehouse_outbound::Outbound;
use gatehouse_secrets::Secrets;
use gatehouse_store::Store;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The dependencies of the tools.
#[derive(Debug)]
pub struct ToolsParts {
    /// Reads the vault's environment variables.
    pub secrets: Secrets,
    pub outbound: Outbound,
    /// Stores the approved forms of MCP tools.
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

/// The settings of the tools.
#[derive(Debug, Default)]
pub struct ToolsSettings {
    /// `[tools.web_search]`
    pub web_search: config::WebSearch,
    /// `tools.secrets`
    pub secrets: Vec<config::ToolSecret>,
    /// `[mcp.servers.<name>]`
    pub mcp_servers: BTreeMap<String, config::McpServer>,
    /// The variables that programs inherit from this process: `PATH`, `HOME`, `LANG`, `TZ`.
    pub child_variables: Vec<(String, OsString)>,
}

/// The handle of the registered tools.
#[derive(Clone)]
pub struct ToolsHandle {
    search: Arc<ArcSwap<config::WebSearch>>,
    request_secrets: RequestSecrets,
    mcp: Mcp,
    files: Arc<FileReader>,
}

/// Registers the built-in tools. [`ToolsHandle::background`] starts the MCP servers.
pub fn register(agents: &Agents, parts: ToolsParts, settings: ToolsSettings) -> ToolsHandle {
    let search = Arc::new(ArcSwap::from_pointee(settings.web_search));
    let registry = agents.tools();
    registry.register(Arc::new(Calc::new()));
    let pdf = Arc::new(PdfReader::new());
    let files = Arc::new(FileReader::new(Arc::clone(&pdf)));
    let request_secrets = RequestSecrets::new(parts.secrets.clone(), settings.secrets);
    let web_fetch = WebFetch::new(
        parts.outbound.clone(),
        pdf,
        Arc::clone(&files),
        request_secrets.clone(),
    );
    registry.register(Arc::new(web_fetch));
    registry.register(Arc::new(WebSearch::new(
        parts.outbound.clone(),
        parts.secrets.clone(),
        Arc::clone(&search),
    )));
    let agents = agents.clone();
    let publish = move |group: &str, tools| agents.tools().replace_group(group, tools);
    let mcp = Mcp::new(
        parts,
        (Arc::new(publish), Arc::clone(&files)),
        request_secrets.clone(),
        settings.mcp_servers,
        settings.child_variables,
    );
    ToolsHandle {
        search,
        request_secrets,
        mcp,
        files,
    }
}

impl ToolsHandle {
    /// Applies new settings. MCP servers whose settings changed are restarted.
    pub fn update_settings(&self, settings: ToolsSettings) {
        self.search.store(Arc::new(settings.web_search));
        self.request_secrets.allow(settings.secrets);
        self.mcp
            .update(settings.mcp_servers, settings.child_variables);
    }

    /// Starts the MCP servers and keeps them running until `stop`. Returns immediately.
    pub fn background(&self, stop: CancellationToken, tasks: &TaskTracker) {
        let (search, secrets) = (self.search.load_full(), self.mcp.secrets().clone());
        tasks.spawn(async move { bind_key(&search, &secrets).await });
        self.mcp.background(stop, tasks);
    }

    /// Returns the configured service that takes its key from this vault variable.
    pub fn service_of_variable(&self, variable: &str) -> Option<KeyBinding> {
        service_of_variable(&self.search.load(), variable)
            .or_else(|| self.mcp.service_of_variable(variable))
    }

    /// Reads a file for attaching it to a message.
    pub async fn read_file(&self, name: String, data: Bytes) -> Result<NewAttachment, FileError> {
        self.files.read(name, data).await
    }

    /// Returns the MCP servers, for their status.
    pub fn mcp(&self) -> &Mcp {
        &self.mcp
    }
}

impl fmt::Debug for ToolsHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolsHandle")
            .field("mcp", &self.mcp)
            .finish_non_exhaustive()
    }
}
