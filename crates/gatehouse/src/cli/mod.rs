//! The command line. Each command has its own module. The shared modules access a server (`client`) or the data
//! directory of a stopped one (`offline`), ask questions (`prompt`) and print results (`output`). Exit codes: 0 for
//! success, 1 for failure, 2 for wrong usage (`usage`). `backup verify` has one more.

mod agents;
mod audit;
mod auth;
mod backup;
mod channels;
mod chat;
mod client;
mod completions;
mod config;
mod doctor;
mod env;
mod env_exec;
mod export;
mod generate;
mod globals;
mod health;
mod import;
mod input;
mod key_file;
mod move_database;
mod offline;
mod output;
mod progress;
mod prompt;
mod serve;
mod service;
mod ssh_agent;
mod ssh_keys;
mod usage;
mod vault;
#[cfg(feature = "voice")]
mod voice;
mod webhooks;

use anyhow::Result;
use clap::{Parser, Subcommand};
use globals::Globals;
use output::Output;
use std::process::ExitCode;

/// A gateway with an authentication gate and an encryption vault.
#[derive(Debug, Parser)]
#[command(name = "gatehouse", version)]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the server (default)
    Serve,
    /// Setup code, reset, API keys and sessions
    #[command(subcommand)]
    Auth(auth::Command),
    /// The vault: status, unlock, seal, rotate
    #[command(subcommand)]
    Vault(vault::Command),
    /// Environment variables in the vault
    #[command(subcommand)]
    Env(env::Command),
    /// Stored SSH keys
    #[command(subcommand)]
    SshKeys(ssh_keys::Command),
    /// Webhooks from other services
    #[command(subcommand)]
    Webhooks(Box<webhooks::Command>),
    /// Outgoing messages and the inbox
    #[command(subcommand)]
    Channels(channels::Command),
    /// Agents: model, prompt and tools
    #[command(subcommand)]
    Agents(agents::Command),
    /// Chat with an agent
    Chat(chat::Args),
    /// Speech output and input
    #[cfg(feature = "voice")]
    #[command(subcommand)]
    Voice(voice::Command),
    /// The audit log: list and verify it
    #[command(subcommand)]
    Audit(audit::Command),
    /// Backups of everything that is stored
    #[command(subcommand)]
    Backup(backup::Command),
    /// Export deliveries, conversations or the audit log as JSON Lines
    #[command(subcommand)]
    Export(export::Command),
    /// Import the configuration of other products
    Import(import::Args),
    /// Copy everything to another database, from SQLite to PostgreSQL or back
    Move(move_database::Args),
    /// Settings
    #[command(subcommand)]
    Config(config::Command),
    /// Check for common problems
    Doctor,
    /// Exit with 0 if the server responds
    Health,
    /// Install the gateway as a systemd service, or remove it
    #[command(subcommand)]
    Service(service::Command),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Write the generated files: API descriptions, schemas and others; for developers
    #[command(hide = true)]
    Generate(generate::Args),
}

/// Runs the command given on the command line.
pub fn run() -> ExitCode {
    gatehouse::limits::keep_memory_private();
    let Cli { globals, command } = Cli::parse();
    let outcome = match command.unwrap_or(Command::Serve) {
        Command::Serve => serve::run(&globals),
        Command::Completions(args) => completions::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Service(command) => service::run(&globals, &command),
        command => run_async(globals, command),
    };
    match outcome {
        Ok(code) => output::finish(code),
        Err(error) => {
            output::error(&error);
            usage::exit_code(&error)
        }
    }
}

fn run_async(globals: Globals, command: Command) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async move {
        let out = Output::new(globals.json);
        match command {
            Command::Auth(command) => auth::run(&globals, &out, command).await,
            Command::Vault(command) => vault::run(&globals, &out, command).await,
            Command::Env(command) => env::run(&globals, &out, command).await,
            Command::SshKeys(command) => ssh_keys::run(&globals, &out, command).await,
            Command::Webhooks(command) => webhooks::run(&globals, &out, *command).await,
            Command::Channels(command) => channels::run(&globals, &out, command).await,
            Command::Agents(command) => agents::run(&globals, &out, command).await,
            Command::Chat(args) => chat::run(&globals, &out, args).await,
            #[cfg(feature = "voice")]
            Command::Voice(command) => voice::run(&globals, &out, command).await,
            Command::Audit(command) => audit::run(&globals, &out, command).await,
            Command::Backup(command) => Box::pin(backup::run(&globals, &out, command)).await,
            Command::Export(command) => export::run(&globals, &out, command).await,
            Command::Import(args) => import::run(&globals, &out, args).await,
            Command::Move(args) => Box::pin(move_database::run(&globals, &out, &args)).await,
            Command::Config(command) => config::run(&globals, &out, command).await,
            Command::Doctor => doctor::run(&globals, &out).await,
            Command::Health => health::run(&globals, &out).await,
            // This command is handled before the runtime starts.
            Command::Serve
            | Command::Completions(_)
            | Command::Generate(_)
            | Command::Service(_) => Ok(ExitCode::SUCCESS),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_flags_stand_anywhere() {
        for line in [
            "gatehouse --json --data-dir /d vault status",
            "gatehouse vault --json --data-dir /d status",
            "gatehouse vault status --data-dir /d --json",
        ] {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            assert!(cli.globals.json, "{line}");
            assert_eq!(cli.globals.data_dir.unwrap().to_str(), Some("/d"), "{line}");
        }
        for line in [
            "gatehouse --bind 127.0.0.1:1",
            "gatehouse serve --bind 127.0.0.1:1",
        ] {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            assert_eq!(cli.globals.bind.as_deref(), Some("127.0.0.1:1"), "{line}");
        }
    }

    #[test]
    fn an_api_key_is_not_shown_in_debug_output() {
        let cli = Cli::try_parse_from(["gatehouse", "doctor", "--api-key", "mk_hunter2"]).unwrap();
        assert!(!format!("{cli:?}").contains("hunter2"));
    }
}
