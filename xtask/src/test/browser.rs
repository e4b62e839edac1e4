//! Chromium and the Node modules of `tests/browser`, for the browser tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{apt, node};
use crate::process::{capture, find_program};

/// The report that `playwright.config.ts` asks for.
const RESULTS: &str = "test-results/results.json";

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
        .and_then(|text| serde_json::from_slice::<Value>(&text).ok())
        .is_some_and(|package| package.pointer("/scripts/test").is_some())
}

/// The tests that passed on their second attempt only, as "file: title", from the run in `folder`.
pub fn flaky(folder: &Path) -> Result<Vec<String>> {
    let text = std::fs::read(folder.join(RESULTS)).context(RESULTS)?;
    let results = serde_json::from_slice(&text).context(RESULTS)?;
    let mut names = Vec::new();
    collect_flaky(&results, &mut names);
    Ok(names)
}

/// Walks the nested suites of Playwright's JSON report.
fn collect_flaky(suite: &Value, names: &mut Vec<String>) {
    let list = |key: &str| suite[key].as_array().into_iter().flatten();
    for spec in list("specs") {
        let mut tests = spec["tests"].as_array().into_iter().flatten();
        if tests.any(|test| test["status"] == "flaky") {
            let text = |key: &str| spec[key].as_str().unwrap_or_default();
            names.push(format!("{}: {}", text("file"), text("title")));
        }
    }
    for inner in list("suites") {
        collect_flaky(inner, names);
    }
}

fn find_chromium() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find_map(find_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_tests_that_needed_a_second_attempt() {
        let spec = |title: &str, status: &str| serde_json::json!({"title": title, "file": "a.spec.ts", "tests": [{"status": status}]});
        let results = serde_json::json!({"suites": [{
            "specs": [spec("one", "expected"), spec("two", "flaky")],
            "suites": [{"specs": [spec("three", "flaky"), spec("four", "unexpected")]}],
        }]});
        let mut names = Vec::new();
        collect_flaky(&results, &mut names);
        assert_eq!(names, ["a.spec.ts: two", "a.spec.ts: three"]);
    }
}
