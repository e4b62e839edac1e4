//! The owner of files that root creates in the data directory of another user, such as the user of a service.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, fchown, lchown};
use std::path::Path;

const ROOT: u32 = 0;

/// The user and the group that get the files that root creates. Does nothing for a process of another user, and for a
/// directory of root.
///
/// Gives away only what this process has just created, and only in directories that the user owns: other files may be
/// links, or files of root on purpose.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileOwner(Option<(u32, u32)>);

impl FileOwner {
    /// Returns the owner of a data directory.
    pub fn of(data_dir: &Path) -> Self {
        let found = data_dir.metadata().ok();
        let other = found.filter(|found| found.is_dir() && found.uid() != ROOT);
        Self(other.map(|found| (found.uid(), found.gid())))
    }

    /// Gives a new file at this path to the owner. A failure is only logged: the file is complete.
    pub fn give(self, file: &File, path: &Path) {
        let Some((user, group)) = self.0 else {
            return;
        };
        let is_of_root = file.metadata().is_ok_and(|found| found.uid() == ROOT);
        if is_of_root && self.owns(directory_of(path)) {
            report(path, fchown(file, Some(user), Some(group)));
        }
    }

    /// Creates a directory and its parents with mode 0700, if they are missing, and gives the new ones to the owner.
    pub fn create_directory(self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        let above = directory_of(path);
        let create = || DirBuilder::new().mode(0o700).create(path);
        let created = match create() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && above != path => {
                self.create_directory(above)?;
                create()
            }
            created => created,
        };
        match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {
                return Ok(());
            }
            created => created?,
        }
        let Some((user, group)) = self.0 else {
            return Ok(());
        };
        let found = path.symlink_metadata()?;
        if found.is_dir() && found.uid() == ROOT && self.owns(above) {
            report(path, lchown(path, Some(user), Some(group)));
        }
        Ok(())
    }

    fn owns(self, directory: &Path) -> bool {
        let found = directory.metadata();
        found.is_ok_and(|found| self.0.is_some_and(|(user, _)| found.uid() == user))
    }
}

fn report(path: &Path, given: io::Result<()>) {
    if let Err(error) = given {
        tracing::warn!(
            path = %path.display(),
            %error,
            "a new file belongs to root, because it cannot be given to the owner of the data directory"
        );
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
mod tests {
    use super::*;
    use crate::testing::{TestDatabase, empty_sqlite};
    use std::os::unix::fs::{chown, symlink};

    const NOBODY: u32 = 65534;

    fn owner(path: &Path) -> (u32, u32) {
        let found = path.symlink_metadata().unwrap();
        (found.uid(), found.gid())
    }

    /// A data directory of another user; `None` if the test does not run as root.
    fn data_dir_of_another_user() -> Option<TestDatabase> {
        let database = empty_sqlite();
        let given = chown(database.directory(), Some(NOBODY), Some(NOBODY));
        given.is_ok().then_some(database)
    }

    #[test]
    fn new_files_and_directories_get_the_owner_of_the_data_directory() {
        let Some(database) = data_dir_of_another_user() else {
            return;
        };
        let data_dir = database.directory();
        let given = FileOwner::of(data_dir);
        let folder = data_dir.join("a/b");
        given.create_directory(&folder).unwrap();
        let path = folder.join("file");
        given.give(&File::create(&path).unwrap(), &path);
        for path in [&data_dir.join("a"), &folder, &path] {
            assert_eq!(owner(path), (NOBODY, NOBODY), "{}", path.display());
        }
        // Existing directories are not given away.
        let kept = data_dir.join("kept");
        std::fs::create_dir(&kept).unwrap();
        let before = owner(&kept);
        given.create_directory(&kept).unwrap();
        assert_eq!(owner(&kept), before);
    }

    #[test]
    fn files_in_directories_of_others_keep_their_owner() {
        let Some(database) = data_dir_of_another_user() else {
            return;
        };
        let elsewhere = empty_sqlite();
        let given = FileOwner::of(database.directory());
        let link = database.directory().join("link");
        symlink(elsewhere.directory(), &link).unwrap();
        let before = owner(elsewhere.directory());
        for folder in [elsewhere.directory(), link.as_path()] {
            let path = folder.join("file");
            given.give(&File::create(&path).unwrap(), &path);
            assert_eq!(owner(&path), before);
            let below = folder.join("below");
            given.create_directory(&below).unwrap();
            assert_eq!(owner(&below), before);
            std::fs::remove_dir(&below).unwrap();
        }
    }

    #[test]
    fn an_own_data_directory_and_a_missing_one_change_nothing() {
        let database = empty_sqlite();
        let path = database.directory().join("file");
        let file = File::create(&path).unwrap();
        let before = owner(&path);
        for data_dir in [
            database.directory(),
            database.directory().join("missing").as_path(),
        ] {
            FileOwner::of(data_dir).give(&file, &path);
            assert_eq!(owner(&path), before);
        }
    }
}
