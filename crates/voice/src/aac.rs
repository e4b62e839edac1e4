//! AAC, encoded by an installed ffmpeg. No free encoder is good enough to build in.

use crate::VoiceError;
use crate::programs::{Job, Programs};
use crate::resources::MAX_ANSWER_BYTES;
use bytes::Bytes;
use std::ffi::OsString;
use std::path::PathBuf;

/// The name of the program, which errors use as the provider.
const FFMPEG: &str = "ffmpeg";
/// WAV in, ADTS out (<https://ffmpeg.org/ffmpeg.html>, <https://ffmpeg.org/ffmpeg-protocols.html>). With `-nostdin`,
/// ffmpeg does not read the audio as commands. The audio cannot make ffmpeg open another address, because the input
/// format and the protocols are fixed.
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

/// Locates ffmpeg. Call it before synthesis, to fail early if the format cannot be encoded.
pub(crate) fn find(programs: &Programs) -> Result<PathBuf, VoiceError> {
    programs.find(None, FFMPEG).ok_or_else(|| {
        let hint = "AAC requires ffmpeg, which is not installed. Install ffmpeg or request another \
                    format.";
        VoiceError::not_configured(FFMPEG, hint)
    })
}

/// Converts `wav` to AAC in ADTS.
///
/// # Errors
/// Returns `NotConfigured` without ffmpeg, otherwise the failure or timeout of ffmpeg.
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
        return Err(VoiceError::failed(FFMPEG, "returned no audio", false));
    }
    Ok(audio)
}
