//! The cargo commands that make packages, and a reader of their output. The version of each is
//! fixed.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::{cargo, is_executable, run};

const FOLDER: &str = "target/dist-tools";
/// Reads the list that cargo-auditable embeds.
const READER: &str = "rust-audit-info";
const TOOLS: [(&str, &str); 5] = [
    ("cargo-auditable", "0.7.7"),
    ("cargo-cyclonedx", "0.5.9"),
    ("cargo-deb", "3.8.0"),
    ("cargo-generate-rpm", "0.21.1"),
    (READER, "0.5.4"),
];

/// The folder with the installed tools.
pub struct Tools(PathBuf);

impl Tools {
    /// Installs the missing tools.
    pub fn install(root: &Path) -> Result<Self> {
        let folder = root.join(FOLDER);
        let tools = Self(folder.join("bin"));
        for (name, version) in TOOLS {
            if !is_executable(&tools.0.join(name)) {
                let mut install = cargo(root);
                install.args(["install", "--locked", "--version", version, "--root"]);
                run(install.arg(&folder).arg(name))?;
            }
        }
        Ok(tools)
    }

    /// Returns a tool's command. Like cargo, passes the tool's own name as the first argument.
    pub fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.0.join(format!("cargo-{name}")));
        command.arg(name);
        command
    }

    /// Returns the program that prints the list of dependencies in a binary, as JSON.
    pub fn reader(&self) -> Command {
        Command::new(self.0.join(READER))
    }

    /// Returns PATH with the tools first, for cargo.
    pub fn path(&self) -> Result<std::ffi::OsString> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.0.clone()).chain(std::env::split_paths(&path));
        std::env::join_paths(folders).context("the path of the tools contains a colon")
    }
}
