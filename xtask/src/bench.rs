//! `cargo xtask bench NAME`: builds the release binary, then runs the harness in `bench/`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::check::Metadata;
use crate::page;
use crate::process::{capture, cargo, is_executable, run as run_command};
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
    /// Also build the gateway of this commit, for `upgrade`
    #[arg(long, value_name = "COMMIT")]
    earlier: Option<String>,
    /// Passed on to the harness
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Runs a measurement. Builds the gateway first, in a separate build. If it were built together with the harness, it
/// would get the harness's features, which change its size and startup time.
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
    if let Some(commit) = &args.earlier {
        let earlier = build_earlier(root, &target.join("bench-earlier"), commit)?;
        harness.env("GATEHOUSE_BENCH_EARLIER", earlier);
    }
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

/// Builds the release binary of a commit, without the web UI, unless the binary exists. Returns its path.
fn build_earlier(root: &Path, folder: &Path, commit: &str) -> Result<PathBuf> {
    let mut git = Command::new("git");
    git.current_dir(root)
        .args(["rev-parse", "--verify", "--end-of-options"]);
    let commit = capture(git.arg(format!("{commit}^{{commit}}")))?;
    let commit = commit.trim();
    let binary = folder.join(format!("gatehouse-{commit}"));
    if is_executable(&binary) {
        return Ok(binary);
    }
    let (tree, archive) = (folder.join("tree"), folder.join("tree.tar"));
    if tree.exists() {
        std::fs::remove_dir_all(&tree)?;
    }
    std::fs::create_dir_all(&tree).with_context(|| tree.display().to_string())?;
    let mut git = Command::new("git");
    git.current_dir(root)
        .args(["archive", "--format=tar", "--output"])
        .arg(&archive);
    run_command(git.arg(commit))?;
    let mut tar = Command::new("tar");
    run_command(
        tar.arg("-xf")
            .arg(&archive)
            .arg("--directory")
            .arg(&tree)
            // Give the files the current time. With the time of the commit, they may be older than the build of another
            // commit, and cargo would not rebuild them.
            .arg("--touch"),
    )?;
    std::fs::remove_file(&archive)?;
    let output = folder.join("target");
    let mut build = cargo(&tree);
    build.args(["build", "--locked", "--release", "--package", "gatehouse"]);
    run_command(build.arg("--target-dir").arg(&output))?;
    // A copy that was interrupted must not be used by the next call.
    let copy = folder.join("copy");
    std::fs::copy(output.join("release/gatehouse"), &copy)
        .and_then(|_| std::fs::rename(&copy, &binary))
        .with_context(|| binary.display().to_string())?;
    Ok(binary)
}

/// Measures the page in a real browser. The harness for this is a Node program.
fn ui(root: &Path, target: &Path, binary: &Path, rest: &[String]) -> Result<()> {
    let browser = browser::prepare(&root.join("bench/ui"), &target.join("bench-ui"))?;
    let mut node = Command::new("node");
    node.arg("run.mjs").args(rest).current_dir(&browser.folder);
    node.env("GATEHOUSE_BENCH_BINARY", binary);
    node.env("GATEHOUSE_TEST_CHROMIUM", &browser.chromium);
    run_command(&mut node)
}
