//! The page's Node modules: installed when `node_modules` does not match the lock file.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::process::run;

/// The part of a lock file that is compared: of the committed lock file, or of the one that npm writes to
/// `node_modules`.
#[derive(Deserialize)]
struct Lock {
    packages: BTreeMap<String, Package>,
}

#[derive(Deserialize)]
struct Package {
    version: Option<String>,
    integrity: Option<String>,
    /// Whether the package is optional. npm skips optional packages for other systems.
    #[serde(default)]
    optional: bool,
}

/// Runs `npm ci`, unless it would change nothing.
pub fn install(folder: &Path) -> Result<()> {
    let wanted = read(&folder.join("package-lock.json"))?;
    if read(&folder.join("node_modules/.package-lock.json")).is_ok_and(|it| is_same(&wanted, &it)) {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund"]);
    run(npm.current_dir(folder)).context("the npm modules of the web UI cannot be installed")
}

fn read(file: &Path) -> Result<Lock> {
    let text = std::fs::read(file).with_context(|| file.display().to_string())?;
    serde_json::from_slice(&text).with_context(|| file.display().to_string())
}

fn is_same(wanted: &Lock, installed: &Lock) -> bool {
    let is_equal = |path: &String, package: &Package| {
        wanted.packages.get(path).is_some_and(|wanted| {
            (&wanted.version, &wanted.integrity) == (&package.version, &package.integrity)
        })
    };
    let mut needed = wanted
        .packages
        .iter()
        // The empty path is the page itself.
        .filter(|(path, package)| !path.is_empty() && !package.optional);
    needed.all(|(path, _)| installed.packages.contains_key(path))
        && installed
            .packages
            .iter()
            .all(|(path, package)| is_equal(path, package))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn lock(packages: &Value) -> Lock {
        serde_json::from_value(json!({ "packages": packages })).unwrap()
    }

    #[test]
    fn only_what_the_lock_file_names() {
        let wanted = lock(&json!({
            "": {"name": "page"},
            "node_modules/a": {"version": "1.0.0", "integrity": "x"},
            "node_modules/b": {"version": "2.0.0", "integrity": "y", "optional": true},
        }));
        let a = json!({"version": "1.0.0", "integrity": "x"});
        let b = json!({"version": "2.0.0", "integrity": "y", "optional": true});
        let is_same = |installed: Value| is_same(&wanted, &lock(&installed));
        assert!(is_same(json!({"node_modules/a": a, "node_modules/b": b})));
        assert!(is_same(json!({"node_modules/a": a})), "not for this system");
        assert!(!is_same(json!({"node_modules/b": b})));
        assert!(!is_same(json!({"node_modules/a": b})));
        assert!(!is_same(
            json!({"node_modules/a": {"version": "1.0.1", "integrity": "x"}})
        ));
        assert!(!is_same(
            json!({"node_modules/a": a, "node_modules/old": a})
        ));
    }
}
