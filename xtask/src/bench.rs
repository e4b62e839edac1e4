//! `cargo xtask bench NAME`: builds the release binary, then runs the harness in `bench/`.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::check::Metadata;
use crate::page;
use crate::process::{cargo, run as run_command};
use crate::release::PACK_RELOCATIONS;
use crate::test::browser;

/// The arguments of `bench`.
#[derive(clap::Args)]
pub struct Args {
    /// The measurement, for example `gate`
    name: String,
    /// Measure the binary that users get (profile `dist`); its build takes much longer
    #[arg(long)]
    dist: bool,
    /// Passed on to the harness
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Runs a measurement. Builds the gateway separately first: built together with the harness, it would get the
/// harness's features, which change its size and startup time.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    if !root.join("bench/Cargo.toml").is_file() {
        bail!("bench/ (crate gatehouse-bench) is not in this tree");
    }
    page::build_or_leave_out(root)?;
    let profile = if args.dist { "dist" } else { "release" };
    let mut build = cargo(root);
    build.args(["rustc", "--profile", profile, "--package", "gatehouse"]);
    build.args(["--bin", "gatehouse", "--"]);
    // Other linkers refuse the option.
    if args.dist && cfg!(target_os = "linux") {
        build.arg(PACK_RELOCATIONS);
    }
    run_command(&mut build)?;
    let target = Metadata::load(root)?.target_directory;
    let binary = target.join(profile).join("gatehouse");
    if args.name == "ui" {
        return ui(root, &target, &binary, &args.rest);
    }
    let mut harness = cargo(root);
    harness.env("GATEHOUSE_BENCH_BINARY", &binary);
    harness.args([
        "run",
        "--release",
        "--package",
        "gatehouse-bench",
        "--",
        &args.name,
    ]);
    run_command(harness.args(&args.rest))
}

/// The page, in a real browser: its harness is a Node program.
fn ui(root: &Path, target: &Path, binary: &Path, rest: &[String]) -> Result<()> {
    let browser = browser::prepare(&root.join("bench/ui"), &target.join("bench-ui"))?;
    let mut node = Command::new("node");
    node.arg("run.mjs").args(rest).current_dir(&browser.folder);
    node.env("GATEHOUSE_BENCH_BINARY", binary);
    node.env("GATEHOUSE_TEST_CHROMIUM", &browser.chromium);
    run_command(&mut node)
}
