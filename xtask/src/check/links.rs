//! Checks that relative links in Markdown documents lead to existing files.

use std::path::Path;

use anyhow::{Context, Result};

use super::Findings;
use crate::walk;

/// Checks every Markdown file in the tree.
pub fn check(root: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    let mut count = 0_usize;
    for file in walk::files(root, "md")? {
        let path = walk::relative(root, &file);
        let text = std::fs::read_to_string(&file).with_context(|| path.clone())?;
        let folder = file.parent().unwrap_or(root);
        for (line, target) in targets(&text) {
            count += 1;
            if !folder.join(&target).exists() {
                findings
                    .wrong
                    .push(format!("{path}:{line}: no file {target}"));
            }
        }
    }
    findings.notes.push(format!("{count} relative links"));
    Ok(findings)
}

/// The targets of inline links and reference definitions, with their lines.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
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
            found.extend(files.map(|target| (index + 1, target.to_owned())));
        }
    }
    found
}

/// The file that a link refers to, if it is in this tree.
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
        let text = "See [a](docs/A.md#part) and [b](https://example.com/x) and [c](#here).\n\
                    ![p](pic.svg \"title\") `[no](code.md)`\n\
                    ```\n[no](fenced.md)\n```\n\
                    [ref]: ../REF.md\n";
        let expected = [(1, "docs/A.md"), (2, "pic.svg"), (6, "../REF.md")];
        assert_eq!(
            targets(text),
            expected.map(|(line, path)| (line, path.to_owned()))
        );
    }

    #[test]
    fn a_dead_link_is_named() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a.md"), "[x](b.md)\n[y](a.md)\n").unwrap();
        assert_eq!(check(root.path()).unwrap().wrong, ["a.md:1: no file b.md"]);
    }
}
