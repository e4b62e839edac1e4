//! Simulates a disk during a power failure. Tracks which changes were synced, and generates the states that a
//! failure could leave.
//!
//! The rules:
//!
//! - After a sync of a file has ended, all data written to the file before the sync began is durable: bytes and
//!   sizes.
//! - Of other writes, any subset survives. Of each write, any subset of its sectors survives.
//! - Changes of names (create, rename, remove) survive in order, as in journaling file systems. A prefix of them
//!   survives, which includes at least the changes that a sync of a directory covers. A sync of a file does not
//!   make its name durable.

use super::trace::Change;
use anyhow::{Context, Result};
use gatehouse_domain::Random;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Files by path, relative to the data directory.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The unsynced changes that a power failure loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Loses all of them.
    All,
    /// Loses none: the process was killed, but the disk keeps running.
    Nothing,
    /// Keeps a prefix, in the order of the writes.
    Later,
    /// Keeps any subset of the writes.
    SomeWrites,
    /// Keeps any subset of the sectors. Contains the size of a sector in bytes.
    Sectors(usize),
    /// Keeps all writes, except that only some sectors of one write survive. Contains the size of a sector in
    /// bytes.
    OneTorn(usize),
}

impl Loss {
    /// Every kind, used in turn.
    pub const KINDS: [Self; 8] = [
        Self::All,
        Self::Nothing,
        Self::Later,
        Self::SomeWrites,
        Self::Sectors(512),
        Self::Sectors(4096),
        Self::OneTorn(512),
        Self::OneTorn(4096),
    ];
}

#[derive(Clone, Debug)]
enum DataOp {
    Write { offset: usize, data: Range<usize> },
    Truncate { size: usize },
}

#[derive(Debug, Default)]
struct File {
    synced: Vec<u8>,
    /// Changes that are not synced, with their positions in the order of all changes.
    pending: Vec<(usize, DataOp)>,
}

#[derive(Clone, Debug)]
enum NameOp {
    Add { path: String, file: usize },
    Rename { from: String, to: String },
    Remove { path: String },
    Link { from: String, to: String },
}

type Names = BTreeMap<String, usize>;

fn apply_name(names: &mut Names, op: &NameOp) {
    match op {
        NameOp::Add { path, file } => drop(names.insert(path.clone(), *file)),
        NameOp::Rename { from, to } => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
        NameOp::Remove { path } => drop(names.remove(path)),
        NameOp::Link { from, to } => {
            if let Some(file) = names.get(from).copied() {
                names.insert(to.clone(), file);
            }
        }
    }
}

/// The simulated disk.
pub struct Disk<'t> {
    trace: &'t [u8],
    files: Vec<File>,
    /// The file that currently has an inode. Inode numbers are reused.
    by_inode: HashMap<u64, usize>,
    directories: HashMap<u64, String>,
    synced_names: Names,
    pending_names: Vec<(usize, NameOp)>,
    /// Running syncs. The values are the positions in the order of changes at which they began.
    syncing: HashMap<(u64, u64), usize>,
    order: usize,
    syncs_seen: u64,
    /// Ignores every n-th sync.
    omit_every: Option<u64>,
}

impl<'t> Disk<'t> {
    /// Creates a disk with the synced contents of this directory before the trace.
    pub fn begin(
        trace: &'t [u8],
        directory: &Path,
        base: &Files,
        omit: Option<u64>,
    ) -> Result<Self> {
        let mut disk = Self {
            trace,
            files: Vec::new(),
            by_inode: HashMap::new(),
            directories: HashMap::new(),
            synced_names: Names::new(),
            pending_names: Vec::new(),
            syncing: HashMap::new(),
            order: 0,
            syncs_seen: 0,
            omit_every: omit,
        };
        for (path, bytes) in base {
            // Files that no longer exist have no inode.
            if let Ok(found) = std::fs::metadata(directory.join(path)) {
                disk.by_inode.insert(found.ino(), disk.files.len());
            }
            disk.synced_names.insert(path.clone(), disk.files.len());
            disk.files.push(File {
                synced: bytes.clone(),
                pending: Vec::new(),
            });
        }
        let root = std::fs::metadata(directory)?.ino();
        disk.directories.insert(root, String::new());
        Ok(disk)
    }

    /// Returns the number of syncs of files and directories so far.
    pub const fn syncs(&self) -> u64 {
        self.syncs_seen
    }

    fn data(&mut self, inode: u64, op: DataOp) -> Result<()> {
        let file = self.by_inode.get(&inode).copied();
        let file = file.and_then(|at| self.files.get_mut(at));
        let file = file.context("a file was changed that nobody opened")?;
        file.pending.push((self.order, op));
        Ok(())
    }

