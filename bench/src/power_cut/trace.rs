//! The format of the shim's file, which contains the changes of a process in its data directory, in order.

use anyhow::{Context, Result, bail};
use std::ops::Range;
use std::path::Path;

/// Number of bytes before the path of a record.
const HEAD: usize = 32;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A file was created.
    Create { path: String, inode: u64 },
    /// Bytes were written. The range refers to the trace.
    Write {
        inode: u64,
        offset: u64,
        data: Range<usize>,
    },
    /// A file's size was set.
    Truncate { inode: u64, size: u64 },
    /// A file was renamed; an existing file with the new name was replaced.
    Rename { from: String, to: String },
    /// A name was removed.
    Unlink { path: String },
    /// A directory was created.
    MakeDirectory { path: String, inode: u64 },
    /// A sync began. The sync covers earlier changes.
    SyncBegin { inode: u64, number: u64 },
    /// A sync ended successfully.
    SyncEnd { inode: u64, number: u64 },
    /// A hard link was created.
    Link { from: String, to: String },
}

/// A change, and the length of the trace after it.
#[derive(Clone, Debug)]
pub struct Record {
    /// Length of the trace in bytes up to the end of this record.
    pub end: u64,
    pub change: Change,
}

/// A trace in memory.
pub struct Trace {
    /// All bytes of the trace. Writes refer to them.
    pub bytes: Vec<u8>,
    pub records: Vec<Record>,
}

impl Trace {
    /// Reads a complete trace.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        let mut records = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let (change, end) = record(&bytes, at).with_context(|| format!("at byte {at}"))?;
            at = end;
            records.push(Record {
                end: end as u64,
                change,
            });
        }
        Ok(Self { bytes, records })
    }
}

fn number(bytes: &[u8], at: usize) -> Result<u64> {
    let part = bytes.get(at..at + 8).context("the trace ends too early")?;
    Ok(u64::from_ne_bytes(part.try_into()?))
}

fn record(bytes: &[u8], at: usize) -> Result<(Change, usize)> {
    let first = number(bytes, at)?.to_ne_bytes();
    let (kind, path_len) = first.split_at(4);
    let kind = u32::from_ne_bytes(kind.try_into()?);
    let path_len = u32::from_ne_bytes(path_len.try_into()?) as usize;
    let (inode, value) = (number(bytes, at + 8)?, number(bytes, at + 16)?);
    let len = usize::try_from(number(bytes, at + 24)?)?;
    let path_at = at + HEAD;
    let data = path_at + path_len..path_at + path_len + len;
    let path = bytes
        .get(path_at..data.start)
        .context("the trace ends too early")?;
    let path = String::from_utf8(path.to_vec())?;
    if data.end > bytes.len() {
        bail!("the trace ends too early");
    }
    let end = data.end;
    let two = || -> Result<(String, String)> {
        let (from, to) = path.split_once('\0').context("one name, not two")?;
        Ok((from.to_owned(), to.to_owned()))
    };
    let change = match kind {
        1 => Change::Create { path, inode },
        2 => Change::Write {
            inode,
            offset: value,
            data,
        },
        3 => Change::Truncate { inode, size: value },
        4 => two().map(|(from, to)| Change::Rename { from, to })?,
        5 => Change::Unlink { path },
        6 => Change::MakeDirectory { path, inode },
        7 => Change::SyncBegin {
            inode,
            number: value,
        },
        8 => Change::SyncEnd {
            inode,
            number: value,
        },
        9 => two().map(|(from, to)| Change::Link { from, to })?,
        _ => bail!("{path} was moved into or out of the data directory"),
    };
    Ok((change, end))
}
