//! Lines of standard input. A program can wait for them together with Ctrl-C.

use rustix::termios::{QueueSelector, tcflush};
use std::io::{BufRead, IsTerminal, Write};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

/// The time after the end of a question in which input is discarded.
const LATE: Duration = Duration::from_secs(1);

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Text(String),
    /// Ctrl-C.
    Interrupted,
    End,
}

/// Reads standard input on a thread, because a read cannot be canceled. The thread ends with the process.
pub struct Input {
    requests: mpsc::Sender<()>,
    lines: mpsc::Receiver<Option<String>>,
    /// Whether a read was requested and its line was not taken yet.
    is_reading: bool,
    /// The signal is created once. A Ctrl-C between two waits is therefore reported by the second
    /// wait.
    interrupts: Signal,
}

impl Input {
    /// Starts reading. After this, Ctrl-C no longer ends the process. Fails if the system refuses the signal handler.
    pub fn start() -> std::io::Result<Self> {
        let interrupts = signal(SignalKind::interrupt())?;
        let (requests, mut requested) = mpsc::channel(1);
        let (send, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            while requested.blocking_recv().is_some() {
                let mut line = String::new();
                let read = std::io::stdin().lock().read_line(&mut line);
                let line = matches!(read, Ok(1..)).then_some(line);
                if send.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            requests,
            lines,
            is_reading: false,
            interrupts,
        })
    }

    /// Returns the result of the work, or `None` if Ctrl-C is pressed first. The work is then
    /// dropped.
    pub async fn unless_interrupted<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            result = work => Some(result),
            _ = self.interrupts.recv() => None,
        }
    }

    /// Asks like [`Self::ask`], but if the future `end` completes first, returns its output as the error. The caller
    /// then prints why the question ended, and calls [`Self::discard_late`]. Input from before the question is
    /// discarded.
    pub async fn ask_until<T>(
        &mut self,
        question: &str,
        end: impl Future<Output = T>,
    ) -> Result<Line, T> {
        self.discard();
        tokio::select! {
            biased;
            line = self.ask(question) => Ok(line),
            end = end => Err(end),
        }
    }

    /// Waits briefly and discards input that was typed for a question that has ended. It must not answer the next
    /// question.
    pub async fn discard_late(&mut self) {
        tokio::time::sleep(LATE).await;
        self.discard();
    }

    /// Discards input that was typed on the terminal and not read yet.
    fn discard(&mut self) {
        if self.is_reading && self.lines.try_recv().is_ok() {
            self.is_reading = false;
        }
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            // If the terminal was closed, there is no input to discard.
            let _ = tcflush(stdin, QueueSelector::IFlush);
        }
    }

    /// Prints the question to standard error and waits for a line.
    pub async fn ask(&mut self, question: &str) -> Line {
        eprint!("{question}");
        drop(std::io::stderr().flush());
        if !self.is_reading && self.requests.send(()).await.is_err() {
            return Line::End;
        }
        self.is_reading = true;
        tokio::select! {
            line = self.lines.recv() => {
                self.is_reading = false;
                match line.flatten() {
                    Some(line) => Line::Text(line.trim_end_matches(['\r', '\n']).to_owned()),
                    None => Line::End,
                }
            }
            _ = self.interrupts.recv() => Line::Interrupted,
        }
    }
}
