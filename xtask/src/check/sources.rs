//! Rules for source files: their length and names. Rust files must also not read the environment.

use std::path::Path;

use anyhow::{Context, Result};

use super::Findings;
use crate::walk;

/// The maximum number of lines, including tests in the file. Longer files fail the check.
const MOST_LINES: usize = 500;
/// The number of lines above which a file is reported.
const MANY_LINES: usize = 300;
/// Names that do not describe the content.
const EMPTY_NAMES: [&str; 6] = ["common", "core", "util", "utils", "helpers", "misc"];
/// Calls that read or change the environment.
const ENVIRONMENT: [&str; 3] = ["env::var", "env::set_var", "env::remove_var"];
/// Files in which these calls are allowed: the settings crate, code that never ships, and tests, which are configured
/// through the environment.
const MAY_READ: [&str; 10] = [
    "crates/config/",
    "crates/testkit/",
    "crates/doubles/",
    "xtask/",
    "bench/",
    "fuzz/",
    "/tests/",
    "/tests.rs",
    // Cargo passes build parameters in the environment.
    "/build.rs",
    // This file is part of the feature `testing`, which only dev-dependencies enable.
    "crates/store/src/testing.rs",
];

/// The folders of the page and its browser tests, and the extensions of handwritten files.
const PAGE_FOLDERS: [&str; 3] = ["ui/src", "ui/scripts", "tests/browser"];
const PAGE_EXTENSIONS: [&str; 5] = ["ts", "svelte", "css", "js", "mjs"];
/// Generated files may have any length.
const GENERATED: [&str; 2] = ["ui/src/client/generated/", "ui/src/paraglide/"];

/// Checks all Rust files and the sources of the page.
pub fn check(root: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    for folder in ["crates", "xtask", "bench", "fuzz"] {
        for file in walk::files(&root.join(folder), "rs")? {
            let path = walk::relative(root, &file);
            let text = std::fs::read_to_string(&file).with_context(|| path.clone())?;
            check_length(&path, text.lines().count(), &mut findings);
            findings.wrong.extend(empty_names(&path, &text));
            if !MAY_READ.iter().any(|part| path.contains(part)) {
                findings.wrong.extend(environment_reads(&path, &text));
            }
        }
    }
    check_page(root, &mut findings)?;
    Ok(findings)
}

fn check_page(root: &Path, findings: &mut Findings) -> Result<()> {
    for folder in PAGE_FOLDERS {
        for file in walk::all(&root.join(folder))? {
            let path = walk::relative(root, &file);
            let extension = file
                .extension()
                .and_then(|it| it.to_str())
                .unwrap_or_default();
            let is_generated = GENERATED.iter().any(|folder| path.starts_with(folder));
            if is_generated || !PAGE_EXTENSIONS.contains(&extension) {
                continue;
            }
            let text = std::fs::read_to_string(&file).with_context(|| path.clone())?;
            check_length(&path, text.lines().count(), findings);
            findings.wrong.extend(empty_names(&path, ""));
        }
    }
    Ok(())
}

fn check_length(path: &str, lines: usize, findings: &mut Findings) {
    if lines > MOST_LINES {
        findings.wrong.push(format!(
            "{path}: {lines} lines, more than {MOST_LINES}: split it"
        ));
    } else if lines > MANY_LINES {
        findings.notes.push(format!(
            "{path}: {lines} lines, more than {MANY_LINES}: consider splitting it"
        ));
    }
}

/// Finds meaningless names of folders, files and inline modules.
fn empty_names(path: &str, text: &str) -> Vec<String> {
    let files = path
        .split('/')
        // `name.test.ts` counts as `name`.
        .map(|part| part.split('.').next().unwrap_or(part))
        .map(|part| part.strip_prefix("gatehouse-").unwrap_or(part));
    let modules = text.lines().filter_map(|line| {
        let line = line.trim();
        let line = line.strip_prefix("pub").map_or(line, |rest| {
            rest.strip_prefix('(')
                .and_then(|rest| rest.split_once(')'))
                .map_or(rest, |(_, it)| it)
        });
        Some(
            line.trim_start()
                .strip_prefix("mod ")?
                .trim_end_matches([';', '{', ' ']),
        )
    });
    let mut wrong: Vec<String> = files
        .chain(modules)
        .filter(|name| EMPTY_NAMES.contains(&name.to_ascii_lowercase().as_str()))
        .map(|name| format!("{path}: `{name}` does not describe its contents"))
        .collect();
    wrong.dedup();
    wrong
}

/// Finds reads of the environment before the file's tests.
fn environment_reads(path: &str, text: &str) -> Vec<String> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .filter(|(_, line)| ENVIRONMENT.iter().any(|call| line.contains(call)))
        .map(|(index, _)| {
            format!(
                "{path}:{}: only crates/config reads the environment",
                index + 1
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_at_the_limit_and_one_past_it() {
        let found = |lines| {
            let mut findings = Findings::default();
            check_length("a.rs", lines, &mut findings);
            (findings.wrong.len(), findings.notes.len())
        };
        assert_eq!(
            [found(300), found(301), found(500), found(501)],
            [(0, 0), (0, 1), (0, 1), (1, 0)]
        );
    }

    #[test]
    fn empty_names_of_files_folders_and_modules() {
        assert_eq!(empty_names("crates/auth/src/util.rs", "").len(), 1);
        assert_eq!(empty_names("crates/gatehouse-core/src/lib.rs", "").len(), 1);
        assert_eq!(
            empty_names("crates/a/src/b.rs", "    pub(crate) mod helpers {").len(),
            1
        );
        assert_eq!(
            empty_names("crates/a/src/b.rs", "mod misc;\npub mod core;").len(),
            2
        );
        assert_eq!(empty_names("ui/src/utils/time.test.ts", "").len(), 1);
        assert_eq!(empty_names("ui/src/parts/helpers.svelte.ts", "").len(), 1);
        assert_eq!(empty_names("tests/browser/Helpers.ts", "").len(), 1);
        assert!(empty_names("crates/a/src/utility.rs", "use core::fmt;\nmod scores;").is_empty());
    }

    #[test]
    fn environment_is_read_in_one_crate() {
        let text = "// env::var\nlet a = std::env::var(\"A\");\n#[cfg(test)]\nstd::env::vars();\n";
        let expected = ["a.rs:2: only crates/config reads the environment"];
        assert_eq!(environment_reads("a.rs", text), expected);
    }
}
