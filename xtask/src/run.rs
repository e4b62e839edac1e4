//! `cargo xtask run`: from a fresh clone to a running gateway. Needs only Rust; if Node is available, builds
//! the page first.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, anyhow};

use crate::page;
use crate::process::{cargo, run as run_command, shown};

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

/// Builds the gateway, then replaces this process with it. The gateway then handles signals and the terminal directly.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    if args.release {
        page::build_or_leave_out(root)?;
    } else {
        build_side_by_side(root, args)?;
    }
    let mut command = gateway(root, args, "run");
    // The gateway runs in the caller's folder. A relative `--data-dir` therefore refers to that
    // folder.
    command.current_dir(std::env::current_dir().context("no working directory")?);
    command.args(["--", "serve"]);
    if let Some(folder) = &args.data_dir {
        command.arg("--data-dir").arg(folder);
    }
    command.args(&args.rest);
    eprintln!("$ {}", shown(&command));
    Err(command.exec()).context("cannot start cargo")
}

/// Compiles while npm and Vite run. This is possible because a debug build reads the page at run
/// time.
fn build_side_by_side(root: &Path, args: &Args) -> Result<()> {
    thread::scope(|scope| {
        let page = scope.spawn(|| page::build_or_leave_out(root));
        run_command(&mut gateway(root, args, "build"))?;
        page.join()
            .map_err(|_| anyhow!("the thread that builds the web UI panicked"))?
    })
}

/// Returns a cargo command for the gateway's package.
fn gateway(root: &Path, args: &Args, name: &str) -> Command {
    let mut command = cargo(root);
    command
        .arg(name)
        .arg("--manifest-path")
        .arg(root.join("Cargo.toml"))
        .args(["--package", "gatehouse"]);
    if args.release {
        command.arg("--release");
    }
    command
}
