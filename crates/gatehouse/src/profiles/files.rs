//! Reads profile files from a directory.

use super::Stamp;
use gatehouse_sources::profile_file::{MAX_FILE_BYTES, ProfileFile, parse};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The maximum number of bytes to read: one more than a file may have.
const MAX_READ_BYTES: u64 = MAX_FILE_BYTES as u64 + 1;

/// Lists the profile files of a folder. The result is empty if the folder does not exist.
pub(super) fn list(folder: &Path) -> std::io::Result<BTreeMap<PathBuf, Stamp>> {
    let listed = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        listed => listed?,
    };
    let mut found = BTreeMap::new();
    for entry in listed {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "toml") {
            let facts = std::fs::metadata(&path).ok();
            let stamp = facts.map(|it| (it.ino(), it.size(), (it.ctime(), it.ctime_nsec())));
            found.insert(path, stamp);
        }
    }
    Ok(found)
}

/// Reads a profile. `name` is the file's name in messages. Blocks.
///
/// # Errors
/// Returns a fragment with the file, the line and the mistake.
pub fn read_file(path: &Path, name: &str) -> Result<ProfileFile, String> {
    let unreadable = |error: std::io::Error| format!("{name} cannot be read: {}", error.kind());
    let facts = std::fs::metadata(path).map_err(unreadable)?;
    // Reading a pipe would block.
    if !facts.is_file() {
        return Err(format!("{name} is not a file"));
    }
    // The file may be replaced or grow in the meantime, so its reported size is not used as the
    // limit.
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let read = file.take(MAX_READ_BYTES).read_to_end(&mut bytes);
    read.map_err(unreadable)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(format!("{name}:1: larger than {MAX_FILE_BYTES} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8"))?;
    parse(name, &text, None).map_err(|error| error.to_string())
}
