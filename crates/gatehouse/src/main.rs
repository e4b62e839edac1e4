//! The binary: parses the command line and runs one command.

mod cli;

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// The allocator of glibc takes a fifth more of the processor time of a delivery, and that of musl is slower still: see
/// decision 27.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    cli::run()
}
