//! AAC, by an installed ffmpeg: no free encoder is good enough to be built in.

use crate::VoiceError;
use crate::means::MAX_ANSWER_BYTES;
use crate::programs::{Job, Programs};
use bytes::Bytes;
use std::ffi::OsString;
use std::path::PathBuf;

/// The program, and whose error it is.
const FFMPEG: &str = "ffmpeg";
/// WAV in, ADTS out (<https://ffmpeg.org/ffmpeg.html>, <https://ffmpeg.org/ffmpeg-protocols.html>).
/// `-nostdin` only keeps it from taking the audio for commands. Nothing in the audio can make it open
/// another address: the kind of input is fixed, and so are the ways to get at it.
const ARGUMENTS: &[&str] = &[
    "-nostdin",
    "-hide_banner",
    "-v",
    "error",
    "-protocol_whitelist",
    "pipe,file",
    "-f",
    "wav",
    "-i",
    "pipe:0",
    "-vn",
    "-c:a",
    "aac",
    "-f",
    "adts",
    "pipe:1",
];

/// Where ffmpeg is: asked before anybody speaks for a format that cannot be made.
pub(crate) fn find(programs: &Programs) -> Result<PathBuf, VoiceError> {
    programs.find(None, FFMPEG).ok_or_else(|| {
        let hint = "The format aac is made by ffmpeg, which is not installed here; \
                    install it, or ask for another format.";
        VoiceError::not_configured(FFMPEG, hint)
    })
}

/// The same audio as AAC in ADTS.
///
/// # Errors
/// `NotConfigured` without ffmpeg; a failure or a time-out of ffmpeg's.
pub(crate) async fn aac(programs: &Programs, wav: Bytes) -> Result<Bytes, VoiceError> {
    let job = Job {
        provider: FFMPEG,
        setting: FFMPEG,
        program: find(programs)?,
        args: ARGUMENTS.iter().map(OsString::from).collect(),
        variables: &[],
        stdin: wav,
        most_output: MAX_ANSWER_BYTES,
        with_stderr: false,
        directory: None,
    };
    let audio = programs.run(job).await?.stdout;
    if audio.is_empty() {
        return Err(VoiceError::failed(FFMPEG, "gave no audio", false));
    }
    Ok(audio)
}
