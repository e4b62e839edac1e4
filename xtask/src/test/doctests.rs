//! Finds the crates that have doctests. nextest runs none, and an empty run costs a build.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use crate::walk;

/// Returns the names of the library crates with at least one example that is compiled or run.
pub fn packages(root: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for file in walk::files(&root.join("crates"), "rs")? {
        let path = walk::relative(root, &file);
        let Some((name, _)) = path.trim_start_matches("crates/").split_once("/src/") else {
            continue;
        };
        if name != "gatehouse" && has_doctest(&std::fs::read_to_string(&file)?) {
            found.insert(format!("gatehouse-{name}"));
        }
    }
    Ok(found)
}

fn has_doctest(text: &str) -> bool {
    let mut open = false;
    for line in text.lines().map(str::trim_start) {
        let doc = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"));
        let Some(info) = doc.and_then(|doc| doc.trim_start().strip_prefix("```")) else {
            continue;
        };
        let mut words = info.split(',').map(str::trim);
        let runs = ["", "rust", "no_run", "should_panic", "compile_fail"];
        if !open && words.all(|word| runs.contains(&word)) {
            return true;
        }
        open = !open;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_that_run() {
        assert!(has_doctest("/// ```\n/// let a = 1;\n/// ```\n"));
        assert!(has_doctest("//! ```rust,no_run\n"));
        assert!(!has_doctest("/// ```text\n/// a\n/// ```\n"));
        assert!(!has_doctest(
            "/// ```ignore\n/// a\n/// ```\nfn a() {}\n/// plain\n"
        ));
    }
}
