//! Determines what a change can break: the crates that depend on changed files, and whether the page is affected.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::check::Metadata;
use crate::process::capture;

/// The binary crate. The generated files, the gauntlet and the browser tests run it.
pub const BINARY: &str = "gatehouse";
/// Documents that the tests of a crate below the server read.
const READ_BY: [(&str, &str); 3] = [
    ("docs/API-voice.md", "gatehouse-voice"),
    ("docs/INJECTIONS.md", "gatehouse-webhooks"),
    ("docs/vault-format.md", "gatehouse-vault"),
];

/// The parts of the test command to run.
#[derive(Debug, PartialEq, Eq)]
pub struct Affected {
    /// The crates whose tests can break. `None` is all crates.
    crates: Option<BTreeSet<String>>,
    page: bool,
    browser: bool,
}

impl Affected {
    pub const fn everything() -> Self {
        Self {
            crates: None,
            page: true,
            browser: true,
        }
    }

    /// Compares the working tree, including untracked files, with the commit at which the branch
    /// left `base`.
    pub fn since(root: &Path, base: &str, metadata: &Metadata) -> Result<Self> {
        let git = |arguments: &[&str]| {
            capture(Command::new("git").args(arguments).current_dir(root))
                .with_context(|| format!("git {}", arguments.join(" ")))
        };
        let fork = git(&["merge-base", base, "HEAD"])?;
        let tracked = git(&["diff", "--name-only", "--no-renames", fork.trim()])?;
        let untracked = git(&["ls-files", "--others", "--exclude-standard"])?;
        Ok(Self::by(tracked.lines().chain(untracked.lines()), metadata))
    }

    fn by<'p>(paths: impl Iterator<Item = &'p str>, metadata: &Metadata) -> Self {
        let mut changed = BTreeSet::new();
        let (mut page, mut browser) = (false, false);
        for path in paths {
            match path.split('/').collect::<Vec<_>>()[..] {
                // The binary's tests run the commands in these documents.
                ["crates", BINARY, ..]
                | ["docs", "generated", ..]
                | ["README.md" | "CONTRIBUTING.md" | "SECURITY.md"] => {
                    changed.insert(BINARY.to_owned())
                }
                ["crates", name, ..] => changed.insert(format!("gatehouse-{name}")),
                ["bench", ..] => changed.insert("gatehouse-bench".to_owned()),
                ["xtask", ..] => changed.insert("xtask".to_owned()),
                ["ui", ..] => {
                    page = true;
                    // The server embeds the built page.
                    changed.insert("gatehouse-web".to_owned())
                }
                ["tests", "browser", ..] => {
                    browser = true;
                    false
                }
                ["docs", ..] | ["CHANGELOG.md"] => {
                    let readers = READ_BY.iter().filter(|(document, _)| *document == path);
                    changed.extend(readers.map(|(_, name)| (*name).to_owned()));
                    // The server embeds the manual.
                    changed.insert("gatehouse-web".to_owned())
                }
                // Only the repository rules read this file.
                ["LICENSE"] => false,
                // A change to a manifest, the lock file, tool settings or test data can break any
                // test.
                _ => return Self::everything(),
            };
        }
        let crates = dependents(changed, metadata);
        Self {
            browser: page || browser || crates.contains(BINARY),
            crates: Some(crates),
            page,
        }
    }

    /// Returns whether tests of this crate can break.
    pub fn has(&self, name: &str) -> bool {
        self.crates
            .as_ref()
            .is_none_or(|crates| crates.contains(name))
    }

    pub fn has_any_crate(&self) -> bool {
        self.crates.as_ref().is_none_or(|crates| !crates.is_empty())
    }

    pub const fn has_page(&self) -> bool {
        self.page
    }

    pub const fn has_browser(&self) -> bool {
        self.browser
    }

    /// Returns the nextest filter for these crates. `None` runs all tests.
    pub fn filter(&self) -> Option<String> {
        let crates = self.crates.as_ref()?;
        let packages = crates.iter().map(|name| format!("package(={name})"));
        Some(packages.collect::<Vec<_>>().join(" + "))
    }
}

