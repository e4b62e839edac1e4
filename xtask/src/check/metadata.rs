//! The part of `cargo metadata` that the checks read.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process::{capture, cargo};

/// The workspace and everything it might build.
#[derive(Deserialize)]
pub struct Metadata {
    /// Ours and others'.
    pub packages: Vec<Package>,
    /// The ids of ours.
    pub workspace_members: Vec<String>,
    /// Where cargo builds.
    pub target_directory: PathBuf,
}

/// One crate.
#[derive(Deserialize)]
pub struct Package {
    /// cargo's identifier.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// An SPDX expression.
    pub license: Option<String>,
    /// What its manifest names.
    pub dependencies: Vec<Dependency>,
}

/// One line of a manifest's dependencies.
#[derive(Deserialize)]
pub struct Dependency {
    /// The crate's own name, also when it is renamed.
    pub name: String,
    /// `dev`, `build`, or nothing.
    pub kind: Option<String>,
}

impl Metadata {
    /// Asks cargo.
    pub fn load(root: &Path) -> Result<Self> {
        let text = capture(cargo(root).args(["metadata", "--format-version", "1"]))?;
        serde_json::from_str(&text).context("cargo metadata is not as expected")
    }

    /// Our own crates.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
    }
}
