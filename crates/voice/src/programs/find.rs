//! Finds programs.

use super::{Programs, workspace::absolute};
use crate::VoiceError;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// The search path if the settings pass no PATH.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Programs {
    /// Returns the path of the program: `wanted` if it is executable. If nothing is wanted, the first `name` on PATH. A
    /// `wanted` without a directory is also searched on PATH.
    pub(crate) fn find(&self, wanted: Option<&Path>, name: &str) -> Option<PathBuf> {
        let name = match wanted {
            None => Path::new(name),
            Some(wanted) if is_name(wanted) => wanted,
            Some(wanted) => {
                let path = absolute(wanted);
                return is_executable(&path).then_some(path);
            }
        };
        let is_path = |(variable, _): &&(String, OsString)| variable == "PATH";
        let path = self.variables.iter().find(is_path);
        let path = path.map_or_else(|| OsString::from(USUAL_PATH), |(_, value)| value.clone());
        // A relative entry would run programs from the working directory.
        std::env::split_paths(&path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(name))
            .find(|file| is_executable(file))
    }

    /// Returns the executable file with this name in the directory that contains the program's link target, or else in
    /// the directory of the program.
    pub(crate) fn beside(program: &Path, name: &str) -> Option<PathBuf> {
        let linked = std::fs::canonicalize(program).ok();
        let mut files = [linked.as_deref(), Some(program)]
            .into_iter()
            .flatten()
            .map(|program| program.with_file_name(name));
        files.find(|file| is_executable(file))
    }
}

/// Returns the error for a program that is not installed.
pub(crate) fn not_found(setting: &'static str, name: &str) -> VoiceError {
    let hint = format!("Install {name}, or set {setting} to its path.");
    VoiceError::not_configured(setting, hint)
}

fn is_name(path: &Path) -> bool {
    let mut components = path.components();
    matches!(
        (components.next(), components.next()),
        (Some(Component::Normal(_)), None)
    )
}

fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
