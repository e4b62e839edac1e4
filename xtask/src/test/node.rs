//! Directories of `tests/` with a `package.json`: copies them and installs their Node modules.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::apt;
use crate::process::{capture, find_program, run};

/// Node packages that our webhooks are tested against: a description, the directory in `tests`, and the
/// variable with the path of the copy.
pub const WEBHOOKS: [(&str, &str, &str); 2] = [
    (
        "vendors' webhook libraries",
        "webhook-sdks",
        "GATEHOUSE_TEST_NODE_SDKS",
    ),
    (
        "published webhook examples",
        "webhook-examples",
        "GATEHOUSE_TEST_WEBHOOK_EXAMPLES",
    ),
];

/// Ensures that Node and npm are available, installing Debian's packages if necessary.
pub fn ensure() -> Result<()> {
    if find_program("npm").is_none() {
        apt::install(&["nodejs", "npm"])?;
    }
    Ok(())
}

/// Copies `tests` to `folder`, which keeps the working tree clean. Installs the modules in its `package.json` there.
pub fn install(tests: &Path, folder: &Path) -> Result<()> {
    ensure()?;
    copy(tests, folder)?;
    let locked = folder.join("package-lock.json").is_file();
    let mut npm = Command::new("npm");
    npm.arg(if locked { "ci" } else { "install" })
        .args(["--no-audit", "--no-fund"]);
    // The browser comes from Debian, so playwright must not download one.
    run(npm
        .current_dir(folder)
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"))
}

/// Returns the version that Node reports.
pub fn version() -> Result<String> {
    let version = capture(Command::new("node").arg("--version"))?;
    Ok(format!("Node {}", version.trim()))
}

/// Directories that are neither copied nor removed: installed modules and the output of tests.
const KEPT: [&str; 4] = [
    "node_modules",
    "python",
    "test-results",
    "playwright-report",
];

/// Makes `to` equal to `from`. A removed or renamed test then cannot run from an old copy.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for entry in to.read_dir()? {
        let entry = entry?;
        let (old, name) = (entry.path(), entry.file_name());
        if KEPT.iter().any(|kept| name == *kept) || from.join(&name).exists() {
            continue;
        }
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(&old)
        } else {
            std::fs::remove_file(&old)
        }
        .with_context(|| old.display().to_string())?;
    }
    for entry in from.read_dir()? {
        let entry = entry?;
        let (name, target) = (entry.file_name(), to.join(entry.file_name()));
        if !entry.file_type()?.is_dir() {
            std::fs::copy(entry.path(), &target).with_context(|| target.display().to_string())?;
        } else if !KEPT.iter().any(|kept| name == *kept) {
            copy(&entry.path(), &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_loses_what_was_removed_and_keeps_what_was_installed() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("from"), root.path().join("to"));
        let write = |path: std::path::PathBuf| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        for path in ["a.spec.ts", "fixtures/x.ts", "node_modules/own.js"] {
            write(from.join(path));
        }
        for path in [
            "old.spec.ts",
            "gone/y.ts",
            "fixtures/z.ts",
            "node_modules/its.js",
        ] {
            write(to.join(path));
        }
        copy(&from, &to).unwrap();
        let has = |path: &str| to.join(path).exists();
        assert!(has("a.spec.ts") && has("fixtures/x.ts") && has("node_modules/its.js"));
        for path in [
            "old.spec.ts",
            "gone",
            "fixtures/z.ts",
            "node_modules/own.js",
        ] {
            assert!(!has(path), "{path}");
        }
    }
}
