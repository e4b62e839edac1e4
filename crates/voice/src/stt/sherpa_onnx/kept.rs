//! Transcripts from a process that keeps the model in memory. The process is `worker.py`, run by the Python in the
//! directory of `sherpa-onnx-offline`, with the library (<https://pypi.org/project/sherpa-onnx/>).
//!
//! The programs of sherpa-onnx itself cannot be kept. Its servers listen on all interfaces, and its other programs read
//! all their files at the start.

use super::{BINARY, ID, lasts, recognized};
use crate::programs::{Command, Outcome, Process, Programs, Protocol, Warm};
use crate::stt::{SttCall, SttResult};
use bytes::Bytes;
use futures_util::FutureExt;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// The longest recording for a kept process: a quarter of an hour. The process holds several copies of the recording in
/// memory.
const MAX_BYTES: usize = 32 << 20;
/// The name of the interpreter. It is in the same directory if both were installed with pip.
const PYTHON: &str = "python3";
const WORKER: &str = include_str!("worker.py");
/// The answer to an empty recording.
const READY: &[u8] = b"ready";
/// How long a new process may take to load its model.
const READY_LIMIT: Duration = Duration::from_mins(1);
/// The maximum number of times that a request is sent. A process can end before it begins the
/// request.
const ATTEMPTS: usize = 2;
/// Without this variable, the worker writes its output in the locale's encoding.
const VARIABLES: &[(&str, &str)] = &[("PYTHONUTF8", "1")];

/// The error of a process that returned no transcript.
pub(super) struct Failed {
    /// Whether the process failed before its first answer.
    pub(super) is_new: bool,
}

/// Returns the command of the process that keeps running for later calls. Returns `None` if there is no Python, if
/// processes are not kept running, or if the recording is too long.
pub(super) fn command(
    programs: &Programs,
    call: &SttCall,
    program: &Path,
    options: &[OsString],
) -> Option<Command> {
    if call.audio.len() > MAX_BYTES {
        return None;
    }
    let python = Programs::beside(program, PYTHON)?;
    let mut args: Vec<OsString> = vec!["-c".into(), WORKER.into()];
    args.extend_from_slice(options);
    let command = Command {
        provider: ID,
        setting: BINARY,
        program: python,
        args,
        directory_option: None,
        protocol: Protocol::Pipe,
        variables: VARIABLES,
    };
    let keeps = programs.warm().keeps(&command.program);
    keeps.then_some(command)
}

/// Transcribes the audio. If the process does not become ready within half of the time until the deadline, another
/// program can use the other half.
pub(super) async fn listen(
    warm: &Warm,
    command: &Command,
    call: &SttCall,
    until: Instant,
) -> Result<SttResult, Failed> {
    for _ in 0..ATTEMPTS {
        let order = (call.audio.clone(), until);
        let asked = warm.ask(command, move |process| heard(process, order).boxed());
        match asked.await {
            Ok(Some(answer)) => return answer,
            Ok(None) => {}
            Err(_not_started) => return Err(Failed { is_new: true }),
        }
    }
    Err(Failed { is_new: false })
}

async fn heard(
    process: &mut Process,
    (audio, until): (Bytes, Instant),
) -> (Outcome, Result<SttResult, Failed>) {
    let is_new = !process.has_answered;
    if is_new {
        let half = until.saturating_duration_since(Instant::now()) / 2;
        let ready = timeout(half.min(READY_LIMIT), ready(process)).await;
        if !matches!(ready, Ok(Some(()))) {
            return (Outcome::End, Err(Failed { is_new }));
        }
    }
    let Some(recognized) = transcript(process, &audio).await else {
        return (Outcome::End, Err(Failed { is_new }));
    };
    process.has_answered = true;
    (Outcome::Keep, Ok(recognized))
}

/// Waits until the process has loaded its model. Returns `None` if the process ends.
async fn ready(process: &mut Process) -> Option<()> {
    send(process, &[]).await?;
    while process.line().await?.trim_ascii() != READY {}
    Some(())
}

/// Reads the transcript. Returns `None` if the process ends or its answer is unusable. Other lines are messages of the
/// library.
async fn transcript(process: &mut Process, audio: &Bytes) -> Option<SttResult> {
    send(process, audio).await?;
    loop {
        let line = process.line().await?;
        if line.starts_with(b"{") {
            return recognized(&line, lasts(audio));
        }
    }
}

/// Writes the length of the recording (4 bytes, little endian) and the recording.
async fn send(process: &mut Process, recording: &[u8]) -> Option<()> {
    let length = u32::try_from(recording.len()).ok()?;
    process.write(&length.to_le_bytes()).await.ok()?;
    process.write(recording).await.ok()
}
