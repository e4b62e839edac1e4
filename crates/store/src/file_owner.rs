//! Ownership of files that root creates in the data directory of another user, such as a service user.

use rustix::fs::{AtFlags, Dir, Mode, OFlags, fstat, mkdirat, open, openat, statat};
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, fchown};
use std::path::Path;

const ROOT: u32 = 0;
const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// The user and the group that become the owners of files that root creates. Does nothing in a process of another
/// user, and for a directory of root.
///
/// The user may exchange files, directories and links in a path at any time. Every check and change therefore uses
/// an open file or directory. The user gets only files and directories that it could have created itself: a file
/// whose only link is in a directory of the user, and an empty directory in such a directory. The owner of a file
/// with other links is never changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileOwner(Option<(u32, u32)>);

impl FileOwner {
    /// Returns the owner of a data directory.
    pub fn of(data_dir: &Path) -> Self {
        let found = data_dir.metadata().ok().filter(|_| geteuid().is_root());
        let other = found.filter(|found| found.is_dir() && found.uid() != ROOT);
        Self(other.map(|found| (found.uid(), found.gid())))
    }

    /// Returns the owner of the directory that contains the path.
    pub fn of_parent(path: &Path) -> Self {
        Self::of(directory_of(path))
    }

    /// Returns whether new files are given to another user, who may place links in this directory.
    pub const fn is_another_user(self) -> bool {
        self.0.is_some()
    }

    /// Changes the owner of a new file at this path. A failure is only logged, because the file is complete.
    pub fn give(self, file: &File, path: &Path) {
        if let Some(owner) = self.0 {
            report(path, give_file(owner, file, path));
        }
    }

    /// Creates a directory and its missing parents with mode 0700. Changes the owner of the new ones.
    pub fn create_directory(self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        let above = directory_of(path);
        let created = match self.create_one(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && above != path => {
                self.create_directory(above)?;
                self.create_one(path)
            }
            created => created,
        };
        match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            created => created,
        }
    }

    fn create_one(self, path: &Path) -> io::Result<()> {
        let (Some(owner), Some(name)) = (self.0, path.file_name()) else {
            return DirBuilder::new().mode(0o700).create(path);
        };
        let above = open_directory(directory_of(path))?;
        mkdirat(&above, name, Mode::RWXU)?;
        report(path, give_directory(owner, &above, name));
        Ok(())
    }
}

/// Changes the owner of a file. Returns whether it did.
fn give_file((user, group): (u32, u32), file: &File, path: &Path) -> io::Result<bool> {
    let Some(name) = path.file_name() else {
        return Ok(false);
    };
    let directory = open_directory(directory_of(path))?;
    let opened = fstat(file)?;
    // One call reads the entry and the number of links, so the entry is the only link at this time. The user cannot
    // remove a link from a directory that belongs to others.
    let entry = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_same = (entry.st_dev, entry.st_ino) == (opened.st_dev, opened.st_ino);
    if !is_same
        || entry.st_nlink != 1
        || entry.st_uid != ROOT
        || directory.metadata()?.uid() != user
    {
        return Ok(false);
    }
    fchown(file, Some(user), Some(group))?;
    Ok(true)
}

/// Changes the owner of an empty directory. Returns whether it did. The user may have replaced the created
/// directory with another one.
fn give_directory((user, group): (u32, u32), above: &File, name: &OsStr) -> io::Result<bool> {
    if above.metadata()?.uid() != user {
        return Ok(false);
    }
    let opened = openat(above, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
    let directory = File::from(opened);
    let is_empty = Dir::read_from(&directory)?
        .all(|entry| entry.is_ok_and(|entry| matches!(entry.file_name().to_bytes(), b"." | b"..")));
    if !is_empty || directory.metadata()?.uid() != ROOT {
        return Ok(false);
    }
    fchown(&directory, Some(user), Some(group))?;
    Ok(true)
}

fn open_directory(path: &Path) -> io::Result<File> {
    Ok(File::from(open(path, DIRECTORY, Mode::empty())?))
}

fn report(path: &Path, given: io::Result<bool>) {
    match given {
        Ok(true) => {}
        // With `root_squash`, files that root creates on NFS belong to another user.
        Ok(false) => tracing::debug!(
            path = %path.display(),
            "a new file keeps its owner: it does not belong to root, its directory belongs to another user, or it was \
             exchanged"
        ),
        Err(error) => tracing::warn!(
            path = %path.display(),
            %error,
            "a new file belongs to root, because it cannot be given to the owner of the data directory"
        ),
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(above) if above.as_os_str().is_empty() => Path::new("."),
        Some(above) => above,
        None => path,
    }
}

#[cfg(test)]
mod tests;
