//! The handle on the MCP servers, and what they stand on.

use super::status::{Board, McpState, McpStatus};
use crate::register::ToolsParts;
use gatehouse_agents::Tool;
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

/// `[mcp.servers.<name>]`
pub enum McpServerSettings {
    /// A program, run without a shell, that speaks over its standard input and output.
    Command {
        /// Its name or path.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What its environment has besides the allow list and the vault's variables.
        env: BTreeMap<String, SecretString>,
    },
    /// A server over streamable HTTP.
    Url(Url),
}

impl McpServerSettings {
    pub(super) fn transport(&self) -> &'static str {
        match self {
            Self::Command { .. } => "stdio",
            Self::Url(_) => "http",
        }
    }

    /// Whether a server with these settings need not be started anew.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only servers ask"))]
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Url(one), Self::Url(two)) => one == two,
            (
                Self::Command { command, args, env },
                Self::Command {
                    command: other_command,
                    args: other_args,
                    env: other_env,
                },
            ) => {
                let plain = |env: &BTreeMap<String, SecretString>| {
                    let pairs = env.iter();
                    let equal = pairs.zip(other_env).all(|((name, value), (n, v))| {
                        name == n && value.expose_secret() == v.expose_secret()
                    });
                    equal && env.len() == other_env.len()
                };
                command == other_command && args == other_args && plain(env)
            }
            _ => false,
        }
    }
}

impl fmt::Debug for McpServerSettings {
    /// Arguments may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.transport())
    }
}

/// Puts a group of tools in the place of what the group had.
pub(crate) type Publish = Arc<dyn Fn(&str, Vec<Arc<dyn Tool>>) + Send + Sync>;

/// What the servers stand on.
#[cfg_attr(
    not(feature = "mcp"),
    expect(dead_code, reason = "only servers need it")
)]
pub(crate) struct World {
    pub(crate) parts: ToolsParts,
    pub(crate) publish: Publish,
    pub(super) board: Board,
}

/// What the settings want.
#[cfg_attr(
    not(feature = "mcp"),
    expect(dead_code, reason = "only servers need it")
)]
pub(super) struct Wanted {
    pub(super) servers: BTreeMap<String, Arc<McpServerSettings>>,
    pub(super) child_variables: Arc<Vec<(String, OsString)>>,
}

/// The MCP servers. A cheap handle.
#[derive(Clone)]
pub struct Mcp {
    pub(super) world: Arc<World>,
    pub(super) wanted: watch::Sender<Arc<Wanted>>,
}

impl Mcp {
    pub(crate) fn new(
        parts: ToolsParts,
        publish: Publish,
        servers: BTreeMap<String, McpServerSettings>,
        child_variables: Vec<(String, OsString)>,
    ) -> Self {
        let board = Board::default();
        let world = Arc::new(World {
            parts,
            publish,
            board,
        });
        let mcp = Self {
            world,
            wanted: watch::Sender::new(Arc::new(wanted(servers, child_variables))),
        };
        mcp.announce();
        mcp
    }

    /// How each configured server is.
    pub fn status(&self) -> Vec<McpStatus> {
        self.world.board.all()
    }

    /// The same, by name, with word of each change.
    pub fn watch(&self) -> watch::Receiver<BTreeMap<String, McpStatus>> {
        self.world.board.watch()
    }

    pub(crate) fn update(
        &self,
        servers: BTreeMap<String, McpServerSettings>,
        child_variables: Vec<(String, OsString)>,
    ) {
        self.wanted
            .send_replace(Arc::new(wanted(servers, child_variables)));
        self.announce();
    }

    /// A server that is configured is on the board from the beginning.
    fn announce(&self) {
        let known = self.status();
        for (name, settings) in &self.wanted.borrow().servers {
            if !known.iter().any(|status| status.name == *name) {
                self.world.board.set(McpStatus {
                    name: name.clone(),
                    transport: settings.transport(),
                    state: if cfg!(feature = "mcp") {
                        McpState::Starting
                    } else {
                        McpState::NotBuilt
                    },
                    tools: 0,
                    problem: None,
                });
            }
        }
    }

    #[cfg(not(feature = "mcp"))]
    #[expect(
        clippy::unused_self,
        reason = "the same call with and without the feature"
    )]
    pub(crate) fn background(&self, _: CancellationToken, _: &TaskTracker) {}

    #[cfg(feature = "mcp")]
    pub(crate) fn background(&self, stop: CancellationToken, tasks: &TaskTracker) {
        let servers = super::supervise::Supervisor::new(self, tasks.clone());
        tasks.spawn(servers.run(stop));
    }
}

fn wanted(
    servers: BTreeMap<String, McpServerSettings>,
    child_variables: Vec<(String, OsString)>,
) -> Wanted {
    let servers = servers.into_iter();
    Wanted {
        servers: servers
            .map(|(name, server)| (name, Arc::new(server)))
            .collect(),
        child_variables: Arc::new(child_variables),
    }
}

impl fmt::Debug for Mcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.status()).finish()
    }
}
