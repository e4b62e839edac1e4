//! `cargo xtask page`: the page in `ui/`, built by Vite into `ui/dist`, which the binary embeds. Builds
//! when an input changed, installs modules when the lock file changed, and lets Rust do without Node.

mod inputs;
mod modules;
mod node;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::run as run_command;

/// Where the page is written.
const FOLDER: &str = "ui";

/// What `page` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Build also when nothing changed
    #[arg(long)]
    force: bool,
}

/// The page's folder, with a Node that can build it and the modules that its lock file names.
pub struct Page {
    folder: PathBuf,
    root: PathBuf,
    /// Node, as it tells it.
    pub node: String,
}

/// Builds the page; an error without Node.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    let page = Page::prepare(root)?;
    let is_built = if args.force {
        page.build().map(|()| true)
    } else {
        page.build_if_changed()
    }?;
    if !is_built {
        eprintln!("ui/dist is what the sources make: nothing to build");
    }
    Ok(())
}

/// For commands that also work without the page: what keeps us from building it is said loudly, and
/// that is all. A page that does not build is an error.
pub fn build_or_leave_out(root: &Path) -> Result<()> {
    match Page::prepare(root) {
        Ok(page) => page.build_if_changed().map(|_| ()),
        Err(error) => {
            let instead = if root.join("ui/dist/index.html").is_file() {
                "what an earlier build left in ui/dist is used, and may be old"
            } else {
                "the gateway serves a note in its place"
            };
            eprintln!(
                "\n!!! THE PAGE IS LEFT OUT: {error:#}\n!!! {instead}; everything else works.\n"
            );
            Ok(())
        }
    }
}

impl Page {
    /// Finds Node and installs the modules when they are not what the lock file names.
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

    /// Builds unless `ui/dist` is what the inputs make. Whether it built.
    pub fn build_if_changed(&self) -> Result<bool> {
        if inputs::is_current(&self.root, &self.folder)? {
            return Ok(false);
        }
        self.build().map(|()| true)
    }

    fn build(&self) -> Result<()> {
        // Of what is there before the build: a file that changes meanwhile is built the next time.
        let inputs = inputs::digest(&self.root, &self.folder)?;
        self.npm(&["run", "build"])
            .context("the page does not build")?;
        inputs::write_stamp(&self.folder, &inputs)
    }

    /// Runs npm in the page's folder.
    pub fn npm(&self, arguments: &[&str]) -> Result<()> {
        let mut npm = Command::new("npm");
        run_command(npm.args(arguments).current_dir(&self.folder))
    }
}
