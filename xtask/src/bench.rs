//! `cargo xtask bench NAME`: builds what is measured as it is shipped, then hands over to `bench/`.

use std::path::Path;

use anyhow::{Result, bail};

use crate::page;
use crate::process::{cargo, run as run_command};

/// What `bench` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Which measurement, for example `gate`
    name: String,
    /// Passed on to the harness
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Builds the gateway by itself first: built together with the harness it would be given the
/// harness's features, and its size and start would be another program's.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    if !root.join("bench/Cargo.toml").is_file() {
        bail!("there is no harness yet: bench/ (crate gatehouse-bench) is not in this tree");
    }
    page::build_or_leave_out(root)?;
    run_command(cargo(root).args(["build", "--release", "--package", "gatehouse"]))?;
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
