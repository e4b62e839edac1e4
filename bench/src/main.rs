//! `cargo xtask bench NAME`: measures, and prints one table of aim and measured value. It never fails
//! because something was slow: a number on a busy machine is no defect, and a gate that is now and
//! then red is soon ignored.
#![expect(
    clippy::disallowed_methods,
    reason = "the bans guard an async server; this is a tool at a developer's desk"
)]

mod bare;
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
    /// Deliveries while the gateway is killed again and again
    Crash(crash::Args),
    /// Power cuts: states of the disk that a cut could leave, opened by the real code
    PowerCut(power_cut::Args),
    /// A steady load for a long time, with people looking at pages: what grows, and what slows down
    Soak(soak::Args),
    /// How fast deliveries are taken in and done
    Ingest(ingest::Args),
    /// What speaking through the gateway costs
    Voice(voice::Args),
    /// The route that the gate is compared with, without the gate: started by the harness itself
    #[command(hide = true)]
    Bare(bare::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Gate(args) => {
            // One thread: the gateway is to have the rest of the machine.
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?
                .block_on(gate::run(&args))
        }
        Command::Crash(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(crash::run(&args)),
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
        Command::Voice(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(voice::run(&args)),
        Command::Bare(args) => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?
            .block_on(bare::run(&args)),
    }
}
