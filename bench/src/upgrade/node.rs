//! One node, which the load balancer removes while it is replaced.

use super::load::Addresses;
use crate::gateway::Server;
use crate::http1::request;
use crate::owner::Installation;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// If a node is not ready this long after its start, it has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// A node.
pub struct Node {
    number: usize,
    pub installation: Installation,
    server: Option<Server>,
    addresses: Addresses,
}

impl Node {
    /// Wraps a node that is running and ready.
    pub fn running(
        number: usize,
        installation: Installation,
        server: Server,
        addresses: &Addresses,
    ) -> Self {
        addresses.set(number, Some(server.address));
        Self {
            number,
            installation,
            server: Some(server),
            addresses: addresses.clone(),
        }
    }

    /// Starts a node and waits until it is ready.
    pub async fn start(
        number: usize,
        installation: Installation,
        addresses: &Addresses,
    ) -> Result<Self> {
        let server = installation.start().context("a node did not start")?;
        wait_until_ready(&server).await?;
        Ok(Self::running(number, installation, server, addresses))
    }

    pub fn server(&self) -> Result<&Server> {
        self.server.as_ref().context("the node is not running")
    }

    /// Makes an RPC call as the owner.
    pub async fn rpc(&self, method: &str, params: Value) -> Result<Value> {
        self.installation.rpc(self.server()?, method, params).await
    }

    /// Stops the process like a service manager, and starts another binary in its place. Returns the time until the
    /// node is ready, which includes migrations.
    pub async fn replace(&mut self, binary: &Path) -> Result<Duration> {
        self.addresses.set(self.number, None);
        self.server
            .take()
            .context("the node is not running")?
            .stop()?;
        self.installation.set_binary(binary);
        let begun = Instant::now();
        let server = self.installation.start().context("it did not start")?;
        wait_until_ready(&server).await?;
        self.addresses.set(self.number, Some(server.address));
        self.server = Some(server);
        Ok(begun.elapsed())
    }
}

/// Waits until a load balancer would use the node. A node with a sealed vault is not ready.
async fn wait_until_ready(server: &Server) -> Result<()> {
    let begun = Instant::now();
    let ask = request("GET", "/health/ready", &[], None);
    loop {
        let mut client = server.connect().await?;
        let answer = client.exchange(&ask).await?;
        if answer.status == 200 {
            return Ok(());
        }
        let reasons = String::from_utf8_lossy(answer.body).into_owned();
        ensure!(begun.elapsed() < PATIENCE, "it is not ready: {reasons}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
