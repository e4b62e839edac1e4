//! `completions`: a script for the shell.

use super::{Cli, output};
use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;
use std::process::ExitCode;

/// `gatehouse completions SHELL`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub fn run(args: &Args) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "gatehouse", &mut script);
    let mut stdout = std::io::stdout();
    let written = stdout.write_all(&script).and_then(|()| stdout.flush());
    output::until_closed(written.map_err(Into::into))?;
    Ok(ExitCode::SUCCESS)
}
