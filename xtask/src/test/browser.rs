//! Chromium and the Node modules of `tests/browser`, for the journeys through the page.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::apt;
use crate::process::{capture, find_program, run};

/// What browser tests need.
pub struct Browser {
    /// The browser itself.
    pub chromium: PathBuf,
    /// As it tells it.
    pub version: String,
    /// The tests, copied beside their `node_modules`, so that the working tree stays clean.
    pub folder: PathBuf,
}

/// Finds or installs Chromium, Node and the modules that `tests/package.json` names.
pub fn prepare(tests: &Path, folder: &Path) -> Result<Browser> {
    let chromium = if let Some(found) = find_chromium() {
        found
    } else {
        apt::install(&["chromium"])?;
        find_chromium().context("installed, and still no chromium")?
    };
    if find_program("npm").is_none() {
        apt::install(&["nodejs", "npm"])?;
    }
    copy(tests, folder)?;
    let locked = folder.join("package-lock.json").is_file();
    let mut npm = Command::new("npm");
    npm.arg(if locked { "ci" } else { "install" })
        .args(["--no-audit", "--no-fund"]);
    // The browser is Debian's: playwright must not fetch one of its own.
    run(npm
        .current_dir(folder)
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"))?;
    let version = capture(Command::new(&chromium).arg("--version"))?
        .trim()
        .to_owned();
    Ok(Browser {
        chromium,
        version,
        folder: folder.to_path_buf(),
    })
}

/// Whether `npm test` would run something.
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

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for entry in from.read_dir()? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if !entry.file_type()?.is_dir() {
            std::fs::copy(entry.path(), &target).with_context(|| target.display().to_string())?;
        } else if entry.file_name() != "node_modules" {
            copy(&entry.path(), &target)?;
        }
    }
    Ok(())
}
