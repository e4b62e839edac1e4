//! Local programs: finds them, runs them without a shell, and kills them when their caller leaves.
//!
//! Each program has its own task, so its timeout applies even if nobody reads its output. It inherits only
//! the environment variables that the settings list. This file manages queues and limits; [`child`] manages
//! processes.

mod child;
mod lines;
mod pipes;
mod server;
mod warm;
mod warm_process;
mod workspace;

use crate::VoiceError;
use crate::settings::VoiceSettings;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use gatehouse_domain::Random;
pub(crate) use server::Server;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
pub(crate) use warm::{Command, Outcome, Protocol, Warm};
pub(crate) use warm_process::Process;
pub(crate) use workspace::{absolute, empty, open_file, open_own_file};

/// Chunks of output, at most 64 KiB each, that may wait for a slow reader before the program blocks. With the
/// chunk being read they are 512 KiB. The permit is released when the program ends, however slow the reader
/// is.
const QUEUE: usize = 7;
/// How many callers may wait for a permit.
const MAX_WAITING: usize = 8;
/// The search path if the settings pass no PATH.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

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
    /// The maximum number of bytes of output. The program is killed if it exceeds them.
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

/// The cleanup after a program that is started for one request.
#[derive(Debug)]
pub(crate) struct Rest {
    pub(crate) job: Job,
    /// Whether the kept process failed before it had answered anything. If the job then succeeds, the program does
    /// not work as a kept process and is not retried.
    pub(crate) is_new: bool,
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

    /// Keeps the limits, but not the warm processes, which end after their current requests.
    pub(crate) fn without_kept(&self, settings: &VoiceSettings) -> Self {
        Self {
            warm: self.warm.renewed(settings.keep_warm),
            ..self.clone()
        }
    }

    /// The processes that are kept between requests.
    pub(crate) const fn warm(&self) -> &Warm {
        &self.warm
    }

    /// The path of the program: `wanted` if it is executable, or the first `name` on PATH if nothing is
    /// wanted. A `wanted` without a directory is also searched on PATH.
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
        // A relative entry would run programs from the working directory.
        std::env::split_paths(&path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(name))
            .find(|file| is_executable(file))
    }

    /// Returns the executable file with this name in the directory of the file that the program links to, or else in
    /// the directory of the program.
    pub(crate) fn beside(program: &Path, name: &str) -> Option<PathBuf> {
        let linked = std::fs::canonicalize(program).ok();
        let mut files = [linked.as_deref(), Some(program)]
            .into_iter()
            .flatten()
            .map(|program| program.with_file_name(name));
        files.find(|file| is_executable(file))
    }

    /// Whether another caller may wait for a permit. Check this before creating anything large.
    ///
    /// # Errors
    /// `Busy` if all permits are taken and the queue is full.
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
    /// `Busy` immediately if the queue is full; `Timeout` at the deadline.
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

    /// Runs a program and streams its output when the first byte has arrived. A program without output is an error. A
    /// later failure is the last item.
    pub(crate) async fn stream(
        &self,
        job: Job,
    ) -> Result<BoxStream<'static, Result<Bytes, VoiceError>>, VoiceError> {
        let provider = job.provider;
        let permit = self.permit(provider).await?;
        begun(provider, self.start(permit, job)).await
    }

    /// Like [`Self::stream`], for work that first asks a kept process. The work sends at most `pieces` pieces,
    /// by its deadline, and returns the job for the rest.
    pub(crate) async fn stream_after<W>(
        &self,
        provider: &'static str,
        pieces: usize,
        work: impl FnOnce(mpsc::Sender<Piece>, Instant) -> W,
    ) -> Result<BoxStream<'static, Piece>, VoiceError>
    where
        W: Future<Output = Result<Option<Rest>, VoiceError>> + Send + 'static,
    {
        let ProgramPermit { permit, until } = self.permit(provider).await?;
        // A slow reader does not delay the kept process.
        let (pieces, receiver) = mpsc::channel(pieces.max(QUEUE));
        let work = work(pieces.clone(), until);
        let (variables, warm) = (Arc::clone(&self.variables), self.warm.clone());
        self.tasks.spawn(async move {
            let whole = async {
                let rest = tokio::select! {
                    biased;
                    () = pieces.closed() => None,
                    rest = work => rest?,
                };
                let Some(Rest { job, is_new }) = rest else {
                    return Ok(());
                };
                let program = job.program.clone();
                child::drive(job, &variables, &pieces, permit).await?;
                if is_new && !pieces.is_closed() {
                    warm.give_up(program);
                }
                Ok(())
            };
            if let Err(error) = in_time(until, provider, whole).await {
                // The receiver may be closed.
                let _ = pieces.send(Err(error)).await;
            }
        });
        begun(provider, receiver).await
    }

    /// Creates a directory with one file for a program. It is deleted with its last user.
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

/// Returns the stream of the pieces when the first has arrived.
async fn begun(
    provider: &'static str,
    mut pieces: mpsc::Receiver<Piece>,
) -> Result<BoxStream<'static, Piece>, VoiceError> {
    let Some(first) = pieces.recv().await else {
        return Err(VoiceError::failed(provider, "returned no audio", false));
    };
    let first = stream::iter([Ok(first?)]);
    let rest = stream::unfold(pieces, |mut pieces| async move {
        pieces.recv().await.map(|piece| (piece, pieces))
    });
    Ok(first.chain(rest).boxed())
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

/// The error for a program that is not installed.
pub(crate) fn not_found(setting: &'static str, name: &str) -> VoiceError {
    let hint = format!("Install {name}, or set {setting} to its path.");
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
