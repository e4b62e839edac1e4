//! Checks that relative links in Markdown documents lead to existing files.

use std::path::Path;

use anyhow::Result;

use super::{Findings, documents};

/// Checks every Markdown file in the tree.
pub fn check(root: &Path) -> Result<Findings> {
    let folder = |document: &Path| document.parent().unwrap_or(root).to_owned();
    documents::check(root, "relative links", folder, targets)
}

/// Returns the targets of inline links and reference definitions in a line.
fn targets(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect();
    let inline = prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next());
    let reference = prose
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "));
    let reference = reference.map(|(_, target)| target.trim());
    let files = inline.chain(reference).filter_map(file);
    files.map(str::to_owned).collect()
}

/// Returns the file that a link refers to, if it is in this tree.
fn file(target: &str) -> Option<&str> {
    let path = target
        .trim_matches(['<', '>'])
        .split('#')
        .next()
        .unwrap_or_default();
    let elsewhere = path.contains("://") || path.starts_with("mailto:");
    (!path.is_empty() && !elsewhere).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_targets_only() {
        let line = "See [a](docs/A.md#part) and [b](https://example.com/x) and [c](#here).";
        assert_eq!(targets(line), ["docs/A.md"]);
        assert_eq!(
            targets("![p](pic.svg \"title\") `[no](code.md)`"),
            ["pic.svg"]
        );
        assert_eq!(targets("[ref]: ../REF.md"), ["../REF.md"]);
    }

    #[test]
    fn a_dead_link_is_named() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.md"), "[x](b.md)\n[y](a.md)\n").unwrap();
        assert_eq!(check(root.path()).unwrap().wrong, ["a.md:1: no file b.md"]);
    }
}
