//! File locks with a timeout. On NFS, even an attempt that does not wait for the lock needs an answer of the
//! server's lock service. If a firewall drops the request or the service does not run, the kernel may retry
//! forever.

use std::fs::{File, TryLockError};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

/// How long a file system may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of threads that wait for an answer. Further attempts fail immediately.
const MAX_WAITING: usize = 8;

static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Tries to lock a file, like [`File::try_lock`]. Fails with [`io::ErrorKind::TimedOut`] if the file system does
/// not answer within five seconds. The file may then still be locked later, when the file system answers. Blocks
/// the thread.
pub(crate) fn try_lock(file: &File) -> Result<(), TryLockError> {
    // The lock belongs to both handles.
    let copy = file.try_clone().map_err(TryLockError::Error)?;
    within(PATIENCE, &WAITING, move || copy.try_lock())
}

/// Counts a thread that waits for an answer, until it is dropped.
struct Waiting(&'static AtomicUsize);

impl Waiting {
    fn take(waiting: &'static AtomicUsize) -> Option<Self> {
        let taken = Self(waiting);
        // If there are too many threads, `taken` is dropped, which decrements the counter again.
        (waiting.fetch_add(1, Ordering::Relaxed) < MAX_WAITING).then_some(taken)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Attempts a lock in a separate thread, which stays if there is no answer. A thread of the runtime's pool for
/// blocking work would prevent the process from ending.
fn within(
    patience: Duration,
    waiting: &'static AtomicUsize,
    attempt: impl FnOnce() -> Result<(), TryLockError> + Send + 'static,
) -> Result<(), TryLockError> {
    let Some(place) = Waiting::take(waiting) else {
        return Err(no_answer());
    };
    let (answer, answered) = sync_channel(1);
    let thread = thread::Builder::new().name("file-lock".to_owned());
    let spawned = thread.spawn(move || {
        let result = attempt();
        drop(place);
        // Fails only if the caller no longer waits for the result.
        drop(answer.send(result));
    });
    spawned.map_err(TryLockError::Error)?;
    answered
        .recv_timeout(patience)
        .unwrap_or_else(|_| Err(no_answer()))
}

fn no_answer() -> TryLockError {
    let message = "the file system did not answer in time";
    TryLockError::Error(io::Error::new(io::ErrorKind::TimedOut, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, SyncSender};

    const LONG: Duration = Duration::from_mins(1);

    fn is_timeout(result: &Result<(), TryLockError>) -> bool {
        matches!(result, Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::TimedOut)
    }

    /// Returns an attempt that ends when the sender is dropped.
    fn hanging() -> (SyncSender<()>, impl FnOnce() -> Result<(), TryLockError>) {
        let (end, ended): (SyncSender<()>, Receiver<()>) = sync_channel(1);
        let attempt = move || {
            assert!(ended.recv().is_err());
            Ok(())
        };
        (end, attempt)
    }

    fn until_none_waits(waiting: &AtomicUsize) {
        while waiting.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
    }

    #[test]
    fn a_lock_without_an_answer_ends_in_time_and_its_thread_counts_until_the_answer() {
        static WAITING: AtomicUsize = AtomicUsize::new(0);
        let (end, attempt) = hanging();
        assert!(is_timeout(&within(Duration::ZERO, &WAITING, attempt)));
        assert_eq!(WAITING.load(Ordering::Relaxed), 1);
        drop(end);
        until_none_waits(&WAITING);
        assert!(within(LONG, &WAITING, || Ok(())).is_ok());
    }

    #[test]
    fn eight_threads_wait_and_the_ninth_lock_is_not_attempted() {
        static WAITING: AtomicUsize = AtomicUsize::new(0);
        let mut ends = Vec::new();
        for _ in 0..MAX_WAITING - 1 {
            let (end, attempt) = hanging();
            ends.push(end);
            assert!(is_timeout(&within(Duration::ZERO, &WAITING, attempt)));
        }
        assert!(within(LONG, &WAITING, || Ok(())).is_ok());
        let (end, attempt) = hanging();
        ends.push(end);
        assert!(is_timeout(&within(Duration::ZERO, &WAITING, attempt)));
        let refused = within(LONG, &WAITING, || panic!("it was attempted"));
        assert!(is_timeout(&refused));
        drop(ends);
        until_none_waits(&WAITING);
        assert!(within(LONG, &WAITING, || Ok(())).is_ok());
    }

    #[test]
    fn a_lock_is_held_until_the_file_is_closed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let file = File::create(&path).unwrap();
        try_lock(&file).unwrap();
        let other = File::options().write(true).open(&path).unwrap();
        let refused = try_lock(&other);
        assert!(matches!(refused, Err(TryLockError::WouldBlock)));
        drop(file);
        try_lock(&other).unwrap();
    }
}
