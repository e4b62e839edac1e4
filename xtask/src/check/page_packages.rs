//! Checks the npm packages in the shipped page: their licenses against `deny.toml`, and their names against NOTICE.
//! Reads only the sources and the lock file, so neither Node nor its modules are needed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Findings;
use super::licences::Policy;
use crate::walk;

/// Build tools that no source imports but whose own code is part of the page. Their dependencies are not shipped.
const WRITERS: [&str; 2] = ["@inlang/paraglide-js", "vite"];
/// The prefix of development dependencies that are fonts. Their files are in the page, but no source imports them.
const FONTS: &str = "@fontsource";
/// The folder that Paraglide generates.
const GENERATED: &str = "ui/src/paraglide/";

#[derive(Deserialize)]
struct Lock {
    packages: BTreeMap<String, Package>,
}

#[derive(Deserialize)]
struct Package {
    version: Option<String>,
    license: Option<String>,
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
    #[serde(default, rename = "devDependencies")]
    dev_dependencies: BTreeMap<String, String>,
}

/// Checks the packages that the sources import, and all their dependencies, and the fonts.
pub fn check(root: &Path, policy: &Policy) -> Result<Findings> {
    let file = root.join("ui/package-lock.json");
    if !file.is_file() {
        return Ok(Findings::default());
    }
    let lock: Lock =
        serde_json::from_slice(&std::fs::read(file)?).context("ui/package-lock.json")?;
    let notice = std::fs::read_to_string(root.join("NOTICE")).context("NOTICE")?;
    let mut imported = fonts(&lock);
    for file in walk::all(&root.join("ui/src"))? {
        let path = walk::relative(root, &file);
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_source = [".ts", ".js", ".svelte"]
            .iter()
            .any(|end| name.ends_with(end));
        if is_source && !name.contains(".test.") && !path.starts_with(GENERATED) {
            let text = std::fs::read_to_string(&file).with_context(|| path.clone())?;
            imported.extend(packages(&text));
        }
    }
    Ok(judge(policy, &lock, &imported, &notice))
}

fn fonts(lock: &Lock) -> BTreeSet<String> {
    let page = lock.packages.get("").into_iter();
    page.flat_map(|page| page.dev_dependencies.keys())
        .filter(|name| name.starts_with(FONTS))
        .cloned()
        .collect()
}

fn judge(policy: &Policy, lock: &Lock, imported: &BTreeSet<String>, notice: &str) -> Findings {
    let mut findings = Findings::default();
    let named: BTreeSet<&str> = notice
        .split_whitespace()
        .map(|word| word.trim_matches([',', '.', ';', ':', '(', ')', '`']))
        .collect();
    let unnamed = imported
        .iter()
        .filter(|name| !named.contains(name.as_str()));
    let unnamed =
        unnamed.map(|name| format!("NOTICE does not name {name}, which the page contains"));
    findings.wrong.extend(unnamed);
    let mut shipped = BTreeSet::new();
    for name in imported {
        findings.wrong.extend(reach(lock, "", name, &mut shipped));
    }
    for name in WRITERS {
        match find(lock, "", name) {
            Some(path) => drop(shipped.insert(path)),
            None => findings
                .wrong
                .push(format!("{name} is not in ui/package-lock.json")),
        }
    }
    for path in &shipped {
        findings.wrong.extend(licence(policy, lock, path));
    }
    findings
        .notes
        .push(format!("{} npm packages against deny.toml", shipped.len()));
    findings
}

/// Adds a package and its dependencies to `found`. Returns errors for packages that are missing in the lock file.
fn reach(lock: &Lock, from: &str, name: &str, found: &mut BTreeSet<String>) -> Vec<String> {
    let Some(path) = find(lock, from, name) else {
        return vec![format!("{name} is not in ui/package-lock.json")];
    };
    if !found.insert(path.clone()) {
        return Vec::new();
    }
    let behind = lock.packages.get(&path).into_iter();
    let behind = behind.flat_map(|package| package.dependencies.keys());
    behind
        .flat_map(|name| reach(lock, &path, name, found))
        .collect()
}

/// Resolves a package as Node does: in the folder of `from`, then in its parents.
fn find(lock: &Lock, from: &str, name: &str) -> Option<String> {
    let mut from = from;
    loop {
        let path = format!("{from}/node_modules/{name}");
        let path = path.trim_start_matches('/');
        if lock.packages.contains_key(path) {
            return Some(path.to_owned());
        }
        if from.is_empty() {
            return None;
        }
        from = from.rsplit_once("/node_modules/").map_or("", |(up, _)| up);
    }
}

