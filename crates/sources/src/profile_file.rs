//! Profiles in TOML files, for vendors that need no code and for users' own senders. Contains the format, which
//! `docs/profiles-in-files.md` describes, and its checks. Must not read files.
//!
//! A profile lives as long as the process, so its texts are leaked when it is loaded. A file is loaded again only
//! after a change.

mod build;
mod check;
mod location;
mod raw;

use crate::auth_mode::Mode;
use crate::profile::Profile;
use location::line_at;

/// The directory of users' profiles, in the data directory.
pub const PROFILES_DIRECTORY: &str = "profiles";
/// Maximum size of a file, in bytes.
pub const MAX_FILE_BYTES: usize = 64 * 1024;
/// Maximum number of files.
pub const MAX_FILES: usize = 64;

/// A loaded profile.
#[derive(Clone, Copy)]
pub struct ProfileFile {
    pub(crate) profile: &'static Profile,
    /// The verification mode that the file defines, if any.
    pub(crate) mode: Option<&'static Mode>,
}

impl std::fmt::Debug for ProfileFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProfileFile")
            .field("id", &self.profile.id)
            .finish_non_exhaustive()
    }
}

impl ProfileFile {
    pub const fn profile(&self) -> &'static Profile {
        self.profile
    }
}

/// A mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct ProfileFileError {
    pub file: String,
    /// From 1.
    pub line: usize,
    pub message: String,
}

/// A mistake, and the path of the member that has it.
struct Mistake {
    path: String,
    message: String,
}

fn mistake<T>(path: impl Into<String>, message: impl Into<String>) -> Result<T, Mistake> {
    Err(Mistake {
        path: path.into(),
        message: message.into(),
    })
}

/// Parses a file. `sample` is the content of a `sample.json`; by default, the file's member `sample` is used.
pub fn parse(
    file: &str,
    text: &str,
    sample: Option<&str>,
) -> Result<ProfileFile, ProfileFileError> {
    let error = |line, message: String| ProfileFileError {
        file: file.to_owned(),
        line,
        message,
    };
    if text.len() > MAX_FILE_BYTES {
        return Err(error(1, format!("larger than {MAX_FILE_BYTES} bytes")));
    }
    let raw: raw::Raw = toml::from_str(text).map_err(|wrong| {
        let line = wrong.span().map_or(1, |span| line_at(text, span.start));
        error(line, wrong.message().trim().to_owned())
    })?;
    build::build(&raw, sample).map_err(|Mistake { path, message }| {
        let line = location::line_of(text, &path);
        error(line, format!("{path}: {message}"))
    })
}

#[cfg(test)]
mod tests;
