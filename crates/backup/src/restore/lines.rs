//! Lines of a backup.

use crate::BackupError;
use crate::archive::Mark;
use std::ffi::OsStr;
use std::io::{BufRead, Read};
use std::path::Path;

/// Maximum length of a line. The largest row is a recording as base64.
const LINE_BYTES: u64 = 256 << 20;

/// Returns whether a relative path is a file name, or a directory name and a file name. Such a path stays in the
/// directory that it is joined to.
pub(super) fn is_file_name(name: &str) -> bool {
    let is_one = |name: &str| Path::new(name).file_name() == Some(OsStr::new(name));
    match name.split_once('/') {
        Some((directory, file)) => is_one(directory) && is_one(file),
        None => is_one(name),
    }
}

pub(super) fn damaged(what: &str) -> BackupError {
    BackupError::Damaged(what.to_owned())
}

pub(super) fn parse_mark(line: &[u8]) -> Result<Mark, BackupError> {
    serde_json::from_slice(line).map_err(|_| damaged("a line has an unknown form"))
}

/// Reads a line with its line break.
pub(super) fn read_line(lines: &mut impl BufRead) -> Result<Vec<u8>, BackupError> {
    let mut line = Vec::new();
    lines
        .take(LINE_BYTES)
        .read_until(b'\n', &mut line)
        .map_err(BackupError::of_reading)?;
    if line.last() != Some(&b'\n') {
        return Err(BackupError::Incomplete);
    }
    Ok(line)
}
