//! Checks the files in `deploy/` that repeat facts: the names of metrics and the version.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

use super::Findings;
use crate::walk;

/// Where metrics are used.
const QUERIES: [&str; 2] = [
    "deploy/prometheus/gatehouse.rules.yaml",
    "deploy/grafana/gatehouse.json",
];
/// The metric that Prometheus itself records.
const UP: &str = "up";
/// Suffixes that Prometheus adds to the name of a histogram.
const PARTS: [&str; 3] = ["_bucket", "_count", "_sum"];
/// Files that contain the version, with the text before it on its line.
const VERSIONS: [(&str, &str); 5] = [
    ("deploy/compose.yaml", "image: gatehouse:"),
    ("deploy/compose.postgres.yaml", "image: gatehouse:"),
    ("deploy/helm/gatehouse/Chart.yaml", "version: "),
    ("deploy/helm/gatehouse/Chart.yaml", "appVersion: "),
    // The SBOM of the web UI contains the version.
    ("ui/package.json", "\"version\": "),
];

/// Checks that every metric in a query is recorded by some crate, and that versions match the workspace's.
pub fn check(root: &Path) -> Result<Findings> {
    let mut findings = Findings::default();
    let sources = sources(root)?;
    let mut used = BTreeSet::new();
    for name in QUERIES {
        let text = read(root, name)?;
        used.extend(metrics(&text).map(str::to_owned));
    }
    for metric in &used {
        let base = PARTS.iter().find_map(|part| metric.strip_suffix(part));
        let is_known = [Some(metric.as_str()), base]
            .into_iter()
            .flatten()
            .any(|name| name == UP || sources.contains(&format!("\"{name}\"")));
        if !is_known {
            findings.wrong.push(format!("deploy: no metric {metric}"));
        }
    }
    let version = crate::release::version(root)?;
    for (name, before) in VERSIONS {
        let text = read(root, name)?;
        let found = text
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(before))
            .map(|found| found.trim_matches(['"', ',']));
        if found != Some(version.as_str()) {
            findings
                .wrong
                .push(format!("{name}: \"{before}\" is not followed by {version}"));
        }
    }
    findings.notes.push(format!("{} metrics", used.len()));
    Ok(findings)
}

fn read(root: &Path, name: &str) -> Result<String> {
    std::fs::read_to_string(root.join(name)).with_context(|| name.to_owned())
}

/// Returns the production code of all crates.
fn sources(root: &Path) -> Result<String> {
    let mut all = String::new();
    for file in walk::files(&root.join("crates"), "rs")? {
        let path = walk::relative(root, &file);
        if !path.contains("/tests/") {
            all.push_str(&read(root, &path)?);
        }
    }
    Ok(all)
}

/// Returns the metric names before a selector in braces.
fn metrics(text: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.match_indices('{').filter_map(move |(place, _)| {
        let before = text.get(..place)?;
        let start = before
            .char_indices()
            .rev()
            .take_while(|(_, character)| is_of_name(*character))
            .last()?
            .0;
        before
            .get(start..)
            .filter(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_before_selectors() {
        let text =
            "rate(a_total{b=\"c\"}[5m]) / sum(d_sum{e=~\"f\"}) {{ $labels.g }} \"${h}\" x{ }";
        assert_eq!(metrics(text).collect::<Vec<_>>(), ["a_total", "d_sum", "x"]);
    }
}
