//! Chromium and the Node modules of `tests/browser`, for the browser tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{apt, node};
use crate::process::{capture, find_program};

/// The prepared environment of the browser tests.
pub struct Browser {
    /// The path of Chromium.
    pub chromium: PathBuf,
    /// The output of `--version`.
    pub version: String,
    /// The tests, copied next to their `node_modules`, so that the working tree stays clean.
    pub folder: PathBuf,
}

/// Finds or installs Chromium, Node and the modules in `tests/package.json`.
pub fn prepare(tests: &Path, folder: &Path) -> Result<Browser> {
    let chromium = if let Some(found) = find_chromium() {
        found
    } else {
        apt::install(&["chromium"])?;
        find_chromium().context("Chromium was installed but not found")?
    };
    node::install(tests, folder)?;
    let version = capture(Command::new(&chromium).arg("--version"))?
        .trim()
        .to_owned();
    Ok(Browser {
        chromium,
        version,
        folder: folder.to_path_buf(),
    })
}

/// Returns whether `npm test` would run any test.
pub fn has_tests(folder: &Path) -> bool {
    std::fs::read(folder.join("package.json"))
        .ok()
        .and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok())
        .is_some_and(|package| package.pointer("/scripts/test").is_some())
}

fn find_chromium() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find_map(find_program)
}
