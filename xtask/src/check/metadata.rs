//! The part of `cargo metadata` that the checks use.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process::{capture, cargo};

/// The workspace and everything it might build.
#[derive(Deserialize)]
pub struct Metadata {
    /// All packages, including third-party ones.
    pub packages: Vec<Package>,
    /// The package IDs of the workspace crates.
    pub workspace_members: Vec<String>,
    pub target_directory: PathBuf,
}

/// One package.
#[derive(Deserialize)]
pub struct Package {
    /// Cargo's package id.
    pub id: String,
    pub name: String,
    pub version: String,
    /// An SPDX expression.
    pub license: Option<String>,
    /// The dependencies listed in its manifest.
    pub dependencies: Vec<Dependency>,
}

/// A dependency in a manifest.
#[derive(Deserialize)]
pub struct Dependency {
    /// The crate's own name, even if it is renamed.
    pub name: String,
    /// `dev`, `build` or `None`.
    pub kind: Option<String>,
}

impl Metadata {
    /// Runs `cargo metadata`.
    pub fn load(root: &Path) -> Result<Self> {
        let text = capture(cargo(root).args(["metadata", "--format-version", "1"]))?;
        serde_json::from_str(&text).context("the output of cargo metadata is not as expected")
    }

    /// Returns the workspace crates.
    pub fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
    }
}
