//! `cargo xtask page`: builds the page in `ui/` with Vite into `ui/dist`, which the binary embeds. Builds
//! only when an input changed, installs modules only when the lock file changed, and lets Rust builds work
//! without Node.

mod inputs;
mod modules;
mod node;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::run as run_command;

/// The folder of the page.
const FOLDER: &str = "ui";

/// The arguments of `page`.
#[derive(Default, clap::Args)]
pub struct Args {
    /// Build even if nothing changed
    #[arg(long)]
    force: bool,
}

/// The page's folder, with a suitable Node and the modules of its lock file installed.
pub struct Page {
    folder: PathBuf,
    root: PathBuf,
    /// Node's version, for display.
    pub node: String,
}

/// Builds the page; fails without Node.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    let page = Page::prepare(root)?;
    let is_built = if args.force {
        page.build().map(|()| true)
    } else {
        page.build_if_changed()
    }?;
    if !is_built {
        eprintln!("ui/dist is up to date");
    }
    Ok(())
}

/// For commands that also work without the page: prints a warning if the page cannot be built here. A build
/// that fails is still an error.
pub fn build_or_leave_out(root: &Path) -> Result<()> {
    match Page::prepare(root) {
        Ok(page) => page.build_if_changed().map(|_| ()),
        Err(error) => {
            let instead = if root.join("ui/dist/index.html").is_file() {
                "ui/dist from an earlier build is used and may be outdated"
            } else {
                "the gateway serves a placeholder instead"
            };
            eprintln!(
                "\n!!! THE WEB UI IS LEFT OUT: {error:#}\n!!! {instead}; everything else works.\n"
            );
            Ok(())
        }
    }
}

impl Page {
    /// Finds Node, and installs the modules if they do not match the lock file.
    pub fn prepare(root: &Path) -> Result<Self> {
        let folder = root.join(FOLDER);
        if !folder.join("package.json").is_file() {
            bail!("there is no {FOLDER}/package.json in this tree");
        }
        let node = node::version()?;
        modules::install(&folder)?;
        Ok(Self {
            folder,
            root: root.to_path_buf(),
            node,
        })
    }

    /// Builds unless `ui/dist` is up to date. Returns whether it built.
    pub fn build_if_changed(&self) -> Result<bool> {
        if inputs::is_current(&self.root, &self.folder)? {
            return Ok(false);
        }
        self.build().map(|()| true)
    }

    fn build(&self) -> Result<()> {
        // Computes the hash before the build, so that a file that changes during the build triggers the next one.
        let inputs = inputs::digest(&self.root, &self.folder)?;
        self.npm(&["run", "build"])
            .context("the build of the web UI failed")?;
        inputs::write_stamp(&self.folder, &inputs)
    }

    /// Runs npm in the page's folder.
    pub fn npm(&self, arguments: &[&str]) -> Result<()> {
        let mut npm = Command::new("npm");
        run_command(npm.args(arguments).current_dir(&self.folder))
    }
}
