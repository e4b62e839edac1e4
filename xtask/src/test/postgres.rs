//! A temporary PostgreSQL server with its own directory and port. It is removed when this process ends.
//!
//! A small shell script owns the server and waits on a pipe. Only this process has the other end of the pipe. When the
//! process ends for any reason (return, panic, Ctrl-C, kill -9), the pipe closes, and the script stops the server and
//! removes its directory. No signal handler is needed.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::apt;
use crate::process::{capture, find_program, is_executable, is_root, user_id};

/// The settings prefer speed to durability, because the data is not needed after a power failure. Each test process has
/// its own pools.
const SCRIPT: &str = r#"
set -eu
trap '' INT HUP TERM
data="$GH_FOLDER/data" log="$GH_FOLDER/log"
finish() {
  if [ -f "$data/postmaster.pid" ]; then
    "$GH_BIN/pg_ctl" --pgdata="$data" --mode=immediate --wait stop >>"$log" 2>&1 || true
  fi
  rm -rf "$GH_FOLDER"
}
trap finish EXIT
fail() { tail -n 20 "$log" >&2; exit 1; }
"$GH_BIN/initdb" --pgdata="$data" --username=postgres --auth=trust --encoding=UTF8 \
  --locale=C.UTF-8 --no-sync >"$log" 2>&1 || fail
cat >>"$data/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
port = $GH_PORT
unix_socket_directories = '$GH_FOLDER'
max_connections = 200
fsync = off
synchronous_commit = off
full_page_writes = off
CONF
"$GH_BIN/pg_ctl" --pgdata="$data" --log="$log" --wait --timeout=60 start >>"$log" 2>&1 || fail
echo ready
cat >/dev/null
"#;

/// Another program may take the port before the server binds it.
const ATTEMPTS: u32 = 3;

/// A running server. Dropping it stops the server.
pub struct Server {
    /// The URL for connecting as superuser.
    pub url: String,
    /// The version that the server reports.
    pub version: String,
    keeper: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        // The pipe's end in this process: closing it stops the script.
        drop(self.keeper.stdin.take());
        if let Err(error) = self.keeper.wait() {
            eprintln!("PostgreSQL may still be running: {error}");
        }
    }
}

/// Finds or installs PostgreSQL's programs and starts a server.
pub fn start() -> Result<Server> {
    let programs = if let Some(found) = find_programs() {
        found
    } else {
        apt::forbid_main_cluster()?;
        apt::install(&["postgresql"])?;
        find_programs().context("PostgreSQL was installed, but initdb was not found")?
    };
    let mut attempt = 1;
    loop {
        match start_once(&programs) {
            Err(error) if attempt < ATTEMPTS => eprintln!("PostgreSQL: {error:#}; retrying"),
            done => return done,
        }
        attempt += 1;
    }
}

/// Returns the newest directory with the server's programs.
fn find_programs() -> Option<PathBuf> {
    let complete = |folder: &Path| {
        ["initdb", "postgres", "pg_ctl"]
            .iter()
            .all(|name| is_executable(&folder.join(name)))
    };
    // A wrapper or link on PATH may not have the other programs next to it, so all three are checked.
    let on_path = find_program("initdb").and_then(|found| found.parent().map(Path::to_path_buf));
    if let Some(folder) = on_path.filter(|folder| complete(folder)) {
        return Some(folder);
    }
    let versions = Path::new("/usr/lib/postgresql")
        .read_dir()
        .ok()?
        .filter_map(Result::ok);
    versions
        .filter_map(|entry| {
            let version: f64 = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .filter(|(_, folder)| complete(folder))
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, folder)| folder)
}

fn start_once(programs: &Path) -> Result<Server> {
    let folder = tempfile::Builder::new().prefix("gatehouse-pg-").tempdir()?;
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let mut command = Command::new("sh");
    command
        .args(["-c", SCRIPT])
        .current_dir(folder.path())
        .process_group(0);
    command
        .env("GH_BIN", programs)
        .env("GH_FOLDER", folder.path());
    command
        .env("GH_PORT", port.to_string())
        .env_remove("PGDATA")
        .env_remove("PGOPTIONS");
    if is_root() {
        // The server refuses to run as root.
        let (user, group) = unprivileged()?;
        std::os::unix::fs::chown(folder.path(), Some(user), Some(group))?;
        command.uid(user).gid(group);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut keeper = command.spawn().context("cannot start sh")?;
    let mut word = String::new();
    if let Some(output) = keeper.stdout.take() {
        BufReader::new(output).read_line(&mut word)?;
    }
    if word.trim() != "ready" {
        let mut complaint = String::new();
        if let Some(mut errors) = keeper.stderr.take() {
            errors.read_to_string(&mut complaint)?;
        }
        keeper.wait()?;
        bail!("did not start: {}", complaint.trim());
    }
    // From this point on, the script removes the directory.
    let _kept = folder.keep();
    let version = capture(Command::new(programs.join("postgres")).arg("--version"))?;
    let version = version
        .split_whitespace()
        .find(|word| word.starts_with(char::is_numeric));
    let version = format!("PostgreSQL {}", version.unwrap_or("of unknown version"));
    let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
    Ok(Server {
        url,
        version,
        keeper,
    })
}

/// Returns an unprivileged user and group.
fn unprivileged() -> Result<(u32, u32)> {
    for name in ["postgres", "nobody"] {
        let group = capture(Command::new("id").args(["-g", name])).ok();
        let group = group.and_then(|text| text.trim().parse().ok());
        if let Some(found) = user_id(Some(name)).zip(group) {
            return Ok(found);
        }
    }
    bail!("no user `postgres` or `nobody` to run it as")
}