fn licence(policy: &Policy, lock: &Lock, path: &str) -> Option<String> {
    let package = lock.packages.get(path)?;
    let version = package.version.as_deref().unwrap_or("?");
    let name = path
        .rsplit_once("node_modules/")
        .map_or(path, |(_, name)| name);
    let Some(licence) = &package.license else {
        return Some(format!("{name} {version} declares no license"));
    };
    match policy.allows(name, licence) {
        Ok(true) => None,
        Ok(false) => Some(format!("{name} {version}: {licence} is not allowed")),
        Err(error) => Some(format!("{name} {version}: {error:#}")),
    }
}

/// Returns the packages that a source imports, except imports of types only.
fn packages(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with("import type "))
    {
        for before in ["from ", "import ", "import("] {
            let parts = line.split(before).skip(1);
            found.extend(parts.filter_map(quoted).filter_map(package));
        }
    }
    found
}

fn quoted(text: &str) -> Option<&str> {
    let quote = text
        .chars()
        .next()
        .filter(|first| ['\'', '"'].contains(first))?;
    text.get(1..)?.split_once(quote).map(|(inside, _)| inside)
}

/// Returns the package of an import: `@scope/name/file` belongs to `@scope/name`. Paths, aliases (`$/`) and Node's own
/// modules belong to no package.
fn package(specifier: &str) -> Option<String> {
    let is_elsewhere = |it: &&str| !it.starts_with(['.', '/', '$']) && !it.contains(':');
    let specifier = Some(specifier).filter(is_elsewhere)?;
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let name: Vec<&str> = specifier.split('/').take(parts).collect();
    Some(name.join("/")).filter(|name| !name.is_empty() && !name.contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_of_packages() {
        let text = "import { a } from '@scope/one/icons/a';\nimport 'two/style.css';\n\
                    const three = await import(\"three\");\nexport { x } from './here';\n\
                    import type { T } from 'types-only';\nimport y from '$/parts/y.svelte';\n\
                    import fs from 'node:fs';\n<p>from 'somewhere else'</p>\n";
        let expected = ["@scope/one", "three", "two"].map(str::to_owned);
        assert_eq!(packages(text), expected.into());
    }

    #[test]
    fn fonts_are_development_dependencies() {
        let lock: Lock = serde_json::from_value(serde_json::json!({ "packages": {
            "": {"devDependencies": {"@fontsource-variable/inter": "1.0.0", "vite": "8.0.0"}},
        }}))
        .unwrap();
        let expected = ["@fontsource-variable/inter".to_owned()];
        assert_eq!(fonts(&lock), expected.into());
    }

    #[test]
    fn licences_of_what_is_imported_and_of_what_stands_behind_it() {
        let policy: Policy =
            toml::from_str("[licenses]\nallow = [\"MIT\"]\n[bans]\ndeny = []\n").unwrap();
        let lock: Lock = serde_json::from_value(serde_json::json!({ "packages": {
            "": {},
            "node_modules/good": {"version": "1.0.0", "license": "MIT", "dependencies": {"behind": "1", "lost": "1"}},
            "node_modules/behind": {"version": "1.0.0", "license": "MIT"},
            "node_modules/good/node_modules/behind": {"version": "2.0.0", "license": "AGPL-3.0-only"},
            "node_modules/silent": {"version": "3.0.0"},
            "node_modules/tool": {"version": "1.0.0", "license": "AGPL-3.0-only"},
            "node_modules/vite": {"version": "8.0.0", "license": "MIT", "dependencies": {"tool": "1"}},
            "node_modules/@inlang/paraglide-js": {"version": "2.0.0", "license": "MIT"},
        }}))
        .unwrap();
        let imported = ["good", "silent"].map(str::to_owned).into();
        let expected = [
            "NOTICE does not name silent, which the page contains",
            "lost is not in ui/package-lock.json",
            "behind 2.0.0: AGPL-3.0-only is not allowed",
            "silent 3.0.0 declares no license",
        ];
        let found = judge(&policy, &lock, &imported, "- good (https://good.example)\n");
        assert_eq!(found.wrong, expected);
    }
}
