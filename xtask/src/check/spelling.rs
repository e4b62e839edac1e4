//! Checks comments, documents and page texts for common misspellings, with codespell.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::Findings;
use crate::process::is_set;
use crate::python;
use crate::walk;

/// Words that codespell takes for mistakes: names of types, language codes, names in file formats.
const ACCEPTED: &str = "xtask/spelling.txt";
const REQUIREMENTS: &str = "xtask/requirements.txt";

/// Checks all texts for readers. Tests are skipped, because some contain misspelled words on
/// purpose.
pub fn check(root: &Path, target: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    let folder = target.join("check-venv");
    let python = match python::environment(&folder, &root.join(REQUIREMENTS)) {
        Ok(python) => python,
        Err(error) => {
            let line = format!("LEFT OUT, codespell cannot be installed: {error:#}");
            let is_ci = is_set("CI");
            let lines = if is_ci {
                &mut findings.wrong
            } else {
                &mut findings.notes
            };
            lines.push(line);
            return Ok(findings);
        }
    };
    let files = walk::all(root)?.into_iter().filter(|file| {
        let path = walk::relative(root, file);
        is_read_by_people(&path)
    });
    let output = Command::new(python.program)
        .args(["-m", "codespell_lib", "--ignore-words", ACCEPTED])
        .args(files)
        .current_dir(root)
        .output()?;
    let lines = String::from_utf8_lossy(&output.stdout);
    findings.wrong.extend(lines.lines().map(str::to_owned));
    if findings.wrong.is_empty() && !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        findings.wrong.push(format!("codespell failed: {error}"));
    }
    Ok(findings)
}

fn is_read_by_people(path: &str) -> bool {
    let is_test = path.contains("tests") || path.contains(".test.");
    let is_generated = path.contains("/generated/") || path.ends_with("GAUNTLET.md");
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    match extension {
        _ if is_test || is_generated => false,
        Some("rs" | "ts" | "svelte" | "md") => true,
        // codespell supports English only.
        Some("json") => path == "ui/messages/en.json",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_read() {
        for path in [
            "README.md",
            "crates/web/src/lib.rs",
            "ui/messages/en.json",
            "ui/src/App.svelte",
        ] {
            assert!(is_read_by_people(path), "{path}");
        }
        for path in [
            "Cargo.lock",
            "ui/messages/de.json",
            "docs/generated/openapi.json",
            "crates/web/tests/it/main.rs",
            "crates/agents/src/agent_tests.rs",
        ] {
            assert!(!is_read_by_people(path), "{path}");
        }
    }
}