    /// Applies the next change.
    pub fn apply(&mut self, change: &Change) -> Result<()> {
        self.order += 1;
        match change {
            Change::Create { path, inode } => {
                self.by_inode.insert(*inode, self.files.len());
                let (path, file) = (path.clone(), self.files.len());
                self.files.push(File::default());
                self.name(NameOp::Add { path, file });
            }
            Change::Write {
                inode,
                offset,
                data,
            } => {
                let (offset, data) = (usize::try_from(*offset)?, data.clone());
                self.data(*inode, DataOp::Write { offset, data })?;
            }
            Change::Truncate { inode, size } => {
                let size = usize::try_from(*size)?;
                self.data(*inode, DataOp::Truncate { size })?;
            }
            Change::Rename { from, to } => self.name(NameOp::Rename {
                from: from.clone(),
                to: to.clone(),
            }),
            Change::Link { from, to } => self.name(NameOp::Link {
                from: from.clone(),
                to: to.clone(),
            }),
            Change::Unlink { path } => self.name(NameOp::Remove { path: path.clone() }),
            Change::MakeDirectory { path, inode } => {
                self.directories.insert(*inode, path.clone());
            }
            Change::SyncBegin { inode, number } => {
                self.syncing.insert((*inode, *number), self.order);
            }
            Change::SyncEnd { inode, number } => {
                let began = self.syncing.remove(&(*inode, *number));
                self.synced(*inode, began.context("a sync ended that never began")?);
            }
        }
        Ok(())
    }

    fn name(&mut self, op: NameOp) {
        self.pending_names.push((self.order, op));
    }

    fn synced(&mut self, inode: u64, began: usize) {
        self.syncs_seen += 1;
        if let Some(every) = self.omit_every
            && self.syncs_seen.is_multiple_of(every)
        {
            return;
        }
        if self.directories.contains_key(&inode) {
            let kept = self.pending_names.partition_point(|(at, _)| *at < began);
            for (_, op) in self.pending_names.drain(..kept) {
                apply_name(&mut self.synced_names, &op);
            }
        } else if let Some(file) = self.by_inode.get(&inode)
            && let Some(file) = self.files.get_mut(*file)
        {
            let kept = file.pending.partition_point(|(at, _)| *at < began);
            for (_, op) in file.pending.drain(..kept) {
                write_all(&mut file.synced, &op, self.trace);
            }
        }
    }

    /// Generates a state that a power failure at this moment could leave.
    pub fn cut(&self, loss: Loss, random: &dyn Random) -> Files {
        let first = self.first_pending();
        let until = first + below(random, (self.order + 1).saturating_sub(first));
        let torn = match loss {
            Loss::OneTorn(_) => self.any_pending_write(random),
            _ => None,
        };
        let mut names = self.synced_names.clone();
        let kept = match loss {
            Loss::All => 0,
            Loss::Nothing | Loss::OneTorn(_) => self.pending_names.len(),
            Loss::Later => self.pending_names.partition_point(|(at, _)| *at <= until),
            _ => below(random, self.pending_names.len() + 1),
        };
        for (_, op) in self.pending_names.iter().take(kept) {
            apply_name(&mut names, op);
        }
        let mut files = Files::new();
        for (path, number) in names {
            let Some(file) = self.files.get(number) else {
                continue;
            };
            if is_shared_memory(&path) {
                continue;
            }
            let mut bytes = file.synced.clone();
            for (at, op) in &file.pending {
                let trace = self.trace;
                match loss {
                    Loss::All => {}
                    Loss::Later if *at > until => {}
                    Loss::SomeWrites if random.below(2) == 0 => {}
                    Loss::OneTorn(sector) if torn == Some(*at) => {
                        write_some(&mut bytes, op, trace, sector, random);
                    }
                    Loss::Sectors(sector) => write_some(&mut bytes, op, trace, sector, random),
                    _ => write_all(&mut bytes, op, trace),
                }
            }
            files.insert(path, bytes);
        }
        files
    }

    fn first_pending(&self) -> usize {
        let names = self.pending_names.first().map(|(at, _)| *at);
        let data = self.files.iter().filter_map(|file| file.pending.first());
        let data = data.map(|(at, _)| *at).min();
        names.into_iter().chain(data).min().unwrap_or(self.order)
    }

    fn any_pending_write(&self, random: &dyn Random) -> Option<usize> {
        let all: Vec<usize> = self
            .files
            .iter()
            .flat_map(|file| &file.pending)
            .map(|(at, _)| *at)
            .collect();
        all.get(below(random, all.len().max(1))).copied()
    }
}

fn below(random: &dyn Random, bound: usize) -> usize {
    random.below(u32::try_from(bound).unwrap_or(u32::MAX)) as usize
}

fn write_at(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    if let Some(place) = bytes.get_mut(offset..end) {
        place.copy_from_slice(data);
    }
}

