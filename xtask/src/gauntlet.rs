//! `cargo xtask gauntlet`: runs published attacks (`tests/gauntlet`) against the built binary. Before that, a self-test
//! checks that each attack can succeed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::check::Metadata;
use crate::process::{cargo, run as run_command};
use crate::python;

/// The folder of the Python program.
const FOLDER: &str = "tests/gauntlet";

/// The arguments of `gauntlet`.
#[derive(clap::Args)]
pub struct Args {
    /// Only verify that each attack succeeds against the weak gateway
    #[arg(long)]
    self_test: bool,
    /// Only this row; may be repeated, and may end in *
    #[arg(long, value_name = "NAME")]
    row: Vec<String>,
    /// Fail when docs/GAUNTLET.md differs
    #[arg(long)]
    check: bool,
    /// Write docs/GAUNTLET.md
    #[arg(long, conflicts_with_all = ["check", "row", "self_test"])]
    write: bool,
    /// The binary; by default target/debug/gatehouse, built if absent
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Runs the self-test, then the rows against the binary.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    let target = Metadata::load(root)?.target_directory;
    let gauntlet = Gauntlet::prepare(root, &target)?;
    let mut rows = Vec::new();
    for row in &args.row {
        rows.extend(["--row", row]);
    }
    gauntlet.run(&[&rows[..], &["--self-test"]].concat())?;
    if args.self_test {
        return Ok(());
    }
    let binary = match &args.binary {
        Some(binary) => binary.clone(),
        None => built(root, &target)?,
    };
    if args.check {
        rows.push("--check");
    }
    if args.write {
        rows.push("--write");
    }
    let binary = std::path::absolute(binary)?;
    let binary = binary.to_str().context("the binary's path is not UTF-8")?;
    gauntlet.run(&[&rows[..], &["--target", binary]].concat())
}

fn built(root: &Path, target: &Path) -> Result<PathBuf> {
    let binary = target.join("debug/gatehouse");
    if !binary.is_file() {
        run_command(cargo(root).args(["build", "--locked", "--package", "gatehouse"]))?;
    }
    Ok(binary)
}

/// The program and its Python interpreter.
pub struct Gauntlet {
    folder: PathBuf,
    python: python::Python,
}

impl Gauntlet {
    /// Prepares a Python environment in the target directory.
    pub fn prepare(root: &Path, target: &Path) -> Result<Self> {
        let folder = root.join(FOLDER);
        let requirements = folder.join("requirements.txt");
        let python = python::environment(&target.join("test-gauntlet"), &requirements)?;
        Ok(Self { folder, python })
    }

    /// Runs the program with these arguments.
    pub fn run(&self, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new(&self.python.program);
        // `-B`: write no bytecode into the source tree.
        command.args(["-B", "-m", "gauntlet"]).args(arguments);
        run_command(command.current_dir(&self.folder))
    }
}
