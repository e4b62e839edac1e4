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
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
pub(crate) use workspace::{absolute, empty, open_file, open_own_file};

/// Pieces of output, of at most 64 KiB each, that wait for a slow reader before the program has to wait
/// too. With the one that is being read they are 512 KiB. A program's place is free for others as soon as
/// it ended, however slow the reader is.
const QUEUE: usize = 7;
/// How many may wait for a place.
const MAX_WAITING: usize = 8;
/// Where programs are looked for when the settings hand on no PATH.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Runs programs, a few at a time.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    permits: Arc<Semaphore>,
    /// Places in the queue for the places.
    queue: Arc<Semaphore>,
    /// Where workspaces are made.
    directory: Arc<Path>,
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

/// A place for a program, and how long it may take.
#[derive(Debug)]
pub(crate) struct Place {
    permit: OwnedSemaphorePermit,
    /// When the time is over: it began with the waiting.
    pub(crate) until: Instant,
}

type Piece = Result<Bytes, VoiceError>;

impl Programs {
    /// As the settings want it. Workspaces are made in this directory; it need not be there yet.
    pub(crate) fn new(settings: &VoiceSettings, directory: &Path) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(settings.local_concurrency.max(1))),
            queue: Arc::new(Semaphore::new(MAX_WAITING)),
            directory: absolute(directory).into(),
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

    /// Whether one more may wait for a place: asked before anything large is made for it.
    ///
    /// # Errors
    /// `Busy` when all places are taken and as many wait as may.
    pub(crate) fn has_room(&self) -> Result<(), VoiceError> {
        if self.permits.available_permits() > 0 || self.queue.available_permits() > 0 {
            Ok(())
        } else {
            Err(VoiceError::Busy)
        }
    }

    /// Waits for a place. What a program needs on the disk is written after that.
    ///
    /// # Errors
    /// `Busy` at once when too many wait already; a time-out.
    pub(crate) async fn place(&self, provider: &'static str) -> Result<Place, VoiceError> {
        let until = Instant::now() + self.limit;
        let permits = Arc::clone(&self.permits);
        if let Ok(permit) = Arc::clone(&permits).try_acquire_owned() {
            return Ok(Place { permit, until });
        }
        let _waits = self.queue.try_acquire().map_err(|_| VoiceError::Busy)?;
        let permit = in_time(until, provider, async {
            let permit = permits.acquire_owned().await;
            permit.map_err(|_closed| VoiceError::Internal("programs have no places"))
        });
        let permit = permit.await?;
        Ok(Place { permit, until })
    }

    /// Runs it to its end. The time until there is a place for it counts too.
    pub(crate) async fn run(&self, job: Job) -> Result<Ran, VoiceError> {
        let place = self.place(job.provider).await?;
        self.run_at(place, job).await
    }

    /// The same where a place was found already.
    pub(crate) async fn run_at(&self, place: Place, job: Job) -> Result<Ran, VoiceError> {
        let mut pieces = self.start(place, job);
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
        let place = self.place(provider).await?;
        let mut pieces = self.start(place, job);
        let Some(first) = pieces.recv().await else {
            return Err(VoiceError::failed(provider, "gave no audio", false));
        };
        let first = stream::iter([Ok(first?)]);
        let rest = stream::unfold(pieces, |mut pieces| async move {
            pieces.recv().await.map(|piece| (piece, pieces))
        });
        Ok(first.chain(rest).boxed())
    }

    /// A fresh directory for a program, with one file in it; gone with the last who uses it.
    pub(crate) async fn workspace(
        &self,
        name: &'static str,
        content: &Bytes,
    ) -> Result<Arc<TempDir>, VoiceError> {
        workspace::make(&self.directory, name, content).await
    }

    /// Dropping the receiver ends the program.
    fn start(&self, place: Place, job: Job) -> mpsc::Receiver<Piece> {
        let (pieces, receiver) = mpsc::channel(QUEUE);
        let variables = Arc::clone(&self.variables);
        self.tasks.spawn(async move {
            let (provider, Place { permit, until }) = (job.provider, place);
            let work = child::drive(job, &variables, &pieces, permit);
            if let Err(error) = in_time(until, provider, work).await {
                // Nobody may be waiting any more.
                let _ = pieces.send(Err(error)).await;
            }
        });
        receiver
    }
}

/// Work of a provider's, until then.
pub(crate) async fn in_time<T>(
    until: Instant,
    provider: &'static str,
    work: impl Future<Output = Result<T, VoiceError>>,
) -> Result<T, VoiceError> {
    let done = tokio::time::timeout_at(until, work).await;
    done.unwrap_or(Err(VoiceError::Timeout { provider }))
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
