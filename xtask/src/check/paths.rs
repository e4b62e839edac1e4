//! Checks that paths in the code spans of Markdown documents exist: those that begin with a folder of the workspace, such
//! as `docs/API.md`, and those that begin with a crate, such as `auth/src/check_auth.rs`.

use std::path::Path;

use anyhow::Result;

use super::{Findings, documents};

/// The folders of the workspace.
const FOLDERS: [&str; 8] = [
    "bench", "crates", "deploy", "docs", "fuzz", "tests", "ui", "xtask",
];
/// A folder that exists only after a build.
const BUILT: &str = "ui/dist";
/// The example file in the documents about adding a channel or a voice provider.
const EXAMPLE: &str = "/pager.rs";

/// Checks every Markdown file in the tree.
pub fn check(root: &Path) -> Result<Findings> {
    documents::check(root, "paths", |_| root.to_owned(), |line| paths(root, line))
}

/// Returns the paths in the code spans of a line, relative to the root.
fn paths(root: &Path, line: &str) -> Vec<String> {
    let spans = line.split('`').skip(1).step_by(2);
    spans.filter_map(|span| path(root, span)).collect()
}

/// Returns the path that a code span contains, relative to the root, if it contains one.
fn path(root: &Path, span: &str) -> Option<String> {
    let (first, rest) = span.split_once('/')?;
    let is_path = span
        .chars()
        .all(|it| it.is_ascii_alphanumeric() || "._-/".contains(it));
    if !is_path || span.starts_with(BUILT) || span.ends_with(EXAMPLE) {
        return None;
    }
    if FOLDERS.contains(&first) {
        return Some(span.to_owned());
    }
    let is_in_crate = matches!(rest.split('/').next(), Some("src" | "tests"));
    let is_crate = root.join("crates").join(first).is_dir();
    (is_in_crate && is_crate).then(|| format!("crates/{span}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_to_no_file_is_named() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("crates/auth/src");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.rs"), "").unwrap();
        let text = "`auth/src/a.rs`, not `auth/src/b.rs`\n`crates/auth/src/`, not `docs/c.md`\n";
        std::fs::write(root.path().join("a.md"), text).unwrap();
        assert_eq!(
            check(root.path()).unwrap().wrong,
            [
                "a.md:1: no file crates/auth/src/b.rs",
                "a.md:2: no file docs/c.md"
            ]
        );
    }

    #[test]
    fn other_code_is_no_path() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("crates/auth")).unwrap();
        for span in [
            "docs",
            "docs/NAME of it.md",
            "docs/<name>.md",
            "auth/callback",
            "other/src/a.rs",
            "ui/dist/index.html",
            "crates/voice/src/tts/pager.rs",
        ] {
            assert_eq!(path(root.path(), span), None, "{span}");
        }
        assert!(paths(root.path(), "docs/c.md").is_empty());
    }
}
