//! Local programs: finds them, runs them without a shell, and kills them when their caller leaves.
//!
//! Each program has its own task, so its timeout applies even if the caller does not read the output. A program
//! inherits only the environment variables that the settings list. This file manages queues and limits; [`child`]
//! manages processes.

mod child;
mod find;
mod lines;
mod pipes;
mod server;
mod stream;
mod warm;
mod warm_process;
mod workspace;

use crate::VoiceError;
use crate::settings::VoiceSettings;
use bytes::Bytes;
pub(crate) use find::not_found;
use gatehouse_domain::Random;
pub(crate) use server::Server;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
pub(crate) use stream::Rest;
use tempfile::TempDir;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
pub(crate) use warm::{Command, Outcome, Protocol, Warm};
pub(crate) use warm_process::Process;
pub(crate) use workspace::{absolute, empty, open_file, open_own_file};

/// The number of output chunks, each at most 64 KiB, that may wait for a slow reader before the program blocks.
/// Together with the chunk that is being read, they use 512 KiB. The permit is released when the program ends, even if
/// the reader is slow.
const QUEUE: usize = 7;
/// How many callers may wait for a permit.
const MAX_WAITING: usize = 8;

/// Runs a limited number of programs at a time.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    permits: Arc<Semaphore>,
    /// Slots for callers that wait for a permit.
    queue: Arc<Semaphore>,
    /// The parent directory of workspaces.
    directory: Arc<Path>,
    variables: Arc<[(String, OsString)]>,
    limit: Duration,
    tasks: TaskTracker,
    warm: Warm,
}

/// A program to run.
#[derive(Debug)]
pub(crate) struct Job {
    /// The provider to name in errors.
    pub(crate) provider: &'static str,
    /// The setting to name if the program cannot be started.
    pub(crate) setting: &'static str,
    pub(crate) program: PathBuf,
    /// Other users of the machine can read the arguments.
    pub(crate) args: Vec<OsString>,
    /// Variables in addition to those that every program gets.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// The input, which the program may ignore.
    pub(crate) stdin: Bytes,
    /// The maximum output in bytes. A program that exceeds it is killed.
    pub(crate) most_output: usize,
    /// Whether the end of stderr is appended to the output. Otherwise stderr is discarded.
    pub(crate) with_stderr: bool,
    /// The working directory. It exists at least as long as the program runs.
    pub(crate) directory: Option<Arc<TempDir>>,
}

/// The output of a successful program.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    /// Standard output, possibly empty.
    pub(crate) stdout: Bytes,
}

/// A permit to run a program, with its deadline.
#[derive(Debug)]
pub(crate) struct ProgramPermit {
    permit: OwnedSemaphorePermit,
    /// The deadline, which includes the wait for the permit.
    pub(crate) until: Instant,
}

type Piece = Result<Bytes, VoiceError>;

impl Programs {
    /// Applies the settings. Workspaces are created in `directory`, which need not exist yet.
    pub(crate) fn new(
        settings: &VoiceSettings,
        directory: &Path,
        random: &Arc<dyn Random>,
    ) -> Self {
        let directory: Arc<Path> = absolute(directory).into();
        let variables: Arc<[_]> = settings.child_variables.clone().into();
        Self {
            permits: Arc::new(Semaphore::new(settings.local_concurrency.max(1))),
            queue: Arc::new(Semaphore::new(MAX_WAITING)),
            warm: Warm::new(
                settings.keep_warm,
                Arc::clone(&directory),
                Arc::clone(&variables),
                Arc::clone(random),
            ),
            directory,
            variables,
            limit: settings.timeouts.program,
            tasks: TaskTracker::new(),
        }
    }

    /// Returns the same limits without the warm processes, which end after their current requests.
    pub(crate) fn without_kept(&self, settings: &VoiceSettings) -> Self {
        Self {
            warm: self.warm.renewed(settings.keep_warm),
            ..self.clone()
        }
    }

    /// Returns the processes that are kept between requests.
    pub(crate) const fn warm(&self) -> &Warm {
        &self.warm
    }

    /// Checks whether another caller may wait for a permit. Call this before creating anything
    /// large.
    ///
    /// # Errors
    /// Returns `Busy` if all permits are taken and the queue is full.
    pub(crate) fn check_queue(&self) -> Result<(), VoiceError> {
        if self.permits.available_permits() > 0 || self.queue.available_permits() > 0 {
            Ok(())
        } else {
            Err(VoiceError::Busy)
        }
    }

    /// Waits for a permit. Write the program's files only after that.
    ///
    /// # Errors
    /// Returns `Busy` immediately if the queue is full, and `Timeout` at the deadline.
    pub(crate) async fn permit(&self, provider: &'static str) -> Result<ProgramPermit, VoiceError> {
        let until = Instant::now() + self.limit;
        let permits = Arc::clone(&self.permits);
        if let Ok(permit) = Arc::clone(&permits).try_acquire_owned() {
            return Ok(ProgramPermit { permit, until });
        }
        let _waits = self.queue.try_acquire().map_err(|_| VoiceError::Busy)?;
        let permit = in_time(until, provider, async {
            let permit = permits.acquire_owned().await;
            permit.map_err(|_closed| VoiceError::Internal("the semaphore for programs is closed"))
        });
        let permit = permit.await?;
        Ok(ProgramPermit { permit, until })
    }

    /// Runs a program to its end. The wait for a permit counts toward the timeout.
    pub(crate) async fn run(&self, job: Job) -> Result<ProgramOutput, VoiceError> {
        let permit = self.permit(job.provider).await?;
        self.run_at(permit, job).await
    }

    /// Like [`Self::run`], with a permit.
    pub(crate) async fn run_at(
        &self,
        permit: ProgramPermit,
        job: Job,
    ) -> Result<ProgramOutput, VoiceError> {
        let mut pieces = self.start(permit, job);
        let mut stdout = Vec::new();
        while let Some(piece) = pieces.recv().await {
            stdout.extend_from_slice(&piece?);
        }
        let stdout = stdout.into();
        Ok(ProgramOutput { stdout })
    }

    /// Creates a directory with one file for a program. The directory is deleted when its last user
    /// drops it.
    pub(crate) async fn workspace(
        &self,
        name: &'static str,
        content: &Bytes,
    ) -> Result<Arc<TempDir>, VoiceError> {
        workspace::make(&self.directory, name, content).await
    }

    /// Starts the program. Dropping the receiver kills it.
    fn start(&self, permit: ProgramPermit, job: Job) -> mpsc::Receiver<Piece> {
        let (pieces, receiver) = mpsc::channel(QUEUE);
        let variables = Arc::clone(&self.variables);
        self.tasks.spawn(async move {
            let (provider, ProgramPermit { permit, until }) = (job.provider, permit);
            let work = child::drive(job, &variables, &pieces, permit);
            if let Err(error) = in_time(until, provider, work).await {
                // The receiver may be closed.
                let _ = pieces.send(Err(error)).await;
            }
        });
        receiver
    }
}

/// Runs the work of a provider until a deadline.
pub(crate) async fn in_time<T>(
    until: Instant,
    provider: &'static str,
    work: impl Future<Output = Result<T, VoiceError>>,
) -> Result<T, VoiceError> {
    let done = tokio::time::timeout_at(until, work).await;
    done.unwrap_or(Err(VoiceError::Timeout { provider }))
}

#[cfg(test)]
mod tests;
