//! The handle of the MCP servers.

use super::dependencies::{ConfiguredServers, Dependencies, Publish, service_at, token_variable};
use super::oauth::OAuth;
use super::status::{Board, McpState, McpStatus};
use crate::files::FileReader;
use crate::register::ToolsParts;
use crate::secrets::RequestSecrets;
use data_encoding::HEXLOWER;
use gatehouse_config::McpServer;
use gatehouse_domain::KeyBinding;
use gatehouse_secrets::Secrets;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The MCP servers. Cheap to clone.
#[derive(Clone)]
pub struct Mcp {
    pub(super) dependencies: Arc<Dependencies>,
    pub(super) wanted: watch::Sender<Arc<ConfiguredServers>>,
    /// A random ID of this process among those on the database.
    pub(super) process: Arc<str>,
}

impl Mcp {
    pub(crate) fn new(
        parts: ToolsParts,
        (publish, files): (Publish, Arc<FileReader>),
        request_secrets: RequestSecrets,
        servers: BTreeMap<String, McpServer>,
        child_variables: Vec<(String, OsString)>,
    ) -> Self {
        let board = Board::default();
        let process = HEXLOWER.encode(&parts.random.bytes::<16>()).into();
        let oauth = OAuth::new(&parts);
        let dependencies = Arc::new(Dependencies {
            parts,
            oauth,
            publish,
            request_secrets,
            board,
            files,
            #[cfg(feature = "mcp")]
            peers: super::ask::Peers::default(),
            refresh: watch::Sender::new(0),
        });
        let mcp = Self {
            dependencies,
            wanted: watch::Sender::new(Arc::new(wanted(servers, BTreeMap::new(), child_variables))),
            process,
        };
        mcp.announce();
        mcp
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.dependencies.parts.secrets
    }

    /// Returns the status of each configured server.
    pub fn status(&self) -> Vec<McpStatus> {
        self.dependencies.board.all()
    }

    /// Returns the status of each server by name, with notification of changes.
    pub fn watch(&self) -> watch::Receiver<BTreeMap<String, McpStatus>> {
        self.dependencies.board.watch()
    }

    /// Returns the HTTP server that takes its token from this vault variable.
    pub(crate) fn service_of_variable(&self, variable: &str) -> Option<KeyBinding> {
        let wanted = self.wanted.borrow();
        let mut servers = wanted.servers.iter();
        servers.find_map(|(name, settings)| match &**settings {
            McpServer::Url { url, .. } if token_variable(name) == variable => Some(service_at(url)),
            _ => None,
        })
    }

    pub(crate) fn update(
        &self,
        servers: BTreeMap<String, McpServer>,
        child_variables: Vec<(String, OsString)>,
    ) {
        self.wanted.send_modify(|now| {
            *now = Arc::new(wanted(servers, now.restarts.clone(), child_variables));
        });
        self.announce();
        // Another node may have approved tools.
        self.dependencies
            .refresh
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Adds new servers to the board immediately.
    fn announce(&self) {
        let known = self.status();
        for (name, settings) in &self.wanted.borrow().servers {
            if !known.iter().any(|status| status.name == *name) {
                self.dependencies.board.set(McpStatus {
                    name: name.clone(),
                    transport: settings.transport(),
                    state: if cfg!(feature = "mcp") {
                        McpState::Starting
                    } else {
                        McpState::NotBuilt
                    },
                    tools: 0,
                    listed: Vec::new(),
                    digest: String::new(),
                    offers: Arc::default(),
                    reports: 0,
                    run: 0,
                    is_unauthorized: false,
                    problem: None,
                });
            }
        }
    }

    #[cfg(not(feature = "mcp"))]
    #[expect(
        clippy::unused_self,
        reason = "the signature is the same without the feature"
    )]
    pub(crate) fn background(&self, _: CancellationToken, _: &TaskTracker) {}

    #[cfg(feature = "mcp")]
    pub(crate) fn background(&self, stop: CancellationToken, tasks: &TaskTracker) {
        self.dependencies.oauth.background(tasks);
        let servers = super::supervise::Supervisor::new(
            Arc::clone(&self.dependencies),
            self.wanted.subscribe(),
            tasks.clone(),
        );
        tasks.spawn(servers.run(stop));
    }
}

fn wanted(
    servers: BTreeMap<String, McpServer>,
    restarts: BTreeMap<String, u64>,
    child_variables: Vec<(String, OsString)>,
) -> ConfiguredServers {
    let servers = servers.into_iter();
    ConfiguredServers {
        servers: servers
            .map(|(name, server)| (name, Arc::new(server)))
            .collect(),
        restarts,
        child_variables: Arc::new(child_variables),
    }
}

impl fmt::Debug for Mcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.status()).finish()
    }
}
