//! Lines of standard input, which can be waited for together with Ctrl-C.

use std::io::{BufRead, Write};
use tokio::sync::mpsc;

/// What the user entered.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Text(String),
    /// Ctrl-C.
    Interrupted,
    End,
}

/// Reads standard input on a thread, because a read cannot be cancelled. The thread ends with the process.
pub struct Input {
    requests: mpsc::UnboundedSender<()>,
    lines: mpsc::UnboundedReceiver<Option<String>>,
}

impl Input {
    pub fn start() -> Self {
        let (requests, mut requested) = mpsc::unbounded_channel();
        let (send, lines) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            while requested.blocking_recv().is_some() {
                let mut line = String::new();
                let read = std::io::stdin().lock().read_line(&mut line);
                let line = matches!(read, Ok(1..)).then_some(line);
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Self { requests, lines }
    }

    /// Prints the question to standard error and waits for a line.
    pub async fn ask(&mut self, question: &str) -> Line {
        eprint!("{question}");
        drop(std::io::stderr().flush());
        if self.requests.send(()).is_err() {
            return Line::End;
        }
        tokio::select! {
            line = self.lines.recv() => match line.flatten() {
                Some(line) => Line::Text(line.trim_end_matches(['\r', '\n']).to_owned()),
                None => Line::End,
            },
            _ = tokio::signal::ctrl_c() => Line::Interrupted,
        }
    }
}