/// Adds every workspace crate that depends on these directly or indirectly, including dependencies
/// for tests only.
fn dependents(mut changed: BTreeSet<String>, metadata: &Metadata) -> BTreeSet<String> {
    loop {
        let more: Vec<String> = metadata
            .members()
            .filter(|member| !changed.contains(&member.name))
            .filter(|member| {
                let mut used = member.dependencies.iter();
                used.any(|used| changed.contains(&used.name))
            })
            .map(|member| member.name.clone())
            .collect();
        if more.is_empty() {
            return changed;
        }
        changed.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk;
    use serde_json::json;

    fn metadata_of() -> Metadata {
        let package = |name: &str, uses: &[(&str, Option<&str>)]| {
            let dependencies: Vec<_> = uses
                .iter()
                .map(|(name, kind)| json!({ "name": name, "kind": kind }))
                .collect();
            json!({
                "id": name, "name": name, "version": "0.1.0", "license": null,
                "dependencies": dependencies,
            })
        };
        let packages = [
            package("gatehouse-store", &[]),
            package("gatehouse-audio", &[]),
            package("gatehouse-web", &[("gatehouse-store", None)]),
            package("gatehouse-voice", &[("gatehouse-audio", None)]),
            package(BINARY, &[("gatehouse-web", None)]),
            package("gatehouse-testkit", &[("gatehouse-store", Some("dev"))]),
            package("xtask", &[]),
        ];
        let members: Vec<_> = packages
            .iter()
            .map(|package| package["id"].clone())
            .collect();
        serde_json::from_value(json!({
            "packages": packages, "workspace_members": members, "target_directory": "target",
        }))
        .unwrap()
    }

    fn by(paths: &[&str]) -> Affected {
        Affected::by(paths.iter().copied(), &metadata_of())
    }

    #[test]
    fn a_crate_affects_everything_above_it() {
        let affected = by(&["crates/store/src/lib.rs"]);
        for name in [
            "gatehouse-store",
            "gatehouse-web",
            BINARY,
            "gatehouse-testkit",
        ] {
            assert!(affected.has(name), "{name}");
        }
        assert!(!affected.has("gatehouse-audio") && !affected.has("xtask"));
        assert!(affected.has_browser() && !affected.has_page());
        let affected = by(&["crates/audio/src/lib.rs"]);
        let filter = affected.filter().unwrap();
        assert_eq!(
            filter,
            "package(=gatehouse-audio) + package(=gatehouse-voice)"
        );
        assert!(!affected.has_browser());
    }

    #[test]
    fn documents_affect_the_crates_that_read_them() {
        for path in ["docs/API.md", "CHANGELOG.md"] {
            let affected = by(&[path]);
            assert!(
                affected.has("gatehouse-web") && affected.has(BINARY),
                "{path}"
            );
            assert!(!affected.has("gatehouse-voice"), "{path}");
        }
        for (path, name) in READ_BY {
            assert!(by(&[path]).has(name), "{path}");
        }
        let affected = by(&["README.md"]);
        assert!(affected.has(BINARY) && !affected.has("gatehouse-web"));
        assert!(!by(&["LICENSE"]).has_any_crate());
    }

    #[test]
    fn every_document_that_a_crate_reads_is_known() {
        let root = crate::process::root().unwrap();
        let mut found = BTreeSet::new();
        for file in walk::files(&root.join("crates"), "rs").unwrap() {
            let path = walk::relative(&root, &file);
            let owner = format!("gatehouse-{}", path.split('/').nth(1).unwrap());
            let text = std::fs::read_to_string(&file).unwrap();
            let read = text.split("include_str!(\"").skip(1);
            let read = read.filter_map(|rest| rest.split('"').next()?.split_once("../docs/"));
            found.extend(read.map(|(_, document)| (format!("docs/{document}"), owner.clone())));
        }
        let known = READ_BY.map(|(document, name)| (document.to_owned(), name.to_owned()));
        assert_eq!(found, BTreeSet::from(known));
    }

    #[test]
    fn the_page_affects_the_server() {
        let affected = by(&["ui/src/app.ts"]);
        assert!(affected.has_page() && affected.has_browser() && affected.has("gatehouse-web"));
        assert!(by(&["docs/generated/openapi.json"]).has(BINARY));
    }

    #[test]
    fn an_unknown_file_affects_everything() {
        for path in ["Cargo.lock", ".cargo/config.toml", "tests/gauntlet/main.py"] {
            assert_eq!(by(&["docs/API.md", path]), Affected::everything(), "{path}");
        }
        assert_eq!(by(&[]).filter().as_deref(), Some(""));
    }
}
