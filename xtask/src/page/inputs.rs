//! Decides whether `ui/dist` is up to date. A digest of all build inputs is stored next to the output. Vite empties the
//! folder first, so no stamp remains after an interrupted build.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::walk;

/// The stamp in `ui/dist`. The server does not serve this path.
const STAMP: &str = "dist/.stamp";
/// Outputs of the build itself, which are not inputs.
const GENERATED: [&str; 2] = ["ui/src/paraglide/", "ui/project.inlang/"];
/// The one input within these folders.
const SETTINGS: &str = "ui/project.inlang/settings.json";

/// Returns whether the last build used the current inputs.
pub fn is_current(root: &Path, folder: &Path) -> Result<bool> {
    match std::fs::read_to_string(folder.join(STAMP)) {
        Ok(stamp) => Ok(stamp == digest(root, folder)?),
        Err(_) => Ok(false),
    }
}

/// Stores the digest of the built inputs.
pub fn write_stamp(folder: &Path, digest: &str) -> Result<()> {
    std::fs::write(folder.join(STAMP), digest).with_context(|| format!("cannot write {STAMP}"))
}

/// Hashes each input's path, length and content.
pub fn digest(root: &Path, folder: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    for file in files(root, folder)? {
        let path = walk::relative(root, &file);
        let content = std::fs::read(&file).with_context(|| path.clone())?;
        hash.update(format!("{path}\n{}\n", content.len()));
        hash.update(content);
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Returns the files in `ui/` except fetched and generated ones, and the documents that the client is generated from.
fn files(root: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = walk::all(folder)?;
    found.retain(|file| {
        let path = walk::relative(root, file);
        path == SETTINGS || !GENERATED.iter().any(|folder| path.starts_with(folder))
    });
    let documents =
        ["openapi.json", "openrpc.json"].map(|name| root.join("docs/generated").join(name));
    found.extend(documents.into_iter().filter(|file| file.is_file()));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_holds_until_an_input_changes() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let folder = root.join("ui");
        let write = |path: &str, text: &str| {
            let file = root.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("ui/src/main.ts", "1");
        write("ui/dist/index.html", "built");
        assert!(!is_current(root, &folder).unwrap());
        write_stamp(&folder, &digest(root, &folder).unwrap()).unwrap();
        assert!(is_current(root, &folder).unwrap());
        for unread in [
            "ui/node_modules/a/index.js",
            "ui/src/paraglide/m.js",
            "ui/project.inlang/cache/x",
            "ui/dist/a.js",
        ] {
            write(unread, "x");
            assert!(is_current(root, &folder).unwrap(), "{unread}");
        }
        for (path, text) in [
            ("ui/src/main.ts", "2"),
            ("ui/package-lock.json", "{}"),
            ("ui/project.inlang/settings.json", "{}"),
            ("docs/generated/openrpc.json", "{}"),
        ] {
            write(path, text);
            assert!(!is_current(root, &folder).unwrap(), "{path}");
            write_stamp(&folder, &digest(root, &folder).unwrap()).unwrap();
        }
        std::fs::remove_file(root.join("ui/src/main.ts")).unwrap();
        assert!(!is_current(root, &folder).unwrap());
    }
}
