//! `cargo xtask check`: project rules that the compiler cannot check. Builds nothing.

mod arrows;
mod dependencies;
mod deploy;
mod documented;
mod documents;
mod licences;
mod links;
mod literals;
mod metadata;
mod page_packages;
mod paths;
mod promises;
mod prose;
mod sources;
mod spelling;

use std::path::Path;

use anyhow::{Result, bail};

pub use metadata::Metadata;

/// The result of one check: errors and notes.
#[derive(Default)]
pub struct Findings {
    /// Errors. Each one fails the check.
    pub wrong: Vec<String>,
    /// Notes that are printed but do not fail the check.
    pub notes: Vec<String>,
}

/// Runs every check and prints the findings. Fails if any check found an error.
pub fn run(root: &Path) -> Result<()> {
    let metadata = Metadata::load(root)?;
    let policy = licences::Policy::load(root)?;
    let tree = dependencies::run_time(root)?;
    let results = [
        ("dependencies between crates", arrows::check(&metadata)),
        (
            "libraries limited to certain crates",
            arrows::check_libraries(&metadata),
        ),
        ("sources", sources::check(root)?),
        ("documented modules and items", documented::check(root)?),
        ("run-time crates", dependencies::check(&tree)),
        ("licenses", licences::check(&policy, &tree, &metadata)),
        ("npm packages", page_packages::check(root, &policy)?),
        ("links in documents", links::check(root)?),
        ("paths in documents", paths::check(root)?),
        ("metrics and versions in deploy", deploy::check(root)?),
        ("tests named in docs/SECURITY.md", promises::check(root)?),
        ("phrases that docs/STYLE.md rules out", prose::check(root)?),
        (
            "spelling",
            spelling::check(root, &metadata.target_directory)?,
        ),
    ];
    for (name, findings) in &results {
        println!(
            "{} {name}",
            if findings.wrong.is_empty() {
                "ok    "
            } else {
                "FAILED"
            }
        );
        for line in findings.wrong.iter().chain(&findings.notes) {
            println!("         {line}");
        }
    }
    let wrong: usize = results
        .iter()
        .map(|(_, findings)| findings.wrong.len())
        .sum();
    if wrong > 0 {
        bail!("cargo xtask check: {wrong} broken rule(s), listed above");
    }
    Ok(())
}
