//! Writes log lines to standard error on a separate thread. If standard error is not read, lines are dropped and
//! counted, and no other thread waits.
//!
//! `tracing-appender` is not used. It limits the number of lines but not their bytes, reserves no space for warnings,
//! allocates and writes each line separately, and flushes only when its guard is dropped.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// The number of lines that were dropped because standard error was not read fast enough.
pub(crate) const LINES_DROPPED: &str = "log_lines_dropped_total";

/// The maximum number of bytes of waiting lines.
const LIMIT_BYTES: usize = 1024 * 1024;
/// The number of additional bytes for warnings and errors.
const RESERVED_BYTES: usize = 256 * 1024;
/// The time in which lines are collected after a write, unless one is a warning or an error. A busy server thereby
/// writes several lines at once.
const GATHER: Duration = Duration::from_millis(5);
/// The maximum size of a buffer that is kept after its write, in bytes.
const KEPT_BYTES: usize = 64 * 1024;
/// The maximum wait of a flush if standard error is not read.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The queue of lines that wait to be written. Clones share the same queue.
#[derive(Clone, Debug, Default)]
pub struct LogOutput(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    /// Wakes the thread that writes.
    wake: Condvar,
    /// Wakes the flushes after a write.
    written: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    text: Vec<u8>,
    /// The number of lines that were dropped since `text` was last taken.
    dropped: u64,
    /// Whether the thread sleeps until it is woken.
    is_idle: bool,
    /// Whether `text` is written without waiting for more lines.
    is_urgent: bool,
    /// The number of times that `text` was taken.
    taken: u64,
    /// The number of taken texts that are written.
    written: u64,
}

impl LogOutput {
    /// Starts the thread, which runs until the process ends.
    ///
    /// # Errors
    /// Fails if the system permits no further thread.
    pub(super) fn start() -> io::Result<Self> {
        let output = Self::default();
        let queue = Arc::clone(&output.0);
        let thread = thread::Builder::new().name("log".to_owned());
        thread.spawn(move || queue.run(io::stderr()))?;
        Ok(output)
    }

    /// Waits until the lines so far are written, but at most one second.
    pub fn flush(&self) {
        self.0.flush(FLUSH_TIMEOUT);
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // The lines stay usable even if a thread panicked while it had the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line, or drops it if too many bytes wait. Returns whether the line was added.
    fn push(&self, line: &[u8], is_urgent: bool) -> bool {
        let limit = if is_urgent {
            LIMIT_BYTES + RESERVED_BYTES
        } else {
            LIMIT_BYTES
        };
        let mut waiting = self.lock();
        if waiting.text.len() + line.len() > limit {
            waiting.dropped += 1;
            return false;
        }
        waiting.text.extend_from_slice(line);
        let wakes = waiting.is_idle || (is_urgent && !waiting.is_urgent);
        waiting.is_idle = false;
        waiting.is_urgent |= is_urgent;
        drop(waiting);
        if wakes {
            self.wake.notify_one();
        }
        true
    }

    /// Waits for lines and moves them to `text`, which must be empty. Returns the number of lines that were dropped
    /// after them.
    fn take(&self, text: &mut Vec<u8>) -> u64 {
        let mut waiting = self.lock();
        while waiting.text.is_empty() {
            waiting.is_idle = true;
            waiting = self
                .wake
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        waiting.is_idle = false;
        waiting.is_urgent = false;
        waiting.taken += 1;
        std::mem::swap(&mut waiting.text, text);
        std::mem::take(&mut waiting.dropped)
    }

    /// Writes until the process ends. After a panic, only the lines that were taken are lost.
    fn run(&self, mut out: impl Write) {
        loop {
            drop(catch_unwind(AssertUnwindSafe(|| self.write_to(&mut out))));
        }
    }

    fn write_to(&self, out: &mut impl Write) {
        let mut text = Vec::new();
        loop {
            let dropped = self.take(&mut text);
            if dropped > 0 {
                // This line is written after `text`. The queue has space again.
                tracing::warn!(
                    "{dropped} log lines were dropped, because standard error was not read fast enough"
                );
            }
            // A failure cannot be reported anywhere else.
            drop(out.write_all(&text));
            text.clear();
            text.shrink_to(KEPT_BYTES);
            let mut waiting = self.lock();
            // A flush also waits for the line about dropped lines.
            if dropped == 0 || waiting.text.is_empty() {
                waiting.written = waiting.taken;
                self.written.notify_all();
            }
            drop(
                self.wake
                    .wait_timeout_while(waiting, GATHER, |waiting| !waiting.is_urgent),
            );
        }
    }

    fn flush(&self, timeout: Duration) {
        let mut waiting = self.lock();
        let last = waiting.taken + u64::from(!waiting.text.is_empty());
        waiting.is_urgent = true;
        self.wake.notify_one();
        drop(
            self.written
                .wait_timeout_while(waiting, timeout, |waiting| waiting.written < last),
        );
    }
}

/// Receives one line. The subscriber writes each event with a single call.
pub struct Line<'a> {
    queue: &'a Queue,
    is_urgent: bool,
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if !self.queue.push(line, self.is_urgent) {
            metrics::counter!(LINES_DROPPED).increment(1);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogOutput {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line {
            queue: &self.0,
            is_urgent: false,
        }
    }

    fn make_writer_for(&'a self, event: &Metadata<'_>) -> Line<'a> {
        Line {
            queue: &self.0,
            is_urgent: *event.level() <= Level::WARN,
        }
    }
}

#[cfg(test)]
mod tests;
