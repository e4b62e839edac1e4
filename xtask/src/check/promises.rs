//! Checks that each promise in docs/SECURITY.md names an existing test: a file below `crates/` and a function
//! in it.

use std::path::Path;

use anyhow::{Context, Result};

use super::Findings;

const DOCUMENT: &str = "docs/SECURITY.md";

/// Checks every pair of a file and a test in the document.
pub fn check(root: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    let text = std::fs::read_to_string(root.join(DOCUMENT)).context(DOCUMENT)?;
    let mut count = 0_usize;
    for (line, file, test) in promises(&text) {
        count += 1;
        let source = std::fs::read_to_string(root.join("crates").join(file)).unwrap_or_default();
        if !source.contains(&format!("fn {test}(")) {
            let wrong = format!("{DOCUMENT}:{line}: no test {test} in crates/{file}");
            findings.wrong.push(wrong);
        }
    }
    if count == 0 {
        findings.wrong.push(format!("{DOCUMENT} names no test"));
    }
    findings.notes.push(format!("{count} tests"));
    Ok(findings)
}

/// Returns the line, file and test of each promise: two code spans separated by a space. The first
/// span is a Rust file.
fn promises(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    text.lines().enumerate().flat_map(|(index, line)| {
        let pieces: Vec<&str> = line.split('`').collect();
        let named: Vec<_> = pieces
            .windows(3)
            .filter(|three| matches!(three, [file, " ", _] if is_rust_file(file)))
            .filter_map(|three| Some((index + 1, *three.first()?, *three.get(2)?)))
            .collect();
        named
    })
}

fn is_rust_file(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "rs")
}

#[cfg(test)]
mod tests {
    use super::promises;

    #[test]
    fn pairs_are_found_and_other_code_is_not() {
        let text =
            "| a | `web/tests/it/x.rs` `it_holds`<br>`y.rs` `so_does_this` |\n`z.rs`, `alone`";
        let found: Vec<_> = promises(text).collect();
        assert_eq!(
            found,
            [
                (1, "web/tests/it/x.rs", "it_holds"),
                (1, "y.rs", "so_does_this")
            ]
        );
    }
}
