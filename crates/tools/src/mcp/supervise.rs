//! Starts and stops servers to match the settings.

use super::dependencies::{ConfiguredServers, Dependencies};
use super::server::{Server, group};
use futures_util::future::join_all;
use gatehouse_config::McpServer;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Supervises all servers.
pub(super) struct Supervisor {
    dependencies: Arc<Dependencies>,
    wanted: watch::Receiver<Arc<ConfiguredServers>>,
    tasks: TaskTracker,
    running: BTreeMap<String, Running>,
    /// The number of started servers.
    runs: u64,
}

struct Running {
    settings: Arc<McpServer>,
    child_variables: Arc<Vec<(String, OsString)>>,
    restarts: u64,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl ConfiguredServers {
    fn restarts_of(&self, server: &str) -> u64 {
        self.restarts.get(server).copied().unwrap_or(0)
    }
}

impl Supervisor {
    pub(super) fn new(
        dependencies: Arc<Dependencies>,
        wanted: watch::Receiver<Arc<ConfiguredServers>>,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            dependencies,
            wanted,
            tasks,
            running: BTreeMap::new(),
            runs: 0,
        }
    }

    /// Runs until `stop`, then waits until every server has stopped.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        loop {
            let wanted = Arc::clone(&self.wanted.borrow_and_update());
            self.stop_others(&wanted).await;
            self.start_missing(&wanted, &stop);
            tokio::select! {
                () = stop.cancelled() => break,
                // The sender exists as long as the gateway. Without a sender, the settings can no longer change.
                changed = self.wanted.changed() => if changed.is_err() { break },
            }
        }
        stop.cancelled().await;
        join_all(self.running.into_values().map(|running| running.task)).await;
    }

    /// Stops servers that are no longer in the settings, whose settings have changed, or for which a person requested a
    /// restart.
    async fn stop_others(&mut self, wanted: &ConfiguredServers) {
        let unwanted = self.running.iter().filter(|(name, running)| {
            let same = |settings: &Arc<McpServer>| settings.is_same(&running.settings);
            let variables = wanted.child_variables == running.child_variables;
            let is_current = wanted.restarts_of(name) == running.restarts;
            !(variables && is_current && wanted.servers.get(*name).is_some_and(same))
        });
        let unwanted: Vec<String> = unwanted.map(|(name, _)| name.clone()).collect();
        let stopping = unwanted.iter().filter_map(|name| self.running.remove(name));
        let ended = stopping.map(|running| {
            running.stop.cancel();
            running.task
        });
        join_all(ended.collect::<Vec<_>>()).await;
        for gone in unwanted
            .iter()
            .filter(|name| !wanted.servers.contains_key(*name))
        {
            (self.dependencies.publish)(&group(gone), Vec::new());
        }
        for gone in self.dependencies.board.all() {
            if !wanted.servers.contains_key(&gone.name) {
                self.dependencies.board.remove(&gone.name);
            }
        }
    }

    fn start_missing(&mut self, wanted: &ConfiguredServers, stop: &CancellationToken) {
        for (name, settings) in &wanted.servers {
            if self.running.contains_key(name) {
                continue;
            }
            let stop = stop.child_token();
            self.runs += 1;
            let server = Server {
                dependencies: Arc::clone(&self.dependencies),
                name: name.clone(),
                settings: Arc::clone(settings),
                child_variables: Arc::clone(&wanted.child_variables),
                run: self.runs,
            };
            let running = Running {
                settings: Arc::clone(settings),
                child_variables: Arc::clone(&wanted.child_variables),
                restarts: wanted.restarts_of(name),
                stop: stop.clone(),
                task: self.tasks.spawn(server.run(stop)),
            };
            self.running.insert(name.clone(), running);
        }
    }
}
