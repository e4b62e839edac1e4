//! `cargo xtask fuzz [TARGET]`: runs cargo-fuzz, which needs the nightly compiler.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::process::{capture, run as run_command};
use crate::walk;

/// The arguments of `fuzz`.
#[derive(clap::Args)]
pub struct Args {
    /// The target; lists all targets when omitted
    target: Option<String>,
    /// How long to run
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// Runs one target, or lists them all.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    let Some(target) = &args.target else {
        for file in walk::files(&root.join("fuzz/fuzz_targets"), "rs")? {
            println!("{}", file.file_stem().unwrap_or_default().to_string_lossy());
        }
        return Ok(());
    };
    if capture(nightly(root).args(["fuzz", "--version"])).is_err() {
        bail!(
            "cargo-fuzz on the nightly compiler is missing:\n  \
             rustup toolchain install nightly --profile minimal\n  cargo install cargo-fuzz"
        );
    }
    let limit = format!("-max_total_time={}", args.seconds);
    run_command(nightly(root).args(["fuzz", "run", target, "--", &limit]))
}

/// Uses the `cargo` on PATH, which is rustup's. The cargo that runs xtask cannot switch toolchains.
fn nightly(root: &Path) -> Command {
    let mut command = Command::new("cargo");
    command
        .current_dir(root)
        .arg("+nightly")
        .env_remove("RUSTUP_TOOLCHAIN");
    command
}
