//! `cargo xtask dist`: makes all downloads for users. For each target, these are the binary as a tarball, Debian and
//! RPM packages, and a container image. SBOMs and checksums are added. The same tree always yields the same bytes,
//! independent of its path.

mod archive;
mod binary;
mod image;
mod packages;
mod sbom;
mod stage;
mod tools;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::page;
use crate::process::{capture, run as run_command};
pub use binary::PACK_RELOCATIONS;
use binary::Target;
use tools::Tools;

/// The output, below the workspace root.
const FOLDER: &str = "target/package";
/// A copy of the tree for `--twice`. The lengths of its path and of the tree's path differ.
const COPY: &str = "target/package-again/a/copy/of/the/tree";
const CHECKSUMS: &str = "SHA256SUMS";

/// The arguments of `dist`.
#[derive(clap::Args)]
pub struct Args {
    /// Build for this target; may be repeated [default: the musl targets whose standard library is installed, or
    /// else this machine's target, statically linked]
    #[arg(long, value_name = "TRIPLE")]
    target: Vec<String>,
    /// Package this binary for this machine's architecture instead of building one
    #[arg(long, value_name = "FILE", conflicts_with = "target")]
    binary: Option<PathBuf>,
    /// Make everything again from a copy of the tree at another path, and compare the checksums
    #[arg(long)]
    twice: bool,
    /// Run the binaries and the image of this machine's architecture, each from nothing to an answered delivery
    #[arg(long = "try")]
    is_tried: bool,
    #[command(flatten)]
    image_may_lack: image::MayLack,
}

/// One run: a tree, and values that must not depend on its path.
struct Job<'a> {
    root: &'a Path,
    out: PathBuf,
    version: String,
    /// The time of all files: seconds since 1970.
    epoch: String,
    tools: &'a Tools,
}

/// Makes the artifacts, and with `--twice` compares them.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    image::check_system(Path::new("/"), args.image_may_lack)?;
    let tools = Tools::install(root)?;
    let reader = sbom::reader(root)?;
    let targets = binary::targets(&args.target, args.binary.as_deref())?;
    let epoch = epoch(root)?;
    let sums = make(root, &targets, args.binary.as_deref(), &epoch, &tools)?;
    sbom::read(root, &reader, &root.join(FOLDER))?;
    if args.is_tried {
        let program = root.join("xtask/src/release/try_artifacts.py");
        let mut python = Command::new(&reader.program);
        run_command(python.arg(program).arg(root.join(FOLDER)))?;
    }
    if args.twice {
        let copy = root.join(COPY);
        copy_tree(root, &copy)?;
        let again = make(&copy, &targets, args.binary.as_deref(), &epoch, &tools)?;
        compare(&sums, &again)?;
        eprintln!("Two runs from two paths made the same files.");
    }
    print!("{sums}");
    Ok(())
}

/// Makes the artifacts of one tree. Returns the checksums.
fn make(
    root: &Path,
    targets: &[Target],
    given: Option<&Path>,
    epoch: &str,
    tools: &Tools,
) -> Result<String> {
    let job = Job {
        root,
        out: root.join(FOLDER),
        version: version(root)?,
        epoch: epoch.to_owned(),
        tools,
    };
    if job.out.exists() {
        std::fs::remove_dir_all(&job.out).context("cannot empty the output folder")?;
    }
    std::fs::create_dir_all(&job.out)?;
    if given.is_none() {
        page::run(root, &page::Args::default())?;
    }
    sbom::write(&job, targets)?;
    let mut generated = None;
    for target in targets {
        let binary = match given {
            Some(binary) => binary.to_owned(),
            None => binary::build(&job, target)?,
        };
        // The first target is this machine's. Its binary writes the man pages and completions for all targets.
        let from = generated.get_or_insert_with(|| binary.clone());
        let stage = stage::fill(&job, &binary, from)?;
        archive::tarball(&job, target, &stage)?;
        packages::deb(&job, target)?;
        packages::rpm(&job, target)?;
        image::write(&job, target, &stage)?;
    }
    std::fs::remove_dir_all(job.out.join(stage::FOLDER))?;
    checksums(&job.out)
}

fn checksums(out: &Path) -> Result<String> {
    let mut names = Vec::new();
    for entry in out.read_dir()? {
        names.push(entry?.file_name());
    }
    names.sort();
    let sums = capture(Command::new("sha256sum").args(&names).current_dir(out))?;
    std::fs::write(out.join(CHECKSUMS), &sums)?;
    Ok(sums)
}

/// Returns the workspace's version.
pub fn version(root: &Path) -> Result<String> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let manifest: toml::Table = manifest.parse()?;
    let version = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("package")?.get("version")?.as_str());
    version
        .map(str::to_owned)
        .context("Cargo.toml has no version")
}

/// `SOURCE_DATE_EPOCH`, or the time of the last commit.
fn epoch(root: &Path) -> Result<String> {
    if let Ok(given) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(given);
    }
    let mut git = Command::new("git");
    git.current_dir(root).args(["log", "-1", "--format=%ct"]);
    let time = capture(&mut git).context("set SOURCE_DATE_EPOCH if there is no repository")?;
    Ok(time.trim().to_owned())
}

/// Copies the files that git tracks or would track.
fn copy_tree(root: &Path, copy: &Path) -> Result<()> {
    if copy.exists() {
        std::fs::remove_dir_all(copy)?;
    }
    let mut git = Command::new("git");
    git.current_dir(root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    for name in capture(&mut git)?.split_terminator('\0') {
        let (from, to) = (root.join(name), copy.join(name));
        // Git still lists a file that was deleted but not committed.
        if !from.is_file() {
            continue;
        }
        std::fs::create_dir_all(to.parent().context("no folder")?)?;
        std::fs::copy(&from, &to).with_context(|| name.to_owned())?;
    }
    Ok(())
}

fn compare(first: &str, second: &str) -> Result<()> {
    if first == second {
        return Ok(());
    }
    let differ: Vec<_> = first
        .lines()
        .filter(|line| !second.contains(line))
        .collect();
    bail!(
        "these files differ between the two paths:\n{}",
        differ.join("\n")
    )
}

impl Job<'_> {
    /// Returns the path of an artifact such as `gatehouse-0.1.0-amd64.tar.gz`.
    fn artifact(&self, target: &Target, suffix: &str) -> PathBuf {
        let (version, architecture) = (&self.version, target.architecture);
        self.out
            .join(format!("gatehouse-{version}-{architecture}{suffix}"))
    }

    /// Runs a program with the fixed time that its output must contain.
    fn run(&self, command: &mut Command) -> Result<()> {
        run_command(
            command
                .current_dir(self.root)
                .env("SOURCE_DATE_EPOCH", &self.epoch),
        )
    }
}
