//! One node of the cluster, with a proxy between it and the database.

use super::load::Addresses;
use crate::crash::lane::{Lane, make_lane};
use crate::gateway::Server;
use crate::owner::Installation;
use crate::postgres::Postgres;
use crate::proxy::Proxy;
use anyhow::{Context, Result};
use serde_json::json;
use std::net::SocketAddr;
use std::time::Duration;
use tempfile::TempDir;

/// A node.
pub struct Node {
    number: usize,
    pub installation: Installation,
    pub proxy: Proxy,
    server: Option<Server>,
    addresses: Addresses,
    _folder: TempDir,
}

impl Node {
    /// Starts a node with a data directory of its own.
    pub fn start(
        number: usize,
        first: &Installation,
        database: &Postgres,
        addresses: &Addresses,
    ) -> Result<Self> {
        let proxy = Proxy::start(database.port(), Duration::ZERO)?;
        let folder = tempfile::tempdir()?;
        let mut installation = first.beside(&folder.path().join("data"));
        installation.set_environment("SERVICE_DATABASE_URL", Postgres::url_at(proxy.port));
        let mut node = Self {
            number,
            installation,
            proxy,
            server: None,
            addresses: addresses.clone(),
            _folder: folder,
        };
        node.start_again()?;
        Ok(node)
    }

    pub fn server(&self) -> Result<&Server> {
        self.server.as_ref().context("the node is not running")
    }

    pub fn address(&self) -> Result<SocketAddr> {
        Ok(self.server()?.address)
    }

    /// Kills the process.
    pub fn kill(&mut self) -> Result<()> {
        self.addresses.set(self.number, None);
        self.server
            .take()
            .context("the node is not running")?
            .kill()
    }

    pub fn start_again(&mut self) -> Result<()> {
        let server = self.installation.start().context("a node did not start")?;
        self.addresses.set(self.number, Some(server.address));
        self.server = Some(server);
        Ok(())
    }
}

/// Creates a webhook that stores deliveries but never processes them, to test whether a node accepts deliveries.
pub async fn make_probe(node: &Node) -> Result<Lane> {
    let params = json!({
        "name": "probe", "source_profile": "codehost_a", "rate_limit_per_minute": 100_000,
        "events": { "allow": ["release"] },
    });
    make_lane(&node.installation, node.server()?, "probe", params).await
}
