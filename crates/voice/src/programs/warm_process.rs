//! A process that is kept between requests, with its private directory.

use super::child::Running;
use super::lines::Lines;
use super::{Command, Job, Server};
use super::{server, workspace};
use crate::VoiceError;
use bytes::Bytes;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

/// A process that is kept between requests.
pub(crate) struct Process {
    provider: &'static str,
    running: Running,
    stdin: ChildStdin,
    stdout: Lines<ChildStdout>,
    stderr: Lines<ChildStderr>,
    /// The working directory of the process. Only this user can read it.
    pub(crate) directory: Arc<TempDir>,
    /// The HTTP server, or `None` if the process reads requests from its input.
    pub(crate) server: Option<Server>,
    /// Whether the process has answered a request.
    pub(crate) has_answered: bool,
}

impl Process {
    /// Starts the program in a new directory in `parent`.
    pub(super) async fn start(
        command: &Command,
        server: Option<Server>,
        parent: &Arc<Path>,
        variables: &[(String, OsString)],
    ) -> Result<Self, VoiceError> {
        let directory = workspace::make_directory(parent).await?;
        let mut args = command.args.clone();
        if let Some(option) = command.directory_option {
            args.extend([option.into(), directory.path().into()]);
        }
        let mut program = command.program.clone();
        if let Some(server) = &server {
            args.extend(server.arguments());
            (program, args) = server::guarded(program, args);
        }
        let job = Job {
            provider: command.provider,
            setting: command.setting,
            program,
            args,
            variables: command.variables,
            stdin: Bytes::new(),
            most_output: 0,
            with_stderr: false,
            directory: Some(Arc::clone(&directory)),
        };
        let (running, (stdin, stdout, stderr)) = Running::start(&job, variables)?;
        Ok(Self {
            provider: command.provider,
            running,
            stdin,
            stdout: Lines::new(stdout, command.protocol.max_line_bytes()),
            stderr: Lines::new(stderr, command.protocol.max_line_bytes()),
            directory,
            server,
            has_answered: false,
        })
    }

    /// Writes to its input. A line must include its line break.
    pub(crate) async fn write(&mut self, input: &[u8]) -> io::Result<()> {
        self.stdin.write_all(input).await?;
        self.stdin.flush().await
    }

    /// Returns the next line of stdout or stderr, or `None` after the process has ended. Dropping the future loses no
    /// data.
    pub(crate) async fn line(&mut self) -> Option<Bytes> {
        loop {
            let line = tokio::select! {
                biased;
                line = self.stdout.next(), if self.stdout.is_open => line,
                line = self.stderr.next(), if self.stderr.is_open => line,
                _ended = self.running.ended() => return None,
            };
            if line.is_some() {
                return line;
            }
        }
    }

    /// Kills the process with its descendants.
    pub(super) async fn end(mut self) {
        let status = self.running.reap().await;
        tracing::debug!(provider = self.provider, ?status, "a kept program ended");
    }
}
