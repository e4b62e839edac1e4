//! Developer commands: `cargo xtask run | test | check | page | gen | gauntlet | bench | fuzz | dist`. Contains the
//! project rules that the compiler cannot check. No part of the product depends on it.
#![expect(
    clippy::disallowed_methods,
    reason = "the bans protect an async server; xtask is a small synchronous program"
)]

mod apt;
mod bench;
mod check;
mod fuzz;
mod gauntlet;
mod generate;
mod page;
mod process;
mod python;
mod release;
mod run;
mod test;
mod walk;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Developer commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the gateway and start it with embedded SQLite
    Run(run::Args),
    /// Run every test and check; installs what a fresh Debian machine lacks
    Test(test::Args),
    /// Check the project rules: imports, sizes, names, crate count, licenses, links
    Check,
    /// Build the page into ui/dist if its sources changed
    Page(page::Args),
    /// Write the generated files: docs/generated, and the page's client
    Gen(generate::Args),
    /// Run published attacks against the built binary, after a self-test that each can succeed
    Gauntlet(gauntlet::Args),
    /// Run a benchmark in release mode and print one table
    Bench(bench::Args),
    /// Fuzz one target, or list all targets
    Fuzz(fuzz::Args),
    /// Make the packages, images, SBOMs and checksums for users
    Dist(release::Args),
}

fn main() -> ExitCode {
    match dispatch(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: Command) -> anyhow::Result<()> {
    let root = process::root()?;
    match command {
        Command::Run(args) => run::run(&root, &args),
        Command::Test(args) => test::run(&root, &args),
        Command::Check => check::run(&root),
        Command::Page(args) => page::run(&root, &args),
        Command::Gen(args) => generate::run(&root, &args),
        Command::Gauntlet(args) => gauntlet::run(&root, &args),
        Command::Bench(args) => bench::run(&root, &args),
        Command::Fuzz(args) => fuzz::run(&root, &args),
        Command::Dist(args) => release::run(&root, &args),
    }
}
