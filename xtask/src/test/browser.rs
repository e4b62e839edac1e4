//! Chromium and the Node modules of `tests/browser`, for the browser tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::node;
use super::report::Trouble;
use crate::apt;
use crate::process::{capture, find_program};

/// The report that `playwright.config.ts` requests.
const RESULTS: &str = "test-results/results.json";
/// Chromium's headless shell: the program and its Debian package.
const SHELL: &str = "chromium-headless-shell";

/// The prepared environment of the browser tests.
pub struct Browser {
    pub chromium: PathBuf,
    /// The output of `--version`.
    pub version: String,
    /// The copied tests, next to their `node_modules`. The copy keeps the working tree clean.
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

/// Finds or installs Chromium's headless shell. It has Chromium's engine without the user interface, which saves about
/// a third of the processor time.
pub fn shell() -> Result<PathBuf> {
    if let Some(found) = find_program(SHELL) {
        return Ok(found);
    }
    apt::install(&[SHELL])?;
    find_program(SHELL).context("the headless shell was installed but not found")
}

/// Returns whether `npm test` would run any test.
pub fn has_tests(folder: &Path) -> bool {
    std::fs::read(folder.join("package.json"))
        .ok()
        .and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok())
        .is_some_and(|package| package.pointer("/scripts/test").is_some())
}

/// The parts of Playwright's JSON report that name a test and its errors.
#[derive(Deserialize)]
struct Suite {
    #[serde(default)]
    specs: Vec<Spec>,
    #[serde(default)]
    suites: Vec<Suite>,
}

#[derive(Deserialize)]
struct Spec {
    title: String,
    file: String,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    status: String,
    results: Vec<Attempt>,
}

#[derive(Deserialize)]
struct Attempt {
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    message: Option<String>,
    location: Option<Location>,
}

#[derive(Deserialize)]
struct Location {
    line: u32,
}

/// Returns the tests of the run in `folder` that did not pass at their first attempt.
pub fn troubles(folder: &Path) -> Result<Vec<Trouble>> {
    let text = std::fs::read(folder.join(RESULTS)).context(RESULTS)?;
    let results = serde_json::from_slice(&text).context(RESULTS)?;
    let mut found = Vec::new();
    collect(&results, &mut found);
    Ok(found)
}

fn collect(suite: &Suite, found: &mut Vec<Trouble>) {
    for spec in &suite.specs {
        for test in &spec.tests {
            let is_flaky = test.status == "flaky";
            if !is_flaky && test.status != "unexpected" {
                continue;
            }
            let error = test
                .results
                .iter()
                .find_map(|attempt| attempt.error.as_ref());
            found.push(Trouble {
                is_flaky,
                name: format!("{}: {}", spec.file, spec.title),
                error: error.map(lines).unwrap_or_default(),
            });
        }
    }
    for inner in &suite.suites {
        collect(inner, found);
    }
}

fn lines(error: &Failure) -> Vec<String> {
    let place = error.location.as_ref();
    let place = place.map(|place| format!("at line {}", place.line));
    let message = error.message.as_deref().unwrap_or_default().lines();
    place
        .into_iter()
        .chain(message.map(str::to_owned))
        .collect()
}

fn find_chromium() -> Option<PathBuf> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find_map(find_program)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn tells_why_a_test_did_not_pass_at_its_first_attempt() {
        let failed =
            json!({"error": {"message": "Expected: 1\n\nReceived: 0", "location": {"line": 81}}});
        let spec = |title: &str, status: &str, first: &Value| json!({"title": title, "file": "a.spec.ts", "tests": [{"status": status, "results": [first, {}]}]});
        let results = json!({"suites": [{
            "specs": [spec("one", "expected", &json!({})), spec("two", "flaky", &failed)],
            "suites": [{"specs": [spec("three", "unexpected", &failed)]}],
        }]});
        let mut found = Vec::new();
        collect(&serde_json::from_value(results).unwrap(), &mut found);
        let expected = [(true, "two"), (false, "three")].map(|(is_flaky, title)| Trouble {
            is_flaky,
            name: format!("a.spec.ts: {title}"),
            error: ["at line 81", "Expected: 1", "", "Received: 0"]
                .map(str::to_owned)
                .to_vec(),
        });
        assert_eq!(found, expected);
    }
}
