//! Runs one process with its descendants: writes its input, reads its output, and ends the whole group.
//!
//! The process leads its own group. The rest of the group is killed before the leader is reaped, because until then no
//! other group can get its ID. A descendant that leaves the group cannot be killed, but does not block anything.

use super::pipes::{Output, drain, feed};
use super::{Job, Piece};
use crate::VoiceError;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::Instant;

/// How long the pipes may stay open after the process has ended.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// "Exec format error": built for another architecture, or not a program.
const ENOEXEC: i32 = 8;

/// Runs the job to its end and sends its output. Dropping the future kills the group. The permit is released when the
/// process ends, even if output still waits for the reader.
pub(super) async fn drive(
    mut job: Job,
    variables: &[(String, OsString)],
    pieces: &mpsc::Sender<Piece>,
    permit: OwnedSemaphorePermit,
) -> Result<(), VoiceError> {
    let provider = job.provider;
    let broken = |_error| VoiceError::failed(provider, "failed unexpectedly", true);
    let (mut running, pipes) = Running::start(&job, variables)?;
    let (stdin, mut stdout, stderr) = pipes;
    let input = std::mem::take(&mut job.stdin);
    let talk = async { tokio::join!(feed(stdin, input), drain(stderr, job.with_stderr)).1 };
    tokio::pin!(talk);
    let (mut said, mut permit) = (None, Some(permit));
    let mut output = Output::new(&job);
    let mut until = None;
    while until.is_none() || output.open || said.is_none() {
        tokio::select! {
            biased;
            () = pieces.closed() => return Ok(()),
            free = pieces.reserve(), if output.has_some() => match free {
                Ok(free) => free.send(Ok(output.piece())),
                Err(_closed) => return Ok(()),
            },
            read = stdout.read_buf(&mut output.buffer), if output.has_space() => {
                output.took(read.map_err(broken)?)?;
            }
            what = &mut talk, if said.is_none() => said = Some(what),
            ended = running.ended(), if until.is_none() => {
                ended.map_err(broken)?;
                running.kill();
                permit = None;
                until = Some(Instant::now() + GRACE);
            }
            // The timeout for open pipes does not run while output waits in the pipe for a slow reader.
            () = tokio::time::sleep_until(until.unwrap_or_else(Instant::now)),
                if until.is_some() && !output.is_full() => break,
        }
    }
    drop(permit);
    let status = running.reap().await.map_err(broken)?;
    // A closed receiver is not a failure.
    let rest = output.piece();
    if !rest.is_empty() {
        let _ = pieces.send(Ok(rest)).await;
    }
    let said = said.unwrap_or_default();
    tracing::debug!(
        provider,
        status = %status,
        stderr_lines = said.lines,
        "a program ended"
    );
    if !status.success() {
        return Err(VoiceError::failed(provider, "exited with an error", false));
    }
    if !said.tail.is_empty() {
        // The tail starts on a new line.
        let tail = [b"\n".as_slice(), &said.tail].concat();
        let _ = pieces.send(Ok(tail.into())).await;
    }
    Ok(())
}

pub(super) struct Running {
    child: Child,
    /// The ID of the group that the process leads. `None` after the process is reaped.
    group: Option<Pid>,
    /// Receives SIGCHLD when a child process of this server ends.
    news: unix::Signal,
}

impl Running {
    /// Starts the program of the job, but does not write its input.
    pub(super) fn start(
        job: &Job,
        variables: &[(String, OsString)],
    ) -> Result<(Self, (ChildStdin, ChildStdout, ChildStderr)), VoiceError> {
        let mut command = Command::new(&job.program);
        command
            .args(&job.args)
            .env_clear()
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .envs(job.variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(directory) = &job.directory {
            command.current_dir(directory.path());
        }
        // The signal is registered before the spawn, otherwise the end of the process could be
        // missed.
        let news = unix::signal(SignalKind::child())?;
        let mut child = command.spawn().map_err(|error| not_started(job, &error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        let group = number.and_then(Pid::from_raw);
        let running = Self { child, group, news };
        match pipes {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((running, (stdin, stdout, stderr))),
            _ => Err(VoiceError::Internal("a program was started without pipes")),
        }
    }

    /// Waits until the process has ended, without reaping it.
    pub(super) async fn ended(&mut self) -> io::Result<()> {
        let Some(group) = self.group else {
            return Ok(());
        };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while waitid(WaitId::Pid(group), look)?.is_none() {
            if self.news.recv().await.is_none() {
                return Err(ErrorKind::BrokenPipe.into());
            }
        }
        Ok(())
    }

    fn kill(&self) {
        if let Some(group) = self.group {
            // It is not an error if the group is empty.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Kills the rest of the group and waits for the process.
    pub(super) async fn reap(&mut self) -> io::Result<ExitStatus> {
        self.kill();
        self.group = None;
        self.child.wait().await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The runtime reaps the killed process.
        self.kill();
    }
}

fn not_started(job: &Job, error: &io::Error) -> VoiceError {
    tracing::debug!(provider = job.provider, %error, "a program could not be started");
    let is_not_there = matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::PermissionDenied
    );
    if is_not_there || error.raw_os_error() == Some(ENOEXEC) {
        let hint = "The program does not exist or cannot be executed on this machine.";
        VoiceError::not_configured(job.setting, hint)
    } else {
        VoiceError::failed(job.provider, "could not be started", true)
    }
}
