//! Removes secrets from the process's own environment. The initial memory block of a process contains its variables
//! until its end, and other processes can read them in `/proc`. If this process finds a secret there, it therefore
//! executes its own program again, with the same process ID, and passes the secrets on standard input.

use anyhow::{Context, Result};
use gatehouse_config::Environment;
use rustix::fs::{MemfdFlags, memfd_create};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use zeroize::Zeroizing;

/// Returns the environment if this process's initial memory block contains no secret. Otherwise, restarts the program
/// and does not return.
pub fn without_secrets() -> Result<Environment> {
    let mut environment = Environment::from_process();
    if environment.secrets_are_on_stdin() {
        let moved = read_moved().context("cannot read the variables that were moved")?;
        let pairs = moved.split(|byte| *byte == 0).filter_map(pair);
        environment.extend(pairs);
        return Ok(environment);
    }
    let names: Vec<OsString> = environment.secrets().map(|(name, _)| name.into()).collect();
    // A process that cannot find its own program has no `/proc`, so no other process can read the
    // variables.
    let Some(program) = own_program().filter(|_| !names.is_empty()) else {
        return Ok(environment);
    };
    let moved = moved_file(&environment).context("cannot move secrets out of the environment")?;
    drop(environment);
    let mut arguments = std::env::args_os();
    let mut command = Command::new(program);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    let (name, value) = Environment::on_stdin();
    command
        .args(arguments)
        .env(name, value)
        .stdin(Stdio::from(moved));
    for name in names {
        command.env_remove(name);
    }
    let error = command.exec();
    Err(error).context(
        "cannot restart without the secrets in the environment; remove them from it \
         (SERVICE_VAULT_AUTO_UNSEAL_KEY_FILE names a file instead)",
    )
}

/// Returns a memory file with `NAME=VALUE` entries, each ended by a NUL byte.
fn moved_file(environment: &Environment) -> Result<File> {
    let mut text = Zeroizing::new(Vec::with_capacity(64 * 1024));
    for (name, value) in environment.secrets() {
        text.extend_from_slice(name.as_bytes());
        text.push(b'=');
        text.extend_from_slice(value.as_bytes());
        text.push(0);
    }
    let mut file = File::from(memfd_create("gatehouse", MemfdFlags::CLOEXEC)?);
    file.write_all(&text)?;
    file.rewind()?;
    Ok(file)
}

/// Reads standard input to its end and replaces it with `/dev/null`, which frees the memory file.
fn read_moved() -> Result<Zeroizing<Vec<u8>>> {
    let mut file = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let metadata = file.metadata()?;
    let mut text = Zeroizing::new(Vec::new());
    if metadata.is_file() {
        // The buffer is allocated once, because a growing buffer would leave copies in memory.
        text.resize(usize::try_from(metadata.len())?, 0);
        file.read_exact(&mut text)?;
    }
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(text)
}

fn pair(entry: &[u8]) -> Option<(OsString, OsString)> {
    let at = entry.iter().position(|byte| *byte == b'=')?;
    let (name, value) = entry.split_at(at);
    let value = value.strip_prefix(b"=")?;
    Some((
        OsStr::from_bytes(name).to_owned(),
        OsString::from_vec(value.to_vec()),
    ))
}

/// Returns the path of this program. On Linux, the path is usable even after the file was replaced or deleted, for
/// example by a package upgrade.
pub(crate) fn own_program() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?;
    let moved = || Path::new("/proc/self/exe").to_owned();
    Some(if path.exists() { path } else { moved() })
}
