//! `cargo xtask bench NAME`: builds the release binary, then runs the harness in `bench/`.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::check::Metadata;
use crate::page;
use crate::process::{cargo, run as run_command};
use crate::test::browser;

/// The arguments of `bench`.
#[derive(clap::Args)]
pub struct Args {
    /// The measurement, for example `gate`
    name: String,
    /// Passed on to the harness
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Runs a measurement. Builds the gateway separately first: built together with the harness, it would get the
/// harness's features, which change its size and startup time.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    if !root.join("bench/Cargo.toml").is_file() {
        bail!("there is no harness yet: bench/ (crate gatehouse-bench) is not in this tree");
    }
    page::build_or_leave_out(root)?;
    run_command(cargo(root).args(["build", "--release", "--package", "gatehouse"]))?;
    if args.name == "ui" {
        return ui(root, &args.rest);
    }
    let mut harness = cargo(root);
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

/// Measures the page in a real browser; its harness is a Node program.
fn ui(root: &Path, rest: &[String]) -> Result<()> {
    let target = Metadata::load(root)?.target_directory;
    let browser = browser::prepare(&root.join("bench/ui"), &target.join("bench-ui"))?;
    let mut node = Command::new("node");
    node.arg("run.mjs").args(rest).current_dir(&browser.folder);
    node.env("GATEHOUSE_BENCH_BINARY", target.join("release/gatehouse"));
    node.env("GATEHOUSE_TEST_CHROMIUM", &browser.chromium);
    run_command(&mut node)
}
