//! Tests of the parent module.

use super::super::log_panics;
use super::*;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;
use tracing::subscriber::with_default;
use tracing_subscriber::layer::SubscriberExt as _;

/// Longer than any thread takes.
const LONG: Duration = Duration::from_secs(30);

/// A pipe. Each write waits for its reader.
struct Pipe(SyncSender<Vec<u8>>);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts a thread that writes lines, with its reader.
fn started() -> (LogOutput, Receiver<Vec<u8>>) {
    let (writer, reader) = sync_channel(0);
    (started_with(Pipe(writer)), reader)
}

fn started_with(out: impl Write + Send + 'static) -> LogOutput {
    let output = LogOutput::default();
    let queue = Arc::clone(&output.0);
    thread::spawn(move || queue.run(out));
    output
}

fn is_written(output: &LogOutput) -> bool {
    let waiting = output.0.lock();
    waiting.text.is_empty() && waiting.written == waiting.taken
}

#[test]
fn lines_past_the_limit_are_dropped_and_counted() {
    let queue = Queue::default();
    let half = vec![b'x'; LIMIT_BYTES / 2];
    assert!(queue.push(&half, false));
    assert!(queue.push(&half, false), "at the limit");
    assert!(!queue.push(b"x", false), "one byte past the limit");
    let mut text = Vec::new();
    assert_eq!(queue.take(&mut text), 1);
    assert_eq!(text.len(), LIMIT_BYTES);
    text.clear();
    assert!(queue.push(b"x", false));
    assert_eq!(queue.take(&mut text), 0);
    assert_eq!(text, b"x");
}

#[test]
fn warnings_have_room_when_other_lines_do_not() {
    let queue = Queue::default();
    assert!(queue.push(&vec![b'x'; LIMIT_BYTES], false));
    assert!(!queue.push(b"x", false));
    assert!(
        queue.push(&vec![b'w'; RESERVED_BYTES], true),
        "at the limit"
    );
    assert!(!queue.push(b"w", true), "one byte past the limit");
    let mut text = Vec::new();
    assert_eq!(queue.take(&mut text), 2);
    assert_eq!(text.len(), LIMIT_BYTES + RESERVED_BYTES);
}

#[test]
fn a_flush_returns_after_the_last_line_is_written() {
    let (output, reader) = started();
    let reading = thread::spawn(move || {
        let mut text = Vec::new();
        while !text.ends_with(b"3\n") {
            text.extend(reader.recv_timeout(LONG).unwrap());
        }
        text
    });
    for line in [b"1\n", b"2\n", b"3\n"] {
        assert!(output.0.push(line, false));
    }
    output.0.flush(LONG);
    assert!(is_written(&output));
    assert_eq!(reading.join().unwrap(), b"1\n2\n3\n");
}

#[test]
fn a_flush_does_not_wait_for_later_lines() {
    let (output, reader) = started();
    assert!(output.0.push(b"1\n", true));
    let flushed = output.clone();
    let flushing = thread::spawn(move || {
        let begun = Instant::now();
        flushed.0.flush(LONG);
        begun.elapsed()
    });
    let end = Instant::now() + LONG;
    while !flushing.is_finished() && Instant::now() < end {
        output.0.push(b"later\n", false);
        drop(reader.recv_timeout(Duration::from_millis(1)));
    }
    assert!(flushing.join().unwrap() < LONG);
}

/// Panics at its first write.
struct BreaksOnce {
    pipe: Pipe,
    is_used: bool,
}

impl Write for BreaksOnce {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        assert!(
            std::mem::replace(&mut self.is_used, true),
            "the first write"
        );
        self.pipe.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_panic_of_the_thread_loses_no_later_lines() {
    let (writer, reader) = sync_channel(0);
    let pipe = Pipe(writer);
    let output = started_with(BreaksOnce {
        pipe,
        is_used: false,
    });
    let (mut text, end) = (Vec::new(), Instant::now() + LONG);
    while text.is_empty() && Instant::now() < end {
        output.0.push(b"line\n", true);
        let read = reader.recv_timeout(Duration::from_millis(10));
        text = read.unwrap_or_default();
    }
    assert!(text.starts_with(b"line\n"));
}

#[test]
fn a_flush_ends_although_nothing_reads() {
    let (output, _reader) = started();
    assert!(output.0.push(b"1\n", false));
    let begun = Instant::now();
    output.0.flush(Duration::from_millis(50));
    assert!(begun.elapsed() >= Duration::from_millis(50));
    assert!(!is_written(&output));
    assert!(output.0.push(b"2\n", true), "other threads do not wait");
}

#[test]
fn a_panic_is_logged_as_an_error_and_flushed() {
    let (output, reader) = started();
    let reading = thread::spawn(move || reader.recv_timeout(LONG).unwrap());
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(output.clone());
    let subscriber = tracing_subscriber::registry().with(layer);
    let previous = std::panic::take_hook();
    log_panics(output.clone());
    let outcome = with_default(subscriber, || {
        std::panic::catch_unwind(|| -> u8 { panic!("it broke") })
    });
    std::panic::set_hook(previous);
    assert!(outcome.is_err());
    assert!(is_written(&output));
    let text = String::from_utf8(reading.join().unwrap()).unwrap();
    for part in ["ERROR", "panicked: it broke", "output/tests.rs:"] {
        assert!(text.contains(part), "{text}");
    }
}
