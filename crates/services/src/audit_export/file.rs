//! The copy in a file. The file is opened for each write, so a log rotation needs no signal: the next record is
//! written to a new file. Rows are appended only to a file that contains records of the audit log, so a wrong
//! setting does not damage other files.

use super::record::{self, RecordKey};
use gatehouse_store::AuditRow;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// More than the length of the longest record.
const TAIL_BYTES: u64 = 1024 * 1024;

/// The end of the file.
#[derive(Debug, Default, PartialEq, Eq)]
struct End {
    /// The length without an incomplete last record.
    length: u64,
    /// The last complete record.
    last: Option<RecordKey>,
}

/// Appends the rows that are not in the file yet, and waits until they are on the disk. If it fails, the file
/// contains none of them.
pub(super) fn append(path: &Path, rows: &[AuditRow]) -> io::Result<()> {
    // Opening a pipe would wait for its reader.
    let is_new = match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(refused("it is not a regular file")),
        Ok(_) => false,
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(error) => return Err(error),
    };
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let mut file = options.open(path)?;
    let End { length, last } = end(&mut file)?;
    let known = last.and_then(|last| rows.iter().position(|row| last.is_of(row)));
    let rest = rows.iter().skip(known.map_or(0, |known| known + 1));
    let lines = rest.map(|row| record::line(row) + "\n");
    let lines: String = lines.collect();
    file.set_len(length)?;
    let written = file
        .write_all(lines.as_bytes())
        .and_then(|()| file.sync_data());
    if let Err(error) = written {
        // If this also fails, the next write removes an incomplete record and skips complete ones.
        drop(file.set_len(length));
        return Err(error);
    }
    if is_new && let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// Reads the end of a file that contains only records.
fn end(file: &mut File) -> io::Result<End> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    Read::by_ref(file).take(TAIL_BYTES).read_to_end(&mut tail)?;
    let found = end_of(&tail, start == 0);
    let (complete, last) = found.ok_or_else(|| {
        refused("it does not end with a record of the audit log, and nothing was written to it")
    })?;
    let cut = tail.len().saturating_sub(complete);
    let cut = u64::try_from(cut).unwrap_or(u64::MAX);
    Ok(End {
        length: length.saturating_sub(cut),
        last,
    })
}

/// Returns the end position of the last complete record, and the record. Returns `None` if the bytes are not
/// records. `is_whole` is true if `tail` is the whole file.
fn end_of(tail: &[u8], is_whole: bool) -> Option<(usize, Option<RecordKey>)> {
    let complete = tail
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |place| place + 1);
    let (lines, torn) = tail.split_at_checked(complete)?;
    let start = record::START.as_bytes();
    if !torn.starts_with(start) && !start.starts_with(torn) {
        return None;
    }
    let Some(lines) = lines.strip_suffix(b"\n") else {
        return is_whole.then_some((0, None));
    };
    let last = lines.rsplit(|byte| *byte == b'\n').next()?;
    Some((complete, Some(serde_json::from_slice(last).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::row;
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn rows(seqs: std::ops::RangeInclusive<i64>) -> Vec<AuditRow> {
        seqs.map(|seq| row(seq, "{}")).collect()
    }

    #[expect(clippy::disallowed_methods, reason = "a test without an async runtime")]
    fn lines(path: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'));
        text.lines().map(str::to_owned).collect()
    }

    fn expected(seqs: std::ops::RangeInclusive<i64>) -> Vec<String> {
        rows(seqs).iter().map(record::line).collect()
    }

    #[test]
    fn only_the_user_can_read_a_new_file_and_a_rotated_one_is_followed_by_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        append(&path, &rows(1..=2)).unwrap();
        append(&path, &rows(3..=3)).unwrap();
        assert_eq!(lines(&path), expected(1..=3));
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let rotated = folder.path().join("audit.jsonl.1");
        std::fs::rename(&path, &rotated).unwrap();
        append(&path, &rows(4..=5)).unwrap();
        assert_eq!(lines(&path), expected(4..=5));
        assert_eq!(lines(&rotated), expected(1..=3));
    }

    #[test]
    fn what_is_in_the_file_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        append(&path, &rows(1..=3)).unwrap();
        // The process was killed before it stored the position.
        append(&path, &rows(2..=5)).unwrap();
        assert_eq!(lines(&path), expected(1..=5));
        append(&path, &rows(4..=5)).unwrap();
        assert_eq!(lines(&path), expected(1..=5));
        // The database was restored from a backup, so the number belongs to a different record.
        let other = row(5, r#"{"other":true}"#);
        append(&path, std::slice::from_ref(&other)).unwrap();
        assert_eq!(lines(&path).last(), Some(&record::line(&other)));
    }

    #[test]
    fn a_record_that_was_cut_off_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let half = |line: &str| line.get(..line.len() / 2).unwrap().to_owned();
        for torn in ["{".to_owned(), half(&record::line(&row(2, "{}")))] {
            let mut text = record::line(&row(1, "{}")) + "\n" + &torn;
            write(&path, &text);
            append(&path, &rows(2..=2)).unwrap();
            assert_eq!(lines(&path), expected(1..=2));
            // The incomplete record is the first one of the file.
            text = torn;
            write(&path, &text);
            append(&path, &rows(1..=2)).unwrap();
            assert_eq!(lines(&path), expected(1..=2));
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a test without an async runtime")]
    fn write(path: &Path, text: &str) {
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn another_file_is_refused_and_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gatehouse.toml");
        let long = "x".repeat(usize::try_from(TAIL_BYTES).unwrap() + 1);
        for text in ["[audit]\n", "no line", "{\"seq\":1}\n", "\n", &long] {
            write(&path, text);
            let error = append(&path, &rows(1..=1)).unwrap_err();
            assert!(
                error.to_string().contains("does not end with a record"),
                "{error}"
            );
            assert_eq!(
                std::fs::metadata(&path).unwrap().len(),
                u64::try_from(text.len()).unwrap()
            );
        }
        let error = append(folder.path(), &rows(1..=1)).unwrap_err();
        assert_eq!(error.to_string(), "it is not a regular file");
        let missing = folder.path().join("no folder/audit.jsonl");
        assert_eq!(
            append(&missing, &rows(1..=1)).unwrap_err().kind(),
            ErrorKind::NotFound
        );
    }
}
