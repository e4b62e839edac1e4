//! Programs that are kept between requests, because loading a model takes longer than speaking a sentence.
//!
//! There is at most one process per command. A task owns the process and gives it one request at a time. The task ends
//! the process when it has been idle for too long, when a request fails, when the settings change, and when the server
//! stops. A caller whose request fails runs the program for this request alone.

mod serve;

use super::{Process, Server};
use crate::VoiceError;
use crate::resources::MAX_TEXT_ANSWER_BYTES;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use gatehouse_domain::Random;
use serve::{answered, serve};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The maximum number of processes. Each has a model in memory.
const MAX_KEPT: usize = 4;
/// The longest line of a program whose lines are messages.
const MAX_LINE_BYTES: usize = 16 << 10;
/// The number of requests that may wait for a process. The program permits limit them further.
const MAX_WAITING: usize = 64;

/// The programs that are kept. Dropping the last clone ends them after their current requests.
#[derive(Clone)]
pub(crate) struct Warm(Arc<Pool>);

struct Pool {
    /// How long an unused process is kept; zero keeps none.
    keep: Duration,
    /// The parent of the processes' directories.
    directory: Arc<Path>,
    variables: Arc<[(String, OsString)]>,
    /// Creates the addresses of servers.
    random: Arc<dyn Random>,
    kept: tokio::sync::Mutex<Vec<WarmProcess>>,
    /// The programs that do not work as kept processes.
    given_up: Mutex<BTreeSet<PathBuf>>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// The start parameters of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    /// The provider to name in errors.
    pub(crate) provider: &'static str,
    /// The setting to name if the program cannot be started.
    pub(crate) setting: &'static str,
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    /// The option for the process's own directory, which is added to the arguments.
    pub(crate) directory_option: Option<&'static str>,
    pub(crate) protocol: Protocol,
    /// Variables in addition to those that every program gets.
    pub(crate) variables: &'static [(&'static str, &'static str)],
}

/// How a process receives requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// The program reads one request per line of its input, and writes each answer to a file in its directory.
    Lines,
    /// The program serves HTTP on this machine.
    Http,
    /// The program reads requests from its input, and writes one answer per line of its output.
    Pipe,
}

impl Protocol {
    /// Returns the longest line of output that is kept whole, in bytes.
    pub(super) const fn max_line_bytes(self) -> usize {
        match self {
            Self::Lines | Self::Http => MAX_LINE_BYTES,
            Self::Pipe => MAX_TEXT_ANSWER_BYTES,
        }
    }
}

/// The process of a command.
struct WarmProcess {
    command: Command,
    requests: mpsc::Sender<Request>,
    used: Instant,
}

type Request = Box<dyn for<'a> FnOnce(&'a mut Process) -> BoxFuture<'a, Outcome> + Send>;

/// What happens to a process after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Keep,
    /// The request failed, or the process may still be busy.
    End,
}

impl Warm {
    pub(super) fn new(
        keep: Duration,
        directory: Arc<Path>,
        variables: Arc<[(String, OsString)]>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self(Arc::new(Pool {
            keep,
            directory,
            variables,
            random,
            kept: tokio::sync::Mutex::default(),
            given_up: Mutex::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }))
    }

    /// Returns a new pool without processes that uses the same directory and random source.
    pub(super) fn renewed(&self, keep: Duration) -> Self {
        let pool = &self.0;
        let (directory, variables) = (Arc::clone(&pool.directory), Arc::clone(&pool.variables));
        Self::new(keep, directory, variables, Arc::clone(&pool.random))
    }

    /// Returns whether processes of this program are kept.
    pub(crate) fn keeps(&self, program: &Path) -> bool {
        !self.0.keep.is_zero() && !self.0.stop.is_cancelled() && !self.given_up().contains(program)
    }

    /// Keeps no process of this program from now on.
    pub(crate) fn give_up(&self, program: PathBuf) {
        tracing::debug!(program = %program.display(), "a program does not work between requests");
        self.given_up().insert(program);
    }

    /// Makes a request to the process of the command. Starts the process if there is none. Returns `None` if the
    /// process ended before it began the request. If the caller leaves, the request has [`SETTLE`](serve::SETTLE) to
    /// end.
    ///
    /// # Errors
    /// Fails if the process cannot be started.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        command: &Command,
        work: impl for<'a> FnOnce(&'a mut Process) -> BoxFuture<'a, (Outcome, T)> + Send + 'static,
    ) -> Result<Option<T>, VoiceError> {
        let (answer, receiver) = oneshot::channel();
        let request: Request = Box::new(move |process| answered(process, work, answer).boxed());
        self.send(command, request).await?;
        Ok(receiver.await.ok())
    }

    async fn send(&self, command: &Command, mut request: Request) -> Result<(), VoiceError> {
        let pool = &self.0;
        let mut kept = pool.kept.lock().await;
        kept.retain(|one| !one.requests.is_closed());
        if let Some(at) = kept.iter().position(|one| one.command == *command) {
            let mut found = kept.swap_remove(at);
            match found.requests.try_send(request) {
                Ok(()) => {
                    found.used = Instant::now();
                    kept.push(found);
                    return Ok(());
                }
                Err(error) => request = error.into_inner(),
            }
        }
        if kept.len() >= MAX_KEPT {
            let oldest = kept.iter().enumerate().min_by_key(|(_, one)| one.used);
            if let Some(at) = oldest.map(|(at, _)| at) {
                // Dropping the handle lets the process end after its current requests.
                kept.swap_remove(at);
            }
        }
        let process = pool.start(command).await?;
        let (requests, receiver) = mpsc::channel(MAX_WAITING);
        // Sending cannot fail, because the queue has space for the request.
        let _ = requests.try_send(request);
        let stop = pool.stop.clone();
        pool.tasks.spawn(serve(process, receiver, pool.keep, stop));
        kept.push(WarmProcess {
            command: command.clone(),
            requests,
            used: Instant::now(),
        });
        Ok(())
    }

    /// Ends all processes and waits until they have ended. Later requests start no process.
    pub(crate) async fn shutdown(&self) {
        self.0.stop.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    fn given_up(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        let given_up = self.0.given_up.lock();
        given_up.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    async fn start(&self, command: &Command) -> Result<Process, VoiceError> {
        let server = match command.protocol {
            Protocol::Lines | Protocol::Pipe => None,
            Protocol::Http => Some(Server::new(&*self.random).await?),
        };
        Process::start(command, server, &self.directory, &self.variables).await
    }
}

impl fmt::Debug for Warm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Warm").finish_non_exhaustive()
    }
}
