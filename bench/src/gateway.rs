//! A server in a separate process: the released gateway or the bare routes. Starts and stops it, and reads its
//! figures from the system.

use crate::http1::{Client, request};
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Display;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Timeout for a response.
const PATIENCE: Duration = Duration::from_secs(20);
/// Timeout for stopping. A server first waits up to 30 seconds (`server.drain_seconds`) for a send to a receiver
/// that never responds.
const PATIENCE_AT_STOP: Duration = Duration::from_mins(1);
/// Timeout for starting, which includes the migration of a large database.
const PATIENCE_AT_START: Duration = Duration::from_mins(5);
/// The environment variable that names the log file of all servers.
const LOG: &str = "GATEHOUSE_BENCH_LOG";
/// Clock ticks per second in `/proc`, the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// A running server. Dropping it kills the process.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// The time from before the creation of the process to the first 200 from `/health`.
    pub started_in: Duration,
}

/// Returns the path of the gateway's binary, which `cargo xtask bench` provides.
pub fn binary() -> Result<PathBuf> {
    let path = std::env::var_os("GATEHOUSE_BENCH_BINARY")
        .map(PathBuf::from)
        .filter(|path| path.is_file());
    path.context("GATEHOUSE_BENCH_BINARY names no binary: run cargo xtask bench")
}

/// Returns the destination of a server's log: the file that the environment names, otherwise none.
fn log() -> Result<Stdio> {
    let Some(path) = std::env::var_os(LOG) else {
        return Ok(Stdio::null());
    };
    let file = File::options().create(true).append(true).open(&path);
    let file = file.with_context(|| format!("cannot open {}", path.to_string_lossy()))?;
    Ok(file.into())
}

fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

impl Server {
    /// Starts the gateway with this data directory. Discards its log by default.
    pub fn gateway(data_dir: &Path, environment: &[(&str, &str)]) -> Result<Self> {
        Self::gateway_watched(data_dir, environment, |_| {})
    }

    /// Like [`Server::gateway`], with another binary of the gateway.
    pub fn gateway_of(
        binary: &Path,
        data_dir: &Path,
        environment: &[(&str, &str)],
    ) -> Result<Self> {
        Self::serve(binary, (data_dir, environment), |_| {})
    }

    /// Like [`Server::gateway`]. Calls `watch` repeatedly with the address until the gateway has started.
    pub fn gateway_watched(
        data_dir: &Path,
        environment: &[(&str, &str)],
        watch: impl FnMut(SocketAddr),
    ) -> Result<Self> {
        Self::serve(&binary()?, (data_dir, environment), watch)
    }

    fn serve(
        binary: &Path,
        (data_dir, environment): (&Path, &[(&str, &str)]),
        watch: impl FnMut(SocketAddr),
    ) -> Result<Self> {
        let address = free_address()?;
        let mut command = Command::new(binary);
        // Settings in the developer's environment must not apply.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("SERVICE_") {
                command.env_remove(name);
            }
        }
        command
            .args(["serve", "--bind", &address.to_string(), "--data-dir"])
            .arg(data_dir);
        command.envs(environment.iter().copied());
        Self::start(command, address, watch)
    }

    /// Starts the bare routes.
    pub fn bare() -> Result<Self> {
        Self::bare_with("")
    }

    /// Starts the bare routes, which verify deliveries with this secret.
    pub fn bare_with(secret: &str) -> Result<Self> {
        let address = free_address()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bare", &address.to_string(), secret]);
        Self::start(command, address, |_| {})
    }

    fn start(
        mut command: Command,
        address: SocketAddr,
        mut watch: impl FnMut(SocketAddr),
    ) -> Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log()?);
        let begun = Instant::now();
        let child = command.spawn().context("cannot start the server")?;
        let mut server = Self {
            child,
            address,
            started_in: Duration::ZERO,
        };
        while !is_healthy(address) {
            if let Some(status) = server.child.try_wait()? {
                bail!("the server did not start: {status}");
            }
            if begun.elapsed() > PATIENCE_AT_START {
                bail!("the server did not answer in time");
            }
            watch(address);
            std::thread::sleep(Duration::from_micros(200));
        }
        server.started_in = begun.elapsed();
        Ok(server)
    }

    /// Requests the process to stop and waits for its end.
    pub fn stop(mut self) -> Result<()> {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM)?;
        }
        let begun = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begun.elapsed() > PATIENCE_AT_STOP {
                bail!("the server did not stop");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Kills the process immediately. Data that it wrote still reaches the disk. `bench power-cut` simulates a
    /// power failure.
    pub fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Returns resident memory in bytes.
    pub fn resident_bytes(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: u64 = line
            .context("no VmRSS")?
            .trim()
            .trim_end_matches(" kB")
            .parse()?;
        Ok(kib * 1024)
    }

    /// Returns processor time used so far.
    pub fn processor_time(&self) -> Result<Duration> {
        processor_time_of(self.child.id())
    }

    pub fn signal(&self, signal: Signal) -> Result<()> {
        let process = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        Ok(kill_process(process.context("no process")?, signal)?)
    }

    /// Returns the number of open files and sockets.
    pub fn open_files(&self) -> Result<usize> {
        Ok(std::fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count())
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> Result<usize> {
        Ok(std::fs::read_dir(format!("/proc/{}/task", self.child.id()))?.count())
    }

    /// Returns the number of bytes that the process has caused to be written to the disk.
    pub fn written_bytes(&self) -> Result<u64> {
        let io = std::fs::read_to_string(format!("/proc/{}/io", self.child.id()))?;
        let line = io
            .lines()
            .find_map(|line| line.strip_prefix("write_bytes:"));
        Ok(line.context("no write_bytes")?.trim().parse()?)
    }

    /// Opens a connection to the server.
    pub async fn connect(&self) -> Result<Client> {
        Client::connect(self.address).await
    }
}

/// Returns the processor time that a process has used so far. `process` is its ID, or `self`.
pub fn processor_time_of(process: impl Display) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name is in parentheses; the fields from the third on follow it.
    let fields = stat.rsplit_once(')').context("no name")?.1;
    let ticks: Vec<f64> = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|t| t.parse().ok())
        .collect();
    Ok(Duration::from_secs_f64(
        ticks.iter().sum::<f64>() / TICKS_PER_SECOND,
    ))
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

fn is_healthy(address: SocketAddr) -> bool {
    let ask = || -> Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(&request("GET", "/health", &[], None))?;
        let mut start = [0; 12];
        stream.read_exact(&mut start)?;
        Ok(start.ends_with(b" 200"))
    };
    ask().unwrap_or(false)
}
