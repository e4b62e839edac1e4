//! `cargo xtask run`: from a fresh clone to a gateway that answers. Needs Rust alone; where Node is, the
//! page is built first.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::page;
use crate::process::{cargo, shown};

/// What `run` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Build optimised: the first build takes several times as long
    #[arg(long)]
    release: bool,
    /// Where the gateway keeps its things; its own default otherwise
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Passed on to `gatehouse serve`
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Builds, then becomes the gateway: signals and the terminal are the gateway's own.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    page::build_or_leave_out(root)?;
    let mut command = cargo(root);
    // The caller's folder, so that a relative `--data-dir` means what it says.
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
