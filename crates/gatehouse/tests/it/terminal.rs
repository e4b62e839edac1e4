//! A command that runs on a separate terminal.

use crate::process::{BINARY, Installation};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Longer than a command needs for its next output.
const LONG: Duration = Duration::from_mins(1);

/// The input that a terminal sends when the user presses these keys with Ctrl.
pub const CTRL_C: &str = "\u{3}";
pub const CTRL_D: &str = "\u{4}";

/// The command, run by `script` of util-linux, which creates the terminal. Killed when dropped.
pub struct Terminal {
    script: Child,
    keys: ChildStdin,
    output: Receiver<Vec<u8>>,
    /// Output that was not expected yet.
    rest: String,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.script.kill());
        drop(self.script.wait());
    }
}

impl Terminal {
    /// Starts a command of the binary with this installation's data directory.
    pub fn start(installation: &Installation, args: &[&str]) -> Self {
        let data_dir = installation.data_dir();
        let data_dir = ["--data-dir", data_dir.to_str().unwrap()];
        let words = [BINARY].iter().chain(args).chain(&data_dir);
        let words: Vec<String> = words.map(|word| format!("'{word}'")).collect();
        let mut command = installation.prepared(Command::new("script"));
        let line = format!("exec {}", words.join(" "));
        command.args([
            "--quiet",
            "--flush",
            "--return",
            "--command",
            &line,
            "/dev/null",
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = command.spawn().unwrap();
        let (send, output) = sync_channel(16);
        let mut shown = script.stdout.take().unwrap();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = shown.read(&mut piece) {
                if send.send(piece[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            keys: script.stdin.take().unwrap(),
            script,
            output,
            rest: String::new(),
        }
    }

    /// Waits for this text. Returns what was shown before it.
    #[track_caller]
    pub fn expect(&mut self, text: &str) -> String {
        let before = self.before(text, LONG);
        before.unwrap_or_else(|| panic!("{text:?} was not shown, only {:?}", self.rest))
    }

    /// Returns whether this text is shown in time.
    pub fn shows(&mut self, text: &str, time: Duration) -> bool {
        self.before(text, time).is_some()
    }

    /// Returns the output before this text, or `None` if the text is not shown in time.
    fn before(&mut self, text: &str, time: Duration) -> Option<String> {
        let end = Instant::now() + time;
        loop {
            if let Some((before, after)) = self.rest.split_once(text) {
                let (before, after) = (before.to_owned(), after.to_owned());
                self.rest = after;
                return Some(before);
            }
            let left = end.saturating_duration_since(Instant::now());
            let piece = self.output.recv_timeout(left).ok()?;
            self.rest.push_str(&String::from_utf8_lossy(&piece));
        }
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    pub fn enter(&mut self, line: &str) {
        self.press(&format!("{line}\r"));
    }

    /// Waits until the command ends. Returns its status and what it showed last.
    pub fn wait(mut self) -> (ExitStatus, String) {
        let end = Instant::now() + LONG;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(piece) => self.rest.push_str(&String::from_utf8_lossy(&piece)),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("still running: {:?}", self.rest),
            }
        }
        let status = self.script.wait().unwrap();
        (status, std::mem::take(&mut self.rest))
    }
}
