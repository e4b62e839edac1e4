//! `cargo xtask run`: from a fresh clone to a running gateway. Needs only Rust; if Node is available, builds
//! the page first.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::page;
use crate::process::{cargo, shown};

/// The arguments of `run`.
#[derive(clap::Args)]
pub struct Args {
    /// Build with optimizations; the first build takes several times as long
    #[arg(long)]
    release: bool,
    /// The gateway's data directory; its own default when omitted
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Passed on to `gatehouse serve`
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Builds, then replaces this process by the gateway, which handles signals and the terminal directly.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    page::build_or_leave_out(root)?;
    let mut command = cargo(root);
    // Use the caller's folder, so that a relative `--data-dir` works as expected.
    command.current_dir(std::env::current_dir().context("no working directory")?);
    command
        .arg("run")
        .arg("--manifest-path")
        .arg(root.join("Cargo.toml"));
    command.args(["--package", "gatehouse"]);
    if args.release {
        command.arg("--release");
    }
    command.args(["--", "serve"]);
    if let Some(folder) = &args.data_dir {
        command.arg("--data-dir").arg(folder);
    }
    command.args(&args.rest);
    eprintln!("$ {}", shown(&command));
    Err(command.exec()).context("cannot start cargo")
}
