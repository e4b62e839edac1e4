//! The binary: parses the command line and runs one command.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
