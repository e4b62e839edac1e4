//! Programs on this machine: found, run without a shell, and ended with whoever waits for them.
//!
//! Each runs in a task of its own, so that it also ends in time when nobody takes what it says. It gets
//! nothing of this process's environment but what the settings hand on. This file knows queues and
//! limits; processes are in [`child`].

mod child;
mod pipes;
mod workspace;

use crate::VoiceError;
use crate::settings::VoiceSettings;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::task::TaskTracker;
pub(crate) use workspace::{absolute, workspace};

/// Pieces of output, of at most 64 KiB each, that wait for a slow reader before the program has to wait
/// too. A program's place is free for others as soon as it ended, however slow the reader is.
const QUEUE: usize = 512;
/// Where programs are looked for when the settings hand on no PATH.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Runs programs, a few at a time.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    permits: Arc<Semaphore>,
    variables: Arc<[(String, OsString)]>,
    limit: Duration,
    tasks: TaskTracker,
}

/// A program to run.
#[derive(Debug)]
pub(crate) struct Job {
    /// Whose error it is when it fails.
    pub(crate) provider: &'static str,
    /// What is not configured when it cannot be started.
    pub(crate) setting: &'static str,
    /// Its full path.
    pub(crate) program: PathBuf,
    /// Its arguments. Other users of the machine can read them.
    pub(crate) args: Vec<OsString>,
    /// Variables beside those that every program gets.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// What it is told. It need not listen.
    pub(crate) stdin: Bytes,
    /// The most bytes that are taken from it; one more, and it is ended.
    pub(crate) most_output: usize,
    /// Whether the end of what it says on standard error comes after its output. Otherwise nothing of
    /// it is kept.
    pub(crate) with_stderr: bool,
    /// Where it runs. The directory is there for at least as long as the program.
    pub(crate) directory: Option<Arc<TempDir>>,
}

/// What a program that succeeded has said.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Its standard output; nothing is possible.
    pub(crate) stdout: Bytes,
}

type Piece = Result<Bytes, VoiceError>;

impl Programs {
    /// As the settings want it.
    pub(crate) fn new(settings: &VoiceSettings) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(settings.local_concurrency.max(1))),
            variables: settings.child_variables.clone().into(),
            limit: settings.patience.program,
            tasks: TaskTracker::new(),
        }
    }

    /// The program to run: the `wanted` one if it exists and may be executed, or else, without a wish, the
    /// first of this `name` on PATH. A wish without any directory is a name.
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
        // A relative entry would run what lies in the working directory.
        std::env::split_paths(&path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(name))
            .find(|file| is_executable(file))
    }

    /// Runs it to its end. The time until there is a place for it counts too.
    pub(crate) async fn run(&self, job: Job) -> Result<Ran, VoiceError> {
        let mut pieces = self.start(job);
        let mut stdout = Vec::new();
        while let Some(piece) = pieces.recv().await {
            stdout.extend_from_slice(&piece?);
        }
        let stdout = stdout.into();
        Ok(Ran { stdout })
    }

    /// Runs it, and gives back its output as it comes, from the first byte on; a program that says nothing
    /// is an error. One that fails after that is an error item, the last.
    pub(crate) async fn stream(
        &self,
        job: Job,
    ) -> Result<BoxStream<'static, Result<Bytes, VoiceError>>, VoiceError> {
        let provider = job.provider;
        let mut pieces = self.start(job);
        let Some(first) = pieces.recv().await else {
            return Err(VoiceError::failed(provider, "gave no audio", false));
        };
        let first = stream::iter([Ok(first?)]);
        let rest = stream::unfold(pieces, |mut pieces| async move {
            pieces.recv().await.map(|piece| (piece, pieces))
        });
        Ok(first.chain(rest).boxed())
    }

    /// Dropping the receiver ends the program.
    fn start(&self, job: Job) -> mpsc::Receiver<Piece> {
        let (pieces, receiver) = mpsc::channel(QUEUE);
        let programs = self.clone();
        self.tasks.spawn(async move {
            let provider = job.provider;
            let work = programs.work(job, &pieces);
            let timeout = VoiceError::Timeout { provider };
            let done = tokio::time::timeout(programs.limit, work).await;
            if let Err(error) = done.unwrap_or(Err(timeout)) {
                // Nobody may be waiting any more.
                let _ = pieces.send(Err(error)).await;
            }
        });
        receiver
    }

    async fn work(&self, job: Job, pieces: &mpsc::Sender<Piece>) -> Result<(), VoiceError> {
        let _permit = tokio::select! {
            permit = self.permits.acquire() => {
                permit.map_err(|_closed| VoiceError::Internal("programs have no places"))?
            }
            () = pieces.closed() => return Ok(()),
        };
        child::drive(job, &self.variables, pieces).await
    }
}

/// The sentence for a program that is not there.
pub(crate) fn not_found(setting: &'static str, name: &str) -> VoiceError {
    let hint = format!("Install {name}, or set {setting} to where it is.");
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

#[cfg(test)]
mod tests;
