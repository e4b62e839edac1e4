//! Checks that every module of the crates says what it owns, and that its public items have a doc comment. The lint
//! `missing_docs` is not used: it also demands comments on fields and variants with clear names.

use std::path::Path;

use anyhow::{Context, Result};

use super::Findings;
use crate::walk;

/// The beginnings of lines that declare a public item of a module.
const ITEMS: [&str; 6] = [
    "pub fn ",
    "pub async fn ",
    "pub const fn ",
    "pub struct ",
    "pub enum ",
    "pub trait ",
];

/// Checks the sources of all crates in `crates/`, except files that contain only tests.
pub fn check(root: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    for file in walk::files(&root.join("crates"), "rs")? {
        let path = walk::relative(root, &file);
        if is_checked(&path) {
            let text = std::fs::read_to_string(&file).with_context(|| path.clone())?;
            findings.wrong.extend(undocumented(&path, &text));
        }
    }
    Ok(findings)
}

/// Returns whether a path is `crates/NAME/src/…` and not a file of unit tests.
fn is_checked(path: &str) -> bool {
    let is_source = path.split('/').nth(2) == Some("src");
    is_source && !path.ends_with("/tests.rs") && !path.ends_with("_tests.rs")
}

/// Finds a missing `//!` and public items without a doc comment. Relies on rustfmt: items of the module begin
/// in the first column, and items of inline modules and `impl` blocks do not.
fn undocumented(path: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if !text.starts_with("//!") {
        wrong.push(format!(
            "{path}:1: no `//!` line that says what the module owns"
        ));
    }
    let (mut is_documented, mut is_test) = (false, false);
    for (index, line) in text.lines().enumerate() {
        let is_item = ITEMS.iter().any(|start| line.starts_with(start));
        if is_item && !is_documented && !is_test {
            wrong.push(format!(
                "{path}:{}: public item without a doc comment",
                index + 1
            ));
        }
        if line.starts_with("///") {
            is_documented = true;
        } else if line.starts_with("#[cfg(test)]") {
            is_test = true;
        } else if !line.starts_with(['#', ' ', ')', '/']) {
            // A line that is neither an attribute (whose lines may be indented) nor a comment starts another item.
            (is_documented, is_test) = (false, false);
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_items_need_a_doc_comment_above_their_attributes() {
        let text = "//! Owns a.\n/// A.\n#[derive(\n    Clone,\n)]\npub struct A;\n\npub fn b() {\n    c();\n}\n\
                    pub(crate) fn c() {}\n/// D.\npub const fn d() {}\n#[must_use]\npub async fn e() {}\n";
        let expected =
            ["a.rs:8", "a.rs:15"].map(|it| format!("{it}: public item without a doc comment"));
        assert_eq!(undocumented("a.rs", text), expected);
    }

    #[test]
    fn items_of_tests_and_of_blocks_need_none() {
        let text = "//! Owns a.\n#[cfg(test)]\npub fn a() {}\nimpl B {\n    pub fn c() {}\n}\n";
        assert!(undocumented("a.rs", text).is_empty());
        let text = "//! Owns a.\n#[cfg(test)]\nmod tests;\npub trait B {}\n";
        assert_eq!(undocumented("a.rs", text).len(), 1);
    }

    #[test]
    fn files_begin_with_what_they_own() {
        let expected = ["a.rs:1: no `//!` line that says what the module owns"];
        assert_eq!(undocumented("a.rs", "use b;\n"), expected);
        assert!(undocumented("a.rs", "//! Owns a.\n").is_empty());
    }

    #[test]
    fn only_sources_of_crates_are_checked() {
        assert!(is_checked("crates/a/src/lib.rs"));
        assert!(is_checked("crates/a/src/b/contests.rs"));
        for path in [
            "crates/a/src/b/tests.rs",
            "crates/a/src/b_tests.rs",
            "crates/a/tests/it/b.rs",
            "crates/a/build.rs",
        ] {
            assert!(!is_checked(path), "{path}");
        }
    }
}
