//! Reads a backup, and writes it into an empty database.

mod lines;

use crate::BackupError;
use crate::age::{self, Identity};
use crate::archive::{FORMAT, Manifest, Mark, TableEntry, decode_row};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER;
use flate2::bufread::GzDecoder;
use gatehouse_store::{Cell, Import, Location};
use lines::{damaged, is_file_name, parse_mark, read_line};
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Read};
use zeroize::Zeroizing;

/// The size at which a group of rows is inserted, in bytes of their lines. A group has at most [`GROUP_ROWS`] rows.
const GROUP_BYTES: usize = 8 << 20;
const GROUP_ROWS: usize = 1_000;
/// The first bytes of gzip (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A backup whose manifest was read.
pub struct Archive<'r> {
    lines: BufReader<Box<dyn Read + 'r>>,
    manifest: Manifest,
}

/// A file of the backup.
#[derive(Debug)]
pub struct RestoredFile {
    pub name: String,
    pub data: Zeroizing<Vec<u8>>,
}

/// A complete backup, written in a transaction that is not committed yet.
#[derive(Debug)]
pub struct Restored {
    /// The transaction. Commit it with [`Import::finish`].
    pub import: Import,
    pub files: Vec<RestoredFile>,
}

/// Reads the manifest. Without an identity, the backup must not be encrypted.
pub fn open<'r>(
    mut from: impl BufRead + 'r,
    identity: Option<&Identity>,
) -> Result<Archive<'r>, BackupError> {
    let start = from.fill_buf()?;
    let plain: Box<dyn Read + 'r> = if start.starts_with(&GZIP) {
        Box::new(GzDecoder::new(from))
    } else if age::is_encrypted(start) {
        let identity = identity.ok_or(BackupError::NeedsKey)?;
        let decrypted = BufReader::new(age::decrypt(from, identity)?);
        Box::new(GzDecoder::new(decrypted))
    } else {
        return Err(BackupError::NotABackup);
    };
    let mut lines = BufReader::new(plain);
    let first = read_line(&mut lines)?;
    Ok(Archive {
        lines,
        manifest: parse_manifest(&first)?,
    })
}

/// Parses the manifest. Checks the version before the other fields, which another version may have changed.
fn parse_manifest(line: &[u8]) -> Result<Manifest, BackupError> {
    #[derive(serde::Deserialize)]
    struct Version {
        gatehouse_backup: u32,
    }
    let version: Version = serde_json::from_slice(line).map_err(|_| BackupError::NotABackup)?;
    if version.gatehouse_backup != FORMAT {
        return Err(BackupError::Format {
            found: version.gatehouse_backup,
            known: FORMAT,
        });
    }
    serde_json::from_slice(line).map_err(|_| damaged("its first line"))
}

impl std::fmt::Debug for Archive<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Archive")
            .field("manifest", &self.manifest)
            .finish_non_exhaustive()
    }
}

impl Archive<'_> {
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Writes all rows into an empty database, in a transaction. `progress` gets the number of rows written and
    /// the total.
    ///
    /// Blocks the thread: SQLite and the backup are read and written synchronously.
    pub async fn restore(
        self,
        location: &Location,
        progress: impl FnMut(u64, u64),
    ) -> Result<Restored, BackupError> {
        let mut import = Import::begin(location, self.manifest.schema).await?;
        let files = self.read(Some(&mut import), progress).await?;
        Ok(Restored { import, files })
    }

    /// Reads everything and compares every checksum. Writes nothing. `progress` gets the number of rows read and the
    /// total.
    ///
    /// Blocks the thread.
    pub async fn check(self, progress: impl FnMut(u64, u64)) -> Result<(), BackupError> {
        self.read(None, progress).await.map(drop)
    }

    async fn read(
        mut self,
        mut import: Option<&mut Import>,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Vec<RestoredFile>, BackupError> {
        let (mut done, total) = (0, self.manifest.rows());
        for table in std::mem::take(&mut self.manifest.tables) {
            let report = |rows| progress(done + rows, total);
            let import = import.as_deref_mut();
            done += self.read_table(import, &table, report).await?;
        }
        let files = self.read_files()?;
        // Reads past the last line, which verifies the checksum of gzip and the last chunk of the encryption.
        let mut rest = [0];
        if self
            .lines
            .read(&mut rest)
            .map_err(BackupError::of_reading)?
            != 0
        {
            return Err(damaged("there is data after its end"));
        }
        Ok(files)
    }

    /// Reads the rows of a table. If there is an `import`, writes the rows with it. Returns the number of rows.
    async fn read_table(
        &mut self,
        mut import: Option<&mut Import>,
        entry: &TableEntry,
        mut report: impl FnMut(u64),
    ) -> Result<u64, BackupError> {
        let columns = entry.columns();
        let table = match &import {
            Some(import) if !Import::ignores(&entry.name) => {
                Some(import.table(&entry.name, &columns)?)
            }
            _ => None,
        };
        let (mut rows, mut hash) = (0, Sha256::new());
        let (mut group, mut bytes): (Vec<Vec<Cell>>, usize) = (Vec::new(), 0);
        let expected = loop {
            let line = read_line(&mut self.lines)?;
            let is_row = line.first() == Some(&b'[');
            if is_row {
                hash.update(&line);
                let row = decode_row(&line, &columns)
                    .ok_or_else(|| damaged(&format!("a row of the table {}", entry.name)))?;
                (rows, bytes) = (rows + 1, bytes + line.len());
                group.push(row);
            }
            if !is_row || bytes >= GROUP_BYTES || group.len() >= GROUP_ROWS {
                if let (Some(import), Some(table)) = (import.as_deref_mut(), &table) {
                    import.insert(table, &group).await?;
                }
                group.clear();
                bytes = 0;
                report(rows);
            }
            if !is_row {
                break parse_mark(&line)?;
            }
        };
        let sha256 = HEXLOWER.encode(&hash.finalize());
        match expected {
            Mark::Table {
                name,
                rows: count,
                sha256: sum,
            } if name == entry.name && count == rows && sum == sha256 => Ok(rows),
            _ => Err(damaged(&format!(
                "the table {} does not have its checksum",
                entry.name
            ))),
        }
    }

    fn read_files(&mut self) -> Result<Vec<RestoredFile>, BackupError> {
        let mut files = Vec::new();
        loop {
            match parse_mark(&read_line(&mut self.lines)?)? {
                Mark::File { name, data } => {
                    let is_known =
                        self.manifest.files.get(files.len()) == Some(&name) && is_file_name(&name);
                    let data = STANDARD.decode(data).ok().filter(|_| is_known);
                    files.push(RestoredFile {
                        data: Zeroizing::new(
                            data.ok_or_else(|| damaged(&format!("the file {name}")))?,
                        ),
                        name,
                    });
                }
                Mark::End {} if files.len() == self.manifest.files.len() => return Ok(files),
                _ => return Err(damaged("its files")),
            }
        }
    }
}

#[cfg(test)]
mod tests;
