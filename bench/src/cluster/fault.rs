//! The faults of a run.

use super::Cluster;
use anyhow::{Context, Result};
use gatehouse_domain::Random;
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// The delay of a slow network, in each direction.
const SLOW: Duration = Duration::from_millis(25);

/// What fails.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// A node is killed and started again.
    KillNode,
    /// A node is paused for a while and then continues.
    FreezeNode,
    /// A node's connections to the database are closed.
    Cut,
    /// A node's connections to the database stop delivering data, without being closed.
    Silence,
    /// A node's connections to the database lose data in one direction: the database still receives what the node
    /// sends.
    LoseAnswers,
    /// A node's connections to the database are slow for a while.
    Slow,
    /// The database server is killed and started again.
    KillDatabase,
    /// The database server is paused for a while and then continues.
    FreezeDatabase,
}

impl Fault {
    /// Chooses a fault. Short faults are more frequent.
    pub fn choose(random: &dyn Random) -> Self {
        match random.below(100) {
            0..30 => Self::KillNode,
            30..50 => Self::FreezeNode,
            50..72 => Self::Cut,
            72..77 => Self::Silence,
            77..82 => Self::LoseAnswers,
            82..92 => Self::Slow,
            92..97 => Self::KillDatabase,
            _ => Self::FreezeDatabase,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::KillNode => "node killed",
            Self::FreezeNode => "node frozen",
            Self::Cut => "connections cut",
            Self::Silence => "connections silent",
            Self::LoseAnswers => "answers lost",
            Self::Slow => "network slow",
            Self::KillDatabase => "database killed",
            Self::FreezeDatabase => "database frozen",
        }
    }

    /// Injects the fault and undoes it. Returns after the fault was undone, or directly after the injection if
    /// nothing needs undoing.
    pub async fn make(
        self,
        cluster: &mut Cluster,
        number: usize,
        random: &dyn Random,
    ) -> Result<Instant> {
        // Up to seven seconds: longer than the lease of a delivery.
        let a_while = Duration::from_millis(u64::from(random.below(7_000)));
        let node = cluster.nodes.get_mut(number).context("no such node")?;
        match self {
            Self::KillNode => {
                node.kill()?;
                tokio::time::sleep(a_while / 10).await;
                let undone = Instant::now();
                node.start_again()?;
                return Ok(undone);
            }
            Self::FreezeNode => {
                node.server()?.signal(Signal::STOP)?;
                tokio::time::sleep(a_while).await;
                node.server()?.signal(Signal::CONT)?;
            }
            Self::Cut => node.proxy.cut(),
            Self::Silence => node.proxy.fall_silent(),
            Self::LoseAnswers => node.proxy.lose_answers(),
            Self::Slow => {
                node.proxy.delay(SLOW);
                tokio::time::sleep(a_while / 2).await;
                node.proxy.delay(Duration::ZERO);
            }
            Self::KillDatabase => {
                cluster.database.kill()?;
                cluster.database.start_again()?;
            }
            Self::FreezeDatabase => {
                cluster.database.signal(Signal::STOP)?;
                tokio::time::sleep(a_while / 3).await;
                cluster.database.signal(Signal::CONT)?;
            }
        }
        Ok(Instant::now())
    }
}
