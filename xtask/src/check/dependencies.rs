//! Counts the third-party crates in the shipped binary.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

use super::Findings;
use crate::process::{capture, cargo};

/// The maximum number of run-time crates, without procedural macros and their dependencies. Raise it only with a
/// decision recorded in `docs/decisions/`.
const CEILING: usize = 427;

/// A crate's name and version.
pub type Crate = (String, String);

/// The third-party crates of the binary.
pub struct RunTime {
    /// The crates that are linked into the binary.
    pub linked: BTreeSet<Crate>,
    /// The linked crates, and the procedural macros that generate part of the binary.
    pub with_macros: BTreeSet<Crate>,
}

/// Runs `cargo tree`, which evaluates the enabled features. `cargo metadata` does not, so its graph contains crates
/// that are never built.
pub fn run_time(root: &Path) -> Result<RunTime> {
    let tree = |edges: &str| -> Result<BTreeSet<Crate>> {
        let text = capture(cargo(root).args([
            "tree",
            "--package=gatehouse",
            "--target=x86_64-unknown-linux-gnu",
            "--prefix=none",
            "--format={p}",
            edges,
        ]))?;
        text.lines()
            .filter(|line| !line.is_empty())
            .map(parse)
            .filter_map(Result::transpose)
            .collect()
    };
    Ok(RunTime {
        linked: tree("--edges=normal,no-proc-macro")?,
        with_macros: tree("--edges=normal")?,
    })
}

/// Parses a line `name v1.2.3 …`. Returns `None` for a workspace crate, whose line ends with its
/// path.
fn parse(line: &str) -> Result<Option<Crate>> {
    let mut words = line.split(' ');
    let (name, version) = (
        words.next(),
        words.next().and_then(|word| word.strip_prefix('v')),
    );
    let (name, version) = name
        .zip(version)
        .with_context(|| format!("cargo tree printed `{line}`"))?;
    let ours = words.any(|word| word.starts_with("(/"));
    Ok((!ours).then(|| (name.to_owned(), version.to_owned())))
}

/// Compares the number of crates with the limit.
pub fn check(tree: &RunTime) -> Findings {
    let (linked, with_macros) = (tree.linked.len(), tree.with_macros.len());
    let mut findings = Findings::default();
    if linked > CEILING {
        let decision = "remove one, or raise the ceiling with a decision in docs/decisions/";
        findings.wrong.push(format!(
            "{linked} crates, the ceiling is {CEILING}: {decision}"
        ));
    }
    findings.notes.push(format!(
        "{linked} linked into the binary (ceiling {CEILING}), \
         {with_macros} with procedural macros; x86-64 Linux, default features"
    ));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_tree() {
        let crate_of = |line| parse(line).unwrap();
        assert_eq!(
            crate_of("serde v1.0.2"),
            Some(("serde".into(), "1.0.2".into()))
        );
        assert_eq!(
            crate_of("a v1.0.0-rc.1 (proc-macro)"),
            Some(("a".into(), "1.0.0-rc.1".into()))
        );
        assert_eq!(crate_of("gatehouse v0.1.0 (/src/crates/gatehouse)"), None);
        assert!(parse("nonsense").is_err());
    }

    #[test]
    fn the_ceiling_and_one_past_it() {
        let tree = |count: usize| RunTime {
            linked: (0..count)
                .map(|number| ("a".into(), number.to_string()))
                .collect(),
            with_macros: BTreeSet::new(),
        };
        assert!(check(&tree(CEILING)).wrong.is_empty());
        assert_eq!(check(&tree(CEILING + 1)).wrong.len(), 1);
    }
}
