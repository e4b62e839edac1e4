//! Finds files in the working tree, without build output and dependencies.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Folders that contain no source files of this project.
const SKIPPED: [&str; 8] = [
    "target",
    "node_modules",
    ".git",
    ".venv",
    "dist",
    "corpus",
    "test-results",
    "playwright-report",
];

/// Returns every file under `folder` with this extension, sorted. The result is empty when the
/// folder does not exist.
pub fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = all(folder)?;
    found.retain(|path| path.extension().is_some_and(|found| found == extension));
    Ok(found)
}

/// Returns every file under `folder`, sorted. The result is empty when the folder does not exist.
pub fn all(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        if !folder.is_dir() {
            continue;
        }
        let entries = folder
            .read_dir()
            .with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let skipped = entry
                .file_name()
                .to_str()
                .is_some_and(|name| SKIPPED.contains(&name));
            if kind.is_dir() && !skipped {
                waiting.push(path);
            } else if kind.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the path relative to the workspace root, with forward slashes.
pub fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .to_string_lossy()
        .replace('\\', "/")
}
