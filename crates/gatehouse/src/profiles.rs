//! Reads the profiles of senders that users describe in files: `profiles/*.toml` in the data directory. Changes take
//! effect at the next start.

use gatehouse_sources::profile::{self, AddError};
use gatehouse_sources::profile_file::{
    MAX_FILE_BYTES, MAX_FILES, PROFILES_DIRECTORY, ProfileFile, ProfileFileError, parse,
};
use std::path::{Path, PathBuf};

/// Why profiles could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ProfilesError {
    #[error("cannot read {path}")]
    Unreadable {
        path: String,
        source: std::io::Error,
    },
    #[error("{PROFILES_DIRECTORY} has more than {MAX_FILES} profiles")]
    TooMany,
    #[error(transparent)]
    Invalid(#[from] ProfileFileError),
    /// Two profiles have the same ID.
    #[error("{file}: {source}")]
    Added { file: String, source: AddError },
}

/// Loads the profiles of the folder, in the order of the files' names. Does nothing if there are none.
#[expect(
    clippy::disallowed_methods,
    reason = "reads a few small files before anything else runs"
)]
pub fn load(data_dir: &Path) -> Result<(), ProfilesError> {
    let folder = data_dir.join(PROFILES_DIRECTORY);
    let unreadable = |path: &Path, source| ProfilesError::Unreadable {
        path: path.display().to_string(),
        source,
    };
    let listed = match std::fs::read_dir(&folder) {
        Ok(listed) => listed,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreadable(&folder, error)),
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in listed {
        let path = entry.map_err(|error| unreadable(&folder, error))?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            paths.push(path);
        }
    }
    if paths.len() > MAX_FILES {
        return Err(ProfilesError::TooMany);
    }
    paths.sort();
    let mut files = Vec::with_capacity(paths.len());
    for path in &paths {
        let size = std::fs::metadata(path).map_err(|error| unreadable(path, error))?;
        let name = shown(path);
        if usize::try_from(size.len()).map_or(true, |bytes| bytes > MAX_FILE_BYTES) {
            return Err(ProfilesError::Invalid(ProfileFileError {
                file: name,
                line: 1,
                message: format!("larger than {MAX_FILE_BYTES} bytes"),
            }));
        }
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, error))?;
        files.push(parse(&name, &text, None)?);
    }
    if files.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = files.iter().map(ProfileFile::id).collect();
    profile::add(files).map_err(|source| ProfilesError::Added {
        file: match &source {
            AddError::Exists(id) => {
                let last = ids.iter().rposition(|known| known == id);
                let path = last.and_then(|at| paths.get(at));
                path.map_or_else(|| PROFILES_DIRECTORY.to_owned(), |path| shown(path))
            }
            AddError::TooLate => PROFILES_DIRECTORY.to_owned(),
        },
        source,
    })
}

fn shown(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{PROFILES_DIRECTORY}/{name}")
}
