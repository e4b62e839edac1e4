//! Runs other programs: finds them, executes them, captures their output.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Returns the workspace root. Cargo passes the manifest's folder to the programs it runs.
pub fn root() -> Result<PathBuf> {
    match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(xtask) => Path::new(&xtask)
            .parent()
            .map(Path::to_path_buf)
            .context("xtask has no parent"),
        None => std::env::current_dir().context("no working directory"),
    }
}

/// Returns the cargo that runs xtask, in the workspace root.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Returns the command line as you would type it.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    std::iter::once(program.file_name().unwrap_or(program.as_os_str()))
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a command with inherited input and output. Fails unless the command succeeds.
pub fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", shown(command));
    let status = command
        .status()
        .with_context(|| format!("cannot start: {}", shown(command)))?;
    if !status.success() {
        bail!("{status}: {}", shown(command));
    }
    Ok(())
}

/// Runs a command and returns its output. If the command fails, the error contains its standard
/// error.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start: {}", shown(command)))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{}: {}\n{}",
            output.status,
            shown(command),
            complaint.trim_end()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("not UTF-8: {}", shown(command)))
}

/// Returns a program's full path, from PATH.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

/// Returns whether the file exists and is executable.
pub fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Returns whether this process runs as root.
pub fn is_root() -> bool {
    user_id(None) == Some(0)
}

/// Returns a user's ID. `None` means the current user.
pub fn user_id(name: Option<&str>) -> Option<u32> {
    capture(Command::new("id").arg("-u").args(name))
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// Returns whether an environment variable is set to `true` or `1`.
pub fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
}
