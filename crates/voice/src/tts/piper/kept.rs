//! Speech from a process that is kept between requests.
//!
//! With `--output_dir`, both programs write a WAV file for each line of input. The older program prints the file's path
//! on stdout before the file is complete. Its successor logs "Wrote" and the path on stderr. Each sentence is sent as a
//! line, so the audio of the first sentence arrives early.

use crate::VoiceError;
use crate::programs::{Command, Outcome, Process, Warm, open_own_file};
use crate::resources::MAX_ANSWER_BYTES;
use crate::text::sentence_ends;
use bytes::Bytes;
use futures_util::FutureExt;
use gatehouse_audio::{WavStream, pcm_of_samples};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

/// How long a new process may take for its first line, which includes loading the model.
const FIRST_LINE: Duration = Duration::from_secs(30);
/// The maximum number of checks whether a named file is complete.
const FILE_CHECKS: usize = 200;
const FILE_PAUSE: Duration = Duration::from_millis(5);

/// The lines that the process did not speak.
pub(super) struct Unspoken {
    /// The number of lines that it spoke before them.
    pub(super) spoken: usize,
    /// Whether the process had not answered anything.
    pub(super) is_new: bool,
}

/// Speaks the lines in order and sends the samples of each. Returns `None` if all lines were
/// spoken.
pub(super) async fn speak(
    warm: &Warm,
    command: &Command,
    lines: Arc<[String]>,
    rate: u32,
    (pieces, until): (mpsc::Sender<Result<Bytes, VoiceError>>, Instant),
) -> Result<Option<Unspoken>, VoiceError> {
    let count = lines.len();
    let spoken = Arc::new(AtomicUsize::new(0));
    let order = Order {
        lines,
        rate,
        pieces,
        until,
        spoken: Arc::clone(&spoken),
    };
    let asked = warm.ask(command, move |process| speak_lines(process, order).boxed());
    let is_new = asked.await?.unwrap_or(false);
    let spoken = spoken.load(Ordering::Relaxed);
    Ok((spoken < count).then_some(Unspoken { spoken, is_new }))
}

/// A text for a process.
struct Order {
    lines: Arc<[String]>,
    /// Samples per second.
    rate: u32,
    pieces: mpsc::Sender<Result<Bytes, VoiceError>>,
    until: Instant,
    /// How many lines were spoken.
    spoken: Arc<AtomicUsize>,
}

/// Returns whether the process failed before it had answered anything.
async fn speak_lines(process: &mut Process, order: Order) -> (Outcome, bool) {
    let mut left = MAX_ANSWER_BYTES;
    for line in order.lines.iter() {
        if order.pieces.is_closed() {
            break;
        }
        let is_new = !process.has_answered;
        let Some(samples) = speak_line(process, line, &order, left).await else {
            return (Outcome::End, is_new);
        };
        process.has_answered = true;
        left = left.saturating_sub(samples.len());
        order.spoken.fetch_add(1, Ordering::Relaxed);
        if !samples.is_empty() && order.pieces.send(Ok(samples)).await.is_err() {
            break;
        }
    }
    (Outcome::Keep, false)
}

/// Returns the samples of a line, or `None` if the process fails or takes too long.
async fn speak_line(
    process: &mut Process,
    line: &str,
    order: &Order,
    most_bytes: usize,
) -> Option<Bytes> {
    // The other half of the time is left for a new process.
    let half = order.until.saturating_duration_since(Instant::now()) / 2;
    let limit = if process.has_answered {
        half
    } else {
        half.min(FIRST_LINE)
    };
    let spoken = async {
        process.write(line.as_bytes()).await.ok()?;
        loop {
            let said = process.line().await?;
            // A file that no longer exists was named twice.
            if let Some(path) = named(&said, process.directory.path())
                && tokio::fs::try_exists(&path).await.unwrap_or(false)
            {
                return take(&path, order.rate, most_bytes).await;
            }
        }
    };
    timeout(limit, spoken).await.ok()?
}

/// Returns the path of the WAV file in this directory with which the line ends.
fn named(line: &[u8], directory: &Path) -> Option<PathBuf> {
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let (before, name) = line.rsplit_once('/')?;
    let is_wav = Path::new(name).extension().is_some_and(|it| it == "wav");
    let is_ours = before.ends_with(directory.to_str()?);
    (is_wav && is_ours).then(|| directory.join(name))
}

/// Reads and deletes the file, which may still be incomplete.
async fn take(path: &Path, rate: u32, most_bytes: usize) -> Option<Bytes> {
    for _ in 0..FILE_CHECKS {
        let wav = read(path, most_bytes).await?;
        if is_whole(&wav) {
            let samples = samples(&wav, rate);
            let removed = tokio::fs::remove_file(path).await;
            return samples.filter(|_| removed.is_ok());
        }
        sleep(FILE_PAUSE).await;
    }
    None
}

async fn read(path: &Path, most_bytes: usize) -> Option<Vec<u8>> {
    let file = open_own_file(path).await.ok()?;
    let mut wav = Vec::new();
    let most = u64::try_from(most_bytes).ok()?;
    file.take(most).read_to_end(&mut wav).await.ok()?;
    Some(wav)
}

/// Returns whether the file has the length that its header declares (RIFF: the length after the first 8 bytes).
fn is_whole(wav: &[u8]) -> bool {
    let declared = wav.get(4..8).and_then(<[u8]>::first_chunk);
    declared.is_some_and(|bytes| {
        let declared = u64::from(u32::from_le_bytes(*bytes)) + 8;
        wav.len() as u64 >= declared
    })
}

/// Returns the samples as bytes, or `None` if their rate differs from the one in the voice's description.
fn samples(wav: &[u8], rate: u32) -> Option<Bytes> {
    let mut stream = WavStream::new();
    let samples = stream.push(wav).ok()?;
    (stream.rate() == Some(rate)).then(|| pcm_of_samples(&samples).into())
}

/// Splits a text with one paragraph per line into sentences, each with a line break. A piece without letters and digits
/// is appended to the preceding sentence, because Piper's successor fails on a line without speech.
pub(super) fn sentences(text: &str) -> Arc<[String]> {
    let mut sentences: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let ends = sentence_ends(paragraph).into_iter();
        let mut from = 0;
        for end in ends.chain([paragraph.len()]) {
            let piece = paragraph.get(from..end).unwrap_or_default().trim();
            from = end;
            let is_speech = piece.contains(char::is_alphanumeric);
            match sentences.last_mut() {
                _ if piece.is_empty() => {}
                Some(last) if !is_speech => {
                    let before = last.trim_end().len();
                    last.truncate(before);
                    last.push(' ');
                    last.push_str(piece);
                    last.push('\n');
                }
                _ => sentences.push(format!("{piece}\n")),
            }
        }
    }
    sentences.into()
}

#[cfg(test)]
mod tests;
