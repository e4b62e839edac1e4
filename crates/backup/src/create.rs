//! Creates a backup.

mod sink;

use crate::BackupError;
use crate::age;
use crate::age::{FileKey, Recipient};
use crate::archive::{FORMAT, Manifest, Mark, TableEntry, encode_line, encode_row};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use data_encoding::HEXLOWER;
use flate2::Compression;
use flate2::write::GzEncoder;
use gatehouse_domain::{Random, Timestamp};
use gatehouse_store::{Location, Snapshot, Table};
use sha2::{Digest, Sha256};
use sink::{Counted, Sink};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Maximum number of attempts to read the files, which are read again if they change while the snapshot begins.
const FILE_TRIES: usize = 5;

/// The input of a backup.
#[derive(Clone, Debug)]
pub struct Source {
    pub location: Location,
    /// Files with their names in the backup. Files that do not exist are omitted.
    pub files: Vec<(String, PathBuf)>,
    /// Directories with their names in the backup. Only their TOML files are backed up, without subdirectories.
    pub directories: Vec<(String, PathBuf)>,
    /// The version of Gatehouse, for the manifest.
    pub version: String,
    pub now: Timestamp,
}

/// A completed backup.
#[derive(Debug)]
pub struct Created {
    pub manifest: Manifest,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
    /// The key of the file, if the file is encrypted. With this key, the file can be decrypted without a
    /// recipient's key.
    pub key: Option<FileKey>,
}

/// Writes a backup. The backup is encrypted if there is a recipient. `progress` gets the number of rows written and
/// the total.
///
/// Blocks the thread: SQLite, the files and `to` are read and written synchronously.
pub async fn create<W: Write>(
    to: W,
    source: &Source,
    recipient: Option<&Recipient>,
    random: &dyn Random,
    mut progress: impl FnMut(u64, u64),
) -> Result<Created, BackupError> {
    let (mut snapshot, files) = read_together(source).await?;
    let manifest = manifest(source, &mut snapshot, &files).await?;
    let to = Counted {
        to,
        bytes: 0,
        hash: Sha256::new(),
    };
    let key = recipient.map(|_| FileKey::generate(random));
    let sink = match recipient.zip(key.as_ref()) {
        None => Sink::Plain(to),
        Some((recipient, key)) => Sink::Encrypted(age::encrypt(to, recipient, key, random)?),
    };
    let mut out = GzEncoder::new(sink, Compression::default());
    out.write_all(&encode_line(&manifest)?)?;
    let (mut done, total) = (0, manifest.rows());
    for table in snapshot.tables().to_vec() {
        let report = |rows| progress(done + rows, total);
        done += write_table(&mut out, &mut snapshot, &table, report).await?;
    }
    for (name, data) in &files {
        out.write_all(&encode_line(&Mark::File {
            name: name.clone(),
            data: STANDARD.encode(data),
        })?)?;
    }
    out.write_all(&encode_line(&Mark::End {})?)?;
    let mut to = match out.finish()? {
        Sink::Plain(to) => to,
        Sink::Encrypted(to) => to.finish()?,
    };
    to.flush()?;
    Ok(Created {
        manifest,
        bytes: to.bytes,
        sha256: HEXLOWER.encode(&to.hash.finalize()),
        key,
    })
}

type Files = Vec<(String, Zeroizing<Vec<u8>>)>;

/// Reads the files and begins the snapshot. Repeats both if a file changed in between. The keys in the files then
/// belong to the vault in the database.
async fn read_together(source: &Source) -> Result<(Snapshot, Files), BackupError> {
    let mut files = read_files(source)?;
    for _ in 0..FILE_TRIES {
        let snapshot = Snapshot::open(&source.location).await?;
        let again = read_files(source)?;
        if again == files {
            return Ok((snapshot, files));
        }
        files = again;
    }
    Err(BackupError::Io(io::Error::other(
        "the files of the data directory change too often",
    )))
}

fn read_files(source: &Source) -> Result<Files, BackupError> {
    let mut paths = source.files.clone();
    for (name, path) in &source.directories {
        paths.extend(list_toml(name, path)?);
    }
    let mut files = Files::new();
    for (name, path) in &paths {
        let mut data = Zeroizing::new(Vec::new());
        match std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut data)) {
            Ok(_) => files.push((name.clone(), data)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(files)
}

/// Returns the TOML files of a directory with their names in the backup, ordered by name. Returns none if the
/// directory does not exist.
fn list_toml(name: &str, directory: &Path) -> Result<Vec<(String, PathBuf)>, BackupError> {
    let listed = match std::fs::read_dir(directory) {
        Ok(listed) => listed,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut files = Vec::new();
    for entry in listed {
        let path = entry?.path();
        let file = path.file_name().and_then(OsStr::to_str);
        if let Some(file) = file.filter(|_| path.extension() == Some(OsStr::new("toml"))) {
            files.push((format!("{name}/{file}"), path));
        }
    }
    files.sort();
    Ok(files)
}

async fn manifest(
    source: &Source,
    snapshot: &mut Snapshot,
    files: &Files,
) -> Result<Manifest, BackupError> {
    let mut tables = Vec::new();
    for table in snapshot.tables().to_vec() {
        let rows = snapshot.count(&table).await?;
        tables.push(TableEntry::of(&table, rows));
    }
    Ok(Manifest {
        format: FORMAT,
        created_at: source.now,
        version: source.version.clone(),
        schema: snapshot.version(),
        engine: source.location.engine().name().to_owned(),
        tables,
        files: files.iter().map(|(name, _)| name.clone()).collect(),
    })
}

async fn write_table(
    out: &mut impl Write,
    snapshot: &mut Snapshot,
    table: &Table,
    mut report: impl FnMut(u64),
) -> Result<u64, BackupError> {
    let (mut rows, mut hash, mut after) = (0, Sha256::new(), None);
    loop {
        let page = snapshot.read(table, after).await?;
        for row in page.rows {
            let line = encode_row(row)?;
            hash.update(&line);
            out.write_all(&line)?;
            rows += 1;
        }
        report(rows);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    out.write_all(&encode_line(&Mark::Table {
        name: table.name.clone(),
        rows,
        sha256: HEXLOWER.encode(&hash.finalize()),
    })?)?;
    Ok(rows)
}
