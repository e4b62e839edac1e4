//! A PostgreSQL server for benchmarks that can be killed and restarted. It syncs like a production server.

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Timeout for a start, including recovery after a kill.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server. Dropping it kills the process.
pub struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    user: Option<(u32, u32)>,
    port: u16,
    child: Option<Child>,
}

/// Returns the newest directory with the server's programs.
fn programs() -> Result<PathBuf> {
    let mut found: Vec<(f64, PathBuf)> = Vec::new();
    for entry in Path::new("/usr/lib/postgresql")
        .read_dir()
        .into_iter()
        .flatten()
    {
        let entry = entry?;
        let version = entry.file_name().to_string_lossy().parse();
        let folder = entry.path().join("bin");
        if let (Ok(version), true) = (version, folder.join("initdb").is_file()) {
            found.push((version, folder));
        }
    }
    found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    if let Some((_, folder)) = found.pop() {
        return Ok(folder);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .find(|folder| folder.join("initdb").is_file())
        .context("no PostgreSQL here: apt-get install postgresql")
}

/// Returns an unprivileged user and group. The server refuses to run as root.
fn unprivileged() -> Result<Option<(u32, u32)>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    for name in ["postgres", "nobody"] {
        let number = |flag| -> Option<u32> {
            let said = Command::new("id").args([flag, name]).output().ok()?;
            String::from_utf8(said.stdout).ok()?.trim().parse().ok()
        };
        if let (Some(user), Some(group)) = (number("-u"), number("-g")) {
            return Ok(Some((user, group)));
        }
    }
    bail!("no user `postgres` or `nobody` to run PostgreSQL as")
}

impl Postgres {
    /// Creates a database cluster and starts it.
    pub fn start() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("gatehouse-pg-").tempdir()?;
        let user = unprivileged()?;
        if let Some((user, group)) = user {
            chown(folder.path(), Some(user), Some(group))?;
        }
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let mut postgres = Self {
            folder,
            programs: programs()?,
            user,
            port,
            child: None,
        };
        let made = postgres
            .command("initdb")
            .args([
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--no-locale",
            ])
            .arg(format!("--pgdata={}", postgres.data().display()))
            .output()?;
        ensure!(
            made.status.success(),
            "initdb: {}",
            String::from_utf8_lossy(&made.stderr)
        );
        postgres.start_again()?;
        Ok(postgres)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command
            .current_dir(self.folder.path())
            .env_remove("PGDATA")
            .env_remove("PGOPTIONS")
            .stdin(Stdio::null())
            .process_group(0);
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }

    /// Returns the URL for clients.
    pub fn url(&self) -> String {
        Self::url_at(self.port)
    }

    /// Returns the URL for clients that connect through a proxy on this port.
    pub fn url_at(port: u16) -> String {
        format!("postgres://postgres@127.0.0.1:{port}/postgres")
    }

    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Starts the server again, including after a kill.
    pub fn start_again(&mut self) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let mut child = self.spawn()?;
            // The server exits immediately while a process of the killed one is still running.
            while child.try_wait()?.is_none() {
                if self.is_ready() {
                    self.child = Some(child);
                    return Ok(());
                }
                if begun.elapsed() > PATIENCE {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            drop(child.kill());
            drop(child.wait());
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut log = String::new();
        if let Ok(mut file) = std::fs::File::open(self.folder.path().join("log")) {
            file.read_to_string(&mut log)?;
        }
        bail!("PostgreSQL did not start: {log}")
    }

    fn spawn(&self) -> Result<Child> {
        let log = std::fs::File::create(self.folder.path().join("log"))?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data());
        for setting in [
            "listen_addresses=127.0.0.1".to_owned(),
            format!("port={}", self.port),
            format!("unix_socket_directories={}", self.folder.path().display()),
            "max_connections=200".to_owned(),
            "fsync=on".to_owned(),
        ] {
            command.arg("-c").arg(setting);
        }
        command.stdout(Stdio::null()).stderr(log);
        command.spawn().context("cannot start PostgreSQL")
    }

    fn is_ready(&self) -> bool {
        let port = self.port.to_string();
        let asked = self
            .command("pg_isready")
            .args(["--host=127.0.0.1", "--port", &port, "--quiet"])
            .status();
        asked.is_ok_and(|status| status.success())
            && TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok()
    }

    /// Kills the main process. The other processes detect this and exit.
    pub fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Sends a signal to all processes of the server. Each process is the leader of its own process group.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let main = self
            .child
            .as_ref()
            .context("the server is not running")?
            .id();
        let children = std::fs::read_to_string(format!("/proc/{main}/task/{main}/children"))?;
        let children = children.split_whitespace().map(str::parse);
        for process in std::iter::once(Ok(main.cast_signed())).chain(children) {
            if let Some(process) = Pid::from_raw(process?) {
                // The process of a connection may have ended.
                let _ = kill_process(process, signal);
            }
        }
        Ok(())
    }

    /// Returns the number of statements in the server's log. The log contains statements if `log_statement` is
    /// `all`.
    pub fn statements_logged(&self) -> Result<usize> {
        let log = std::fs::read_to_string(self.folder.path().join("log"))?;
        let is_statement =
            |line: &&str| line.contains(" LOG:  execute ") || line.contains(" LOG:  statement: ");
        Ok(log.lines().filter(is_statement).count())
    }

    /// Runs one statement and returns its result, as text.
    pub fn ask(&self, sql: &str) -> Result<String> {
        let port = self.port.to_string();
        let said = self
            .command("psql")
            .args(["--host=127.0.0.1", "--username=postgres", "--port", &port])
            .args([
                "--no-psqlrc",
                "--tuples-only",
                "--no-align",
                "--command",
                sql,
            ])
            .output()?;
        ensure!(
            said.status.success(),
            "{sql}: {}",
            String::from_utf8_lossy(&said.stderr)
        );
        Ok(String::from_utf8(said.stdout)?.trim().to_owned())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.kill());
    }
}
