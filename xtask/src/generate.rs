//! `cargo xtask gen`: writes the files in `docs/generated` with the gateway binary. Also writes the page's client,
//! which is generated from two of these files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::page::Page;
use crate::process::{cargo, run as run_command};

/// The folder of the generated files.
const FOLDER: &str = "docs/generated";

/// The arguments of `gen`.
#[derive(clap::Args)]
pub struct Args {
    /// Write nothing; fail when a file is out of date
    #[arg(long)]
    check: bool,
}

/// Builds the binary and writes the files, then the page's client if Node is available.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    let mut binary = cargo(root);
    binary.args(["run", "--quiet", "--package", "gatehouse", "--"]);
    if args.check {
        check(root, binary)?;
    } else {
        write(root, binary)?;
    }
    match Page::prepare(root) {
        Ok(page) => client(&page, args.check),
        Err(error) => {
            eprintln!("\n!!! LEFT OUT the web UI's client in ui/src/client/generated: {error:#}\n");
            Ok(())
        }
    }
}

/// Writes the page's client from the documents, or fails when it is out of date.
pub fn client(page: &Page, check: bool) -> Result<()> {
    if check {
        page.npm(&["run", "gen", "--", "--check"])
    } else {
        page.npm(&["run", "gen"])
    }
}

/// Fails if the tree differs from the binary's output. The error contains each file and its first
/// difference.
pub fn check(root: &Path, binary: Command) -> Result<()> {
    let differences = differences(&read(&root.join(FOLDER))?, &generated(binary)?);
    if differences.is_empty() {
        return Ok(());
    }
    bail!(
        "{FOLDER} is out of date, run `cargo xtask gen`:\n  {}",
        differences.join("\n  ")
    );
}

fn write(root: &Path, binary: Command) -> Result<()> {
    let folder = root.join(FOLDER);
    let (old, new) = (read(&folder)?, generated(binary)?);
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {FOLDER}"))?;
    for (name, content) in &new {
        if old.get(name) != Some(content) {
            std::fs::write(folder.join(name), content)?;
            println!("wrote {FOLDER}/{name}");
        }
    }
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        std::fs::remove_file(folder.join(name))?;
        println!("removed {FOLDER}/{name}");
    }
    Ok(())
}

/// Returns the binary's current output, by file name.
fn generated(mut binary: Command) -> Result<BTreeMap<String, Vec<u8>>> {
    let folder = tempfile::tempdir().context("cannot create a temporary directory")?;
    run_command(binary.args(["generate", "--out"]).arg(folder.path()))?;
    let files = read(folder.path())?;
    if files.is_empty() {
        bail!("the binary generated nothing");
    }
    Ok(files)
}

/// Returns the files directly in a folder. The result is empty when the folder does not exist.
fn read(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    if !folder.is_dir() {
        return Ok(BTreeMap::new());
    }
    let mut files = BTreeMap::new();
    for entry in folder.read_dir()? {
        let path: PathBuf = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        files.insert(
            name,
            std::fs::read(&path).with_context(|| path.display().to_string())?,
        );
    }
    Ok(files)
}

fn differences(old: &BTreeMap<String, Vec<u8>>, new: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let describe = |name: &String| match (old.get(name), new.get(name)) {
        (Some(old), Some(new)) if old == new => None,
        (Some(old), Some(new)) => Some(format!("{name}: {}", first_difference(old, new))),
        (None, _) => Some(format!("{name}: missing")),
        (_, None) => Some(format!("{name}: no longer generated")),
    };
    names.into_iter().filter_map(describe).collect()
}

fn first_difference(old: &[u8], new: &[u8]) -> String {
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let equal = old
        .lines()
        .zip(new.lines())
        .take_while(|(old, new)| old == new)
        .count();
    let line = |text: &str| text.lines().nth(equal).unwrap_or("(end)").trim().to_owned();
    format!(
        "line {}: has `{}`, generated `{}`",
        equal + 1,
        line(&old),
        line(&new)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        entries
            .iter()
            .map(|(name, text)| ((*name).into(), text.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn names_each_difference() {
        let old = files(&[("same", "x"), ("changed", "a\nb\n"), ("gone", "")]);
        let new = files(&[("same", "x"), ("changed", "a\nc\n"), ("new", "")]);
        let expected = [
            "changed: line 2: has `b`, generated `c`",
            "gone: no longer generated",
            "new: missing",
        ];
        assert_eq!(differences(&old, &new), expected);
        assert!(differences(&new, &new).is_empty());
    }

    #[test]
    fn a_shorter_file_differs_at_its_end() {
        assert_eq!(
            first_difference(b"a\n", b"a\nb\n"),
            "line 2: has `(end)`, generated `b`"
        );
    }
}