fn write_all(bytes: &mut Vec<u8>, op: &DataOp, trace: &[u8]) {
    match op {
        DataOp::Write { offset, data } => {
            write_at(bytes, *offset, trace.get(data.clone()).unwrap_or_default());
        }
        DataOp::Truncate { size } => bytes.resize(*size, 0),
    }
}

/// Applies some sectors of a write. A change of size is applied completely or not at all.
fn write_some(bytes: &mut Vec<u8>, op: &DataOp, trace: &[u8], sector: usize, random: &dyn Random) {
    let DataOp::Write { offset, data } = op else {
        if random.below(2) == 0 {
            write_all(bytes, op, trace);
        }
        return;
    };
    let mut data = trace.get(data.clone()).unwrap_or_default();
    let mut at = *offset;
    while !data.is_empty() {
        let rest = sector - at % sector;
        let (now, later) = data.split_at(rest.min(data.len()));
        if random.below(2) == 0 {
            write_at(bytes, at, now);
        }
        at += now.len();
        data = later;
    }
}

/// Reads every file below a directory, except shared-memory files, which each start recreates.
pub fn read_directory(directory: &Path) -> Result<Files> {
    let mut files = Files::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next)? {
            let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type()))?;
            let name = path.strip_prefix(directory)?.to_string_lossy().into_owned();
            match kind? {
                kind if kind.is_dir() => open.push(path),
                kind if kind.is_file() && !is_shared_memory(&name) => {
                    files.insert(name, std::fs::read(&path)?);
                }
                _ => {}
            }
        }
    }
    Ok(files)
}

/// Returns whether each start recreates the file.
pub fn is_shared_memory(path: &str) -> bool {
    path.ends_with("-shm")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatehouse_domain::SeededRandom;

    const BYTES: [u8; 8192] = [7; 8192];

    fn disk(directory: &Path, omit: Option<u64>) -> Disk<'static> {
        Disk::begin(&BYTES, directory, &Files::new(), omit).unwrap()
    }

    fn create(path: &str, inode: u64) -> Change {
        let path = path.to_owned();
        Change::Create { path, inode }
    }

    fn write(inode: u64, offset: u64, len: usize) -> Change {
        let data = 0..len;
        Change::Write {
            inode,
            offset,
            data,
        }
    }

    fn sync(inode: u64, number: u64) -> [Change; 2] {
        [
            Change::SyncBegin { inode, number },
            Change::SyncEnd { inode, number },
        ]
    }

    fn states(disk: &Disk<'_>, loss: Loss) -> Vec<Files> {
        (0..200)
            .map(|seed| disk.cut(loss, &SeededRandom::new(seed)))
            .collect()
    }

    #[test]
    fn what_was_synced_is_there_after_every_cut() {
        let root = tempfile::tempdir().unwrap();
        let inode = std::fs::metadata(root.path()).unwrap().ino();
        let mut disk = disk(root.path(), None);
        let mut changes = vec![create("a", 10), write(10, 0, 1024)];
        changes.extend(sync(10, 1));
        changes.extend(sync(inode, 2));
        changes.push(write(10, 1024, 2048));
        for change in &changes {
            disk.apply(change).unwrap();
        }
        for loss in Loss::KINDS {
            for files in states(&disk, loss) {
                let bytes = &files["a"];
                assert!(bytes.len() >= 1024 && bytes[..1024] == BYTES[..1024]);
            }
        }
        let sizes: std::collections::BTreeSet<usize> = states(&disk, Loss::Sectors(512))
            .iter()
            .map(|files| files["a"].len())
            .collect();
        assert_eq!(sizes, [1024, 1536, 2048, 2560, 3072].into());
    }

    #[test]
    fn a_write_during_a_sync_is_not_covered_by_it() {
        let root = tempfile::tempdir().unwrap();
        let mut disk = disk(root.path(), None);
        let [begin, end] = sync(10, 1);
        for change in [create("a", 10), begin, write(10, 0, 512), end] {
            disk.apply(&change).unwrap();
        }
        let kept = states(&disk, Loss::SomeWrites);
        assert!(
            kept.iter()
                .any(|files| files.get("a").is_some_and(Vec::is_empty))
        );
        assert!(kept.iter().any(|files| !files.contains_key("a")));
    }

    #[test]
    fn an_omitted_sync_keeps_nothing() {
        let root = tempfile::tempdir().unwrap();
        let inode = std::fs::metadata(root.path()).unwrap().ino();
        for (omit, kept) in [(None, true), (Some(1), false)] {
            let mut disk = disk(root.path(), omit);
            let mut changes = vec![create("a", 10), write(10, 0, 512)];
            changes.extend(sync(10, 1));
            changes.extend(sync(inode, 2));
            for change in &changes {
                disk.apply(change).unwrap();
            }
            let files = disk.cut(Loss::All, &SeededRandom::new(1));
            assert_eq!(files.contains_key("a"), kept);
            assert_eq!(disk.syncs(), 2);
        }
    }
}
