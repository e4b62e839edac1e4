//! `cargo xtask page`: builds the page in `ui/` with Vite into `ui/dist`, which the binary embeds. Builds only if an
//! input changed, and installs modules only if the lock file changed. Rust builds also work without Node.

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

/// Builds the page, for commands that also work without it. Prints a warning if the page cannot be built on this
/// machine. A failed build is still an error.
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
        // The hash is computed before the build. If a file changes during the build, the next run builds again.
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
