//! `cargo xtask bench NAME`: runs measurements and prints one table of targets and measured values. Slow results
//! never fail the run. They depend on the load of the machine, and a check that fails at random is soon ignored.
#![expect(
    clippy::disallowed_methods,
    reason = "the bans protect an async server; this is a tool for developers"
)]

mod bare;
mod cluster;
mod crash;
mod figures;
mod gate;
mod gateway;
mod http1;
mod ingest;
mod load;
mod owner;
mod postgres;
mod power_cut;
mod prepare;
mod proxy;
mod soak;
mod table;
mod talk;
mod turn;
mod upgrade;
mod voice;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The gate and the vault
    Gate(gate::Args),
    /// Deliveries while the gateway is killed repeatedly
    Crash(crash::Args),
    /// Three nodes on one database, with faults of the nodes, the database and the network
    Cluster(cluster::Args),
    /// Two nodes under load that are upgraded one by one from an earlier version, and back
    Upgrade(upgrade::Args),
    /// Power failures: opens the disk states that one could leave with the real code
    PowerCut(power_cut::Args),
    /// A steady load for a long time with users who open pages: what grows and what slows down
    Soak(soak::Args),
    /// How fast deliveries are accepted and completed
    Ingest(ingest::Args),
    /// What the gateway adds to the turns of agents
    Turn(turn::Args),
    /// The cost of speech through the gateway
    Voice(voice::Args),
    /// What the gateway adds to spoken conversations
    Talk(talk::Args),
    /// The baseline routes without the gate; started by the harness
    #[command(hide = true)]
    Bare(bare::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Gate(args) => {
            // A single thread leaves the other cores to the gateway.
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?
                .block_on(gate::run(&args))
        }
        Command::Crash(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(crash::run(&args)),
        Command::Cluster(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(cluster::run(&args)),
        Command::Upgrade(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(upgrade::run(&args)),
        Command::PowerCut(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(power_cut::run(&args)),
        Command::Soak(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(soak::run(&args)),
        Command::Ingest(args) => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(ingest::run(&args)),
        Command::Turn(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(turn::run(&args)),
        Command::Voice(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(voice::run(&args)),
        Command::Talk(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(talk::run(&args)),
        Command::Bare(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(bare::run(&args)),
    }
}
