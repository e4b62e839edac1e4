//! The lines of Markdown documents, and the files that they refer to.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Findings;
use crate::walk;

/// Checks that referenced files exist. `references` returns the references in a line of a Markdown document; fenced
/// blocks are skipped. A reference is relative to the folder that `base` returns for its document. `name` is the noun
/// for the references in the note with their number.
pub(super) fn check(
    root: &Path,
    name: &str,
    base: impl Fn(&Path) -> PathBuf,
    references: impl Fn(&str) -> Vec<String>,
) -> Result<Findings> {
    let mut findings = Findings::default();
    let mut count = 0_usize;
    for file in walk::files(root, "md")? {
        let document = walk::relative(root, &file);
        let text = std::fs::read_to_string(&file).with_context(|| document.clone())?;
        let base = base(&file);
        for (number, line) in unfenced_lines(&text) {
            for target in references(line) {
                count += 1;
                if !base.join(&target).exists() {
                    findings
                        .wrong
                        .push(format!("{document}:{number}: no file {target}"));
                }
            }
        }
    }
    findings.notes.push(format!("{count} {name}"));
    Ok(findings)
}

/// Returns the lines outside fenced blocks, with their numbers.
fn unfenced_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    let numbered = (1..).zip(text.lines());
    numbered.filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !is_fence && !fenced
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fenced_blocks_are_left_out() {
        let text = "a\n```sh\nb\n```\nc\n  ```\nd\n";
        let lines: Vec<_> = unfenced_lines(text).collect();
        assert_eq!(lines, [(1, "a"), (5, "c")]);
    }
}
