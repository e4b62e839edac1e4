//! whisper.cpp's `whisper-cli` (<https://github.com/ggml-org/whisper.cpp>, `examples/cli/README.md`).
//!
//! It reads a WAV file and writes a JSON file, with times of segments and of tokens (`-ojf`). `-nt` is not
//! asked for: it takes the times away from the JSON too. The hint goes as an argument, there is no other
//! way; users of the same machine can read it there while the program runs.

use super::locale::primary;
use super::words::{Piece, words};
use super::{Heard, Segment, Stt, SttCall};
use crate::VoiceError;
use crate::means::{MAX_TEXT_ANSWER_BYTES, Means};
use crate::programs::{Job, Programs, absolute, not_found, workspace};
use crate::settings::SttProviderSettings;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Deserializer, de};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use tokio::io::AsyncReadExt;

const ID: &str = "stt_local_2";
const BINARY: &str = "voice.stt.stt_local_2.binary_path";
const MODEL: &str = "voice.stt.stt_local_2.model_path";
/// The names of the two files.
const AUDIO: &str = "audio.wav";
/// Without its extension, as `-of` wants it.
const RESULT: &str = "result";

/// The program.
#[derive(Debug)]
pub(super) struct WhisperCli;

impl Stt for WhisperCli {
    fn listen<'a>(
        &'a self,
        means: &'a Means,
        call: &'a SttCall,
    ) -> BoxFuture<'a, Result<Heard, VoiceError>> {
        async move {
            let (program, model) = needs(&call.settings, &means.programs)?;
            if !tokio::fs::try_exists(&model).await.unwrap_or(false) {
                return Err(VoiceError::not_configured(MODEL, "There is no such file."));
            }
            let directory = workspace(AUDIO, &call.audio).await?;
            let job = Job {
                provider: ID,
                setting: BINARY,
                program,
                args: arguments(call, &model, directory.path()),
                variables: &[],
                stdin: Bytes::new(),
                most_output: MAX_TEXT_ANSWER_BYTES,
                with_stderr: false,
                directory: Some(directory.clone()),
            };
            means.programs.run(job).await?;
            let nothing = || VoiceError::failed(ID, "gave no text", false);
            let path = directory.path().join(RESULT).with_extension("json");
            let file = tokio::fs::File::open(path).await.map_err(|_| nothing())?;
            let mut text = Vec::new();
            let most = MAX_TEXT_ANSWER_BYTES as u64;
            file.take(most).read_to_end(&mut text).await?;
            heard(text).ok_or_else(nothing)
        }
        .boxed()
    }
}

impl WhisperCli {
    /// What keeps it from being used: a required key that is not set, or no program. Whether the model is
    /// there is seen when it is used.
    pub(crate) fn missing(
        &self,
        settings: &SttProviderSettings,
        programs: &Programs,
    ) -> Option<VoiceError> {
        needs(settings, programs).err()
    }
}

fn needs(
    settings: &SttProviderSettings,
    programs: &Programs,
) -> Result<(PathBuf, PathBuf), VoiceError> {
    let model = settings.model_path.as_deref().ok_or_else(|| {
        VoiceError::not_configured(MODEL, "Set it to a Whisper model in ggml format.")
    })?;
    let program = programs
        .find(settings.binary_path.as_deref(), "whisper-cli")
        .ok_or_else(|| not_found(BINARY, "whisper-cli"))?;
    Ok((program, absolute(model)))
}

fn arguments(call: &SttCall, model: &Path, directory: &Path) -> Vec<OsString> {
    let language = call.language.as_deref().and_then(primary);
    let mut arguments: Vec<OsString> = vec![
        "-m".into(),
        model.into(),
        "-f".into(),
        directory.join(AUDIO).into(),
        "-l".into(),
        language.unwrap_or_else(|| "auto".to_owned()).into(),
        "-ojf".into(),
        "-of".into(),
        directory.join(RESULT).into(),
        "-np".into(),
    ];
    // Each option that takes a value takes whatever follows, also what begins with a dash.
    let prompt = call.prompt.as_deref().map(without_nul);
    if let Some(prompt) = prompt.filter(|prompt| !prompt.is_empty()) {
        arguments.extend(["--prompt".into(), prompt.into()]);
    }
    arguments
}

/// No argument can hold NUL.
fn without_nul(text: &str) -> String {
    text.replace('\0', " ")
}

/// What the program writes, as far as it is needed. Its strings need not be UTF-8: a token can be a part
/// of a letter.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    result: WrittenResult,
    transcription: Vec<WrittenSegment>,
}

#[derive(Default, Deserialize)]
struct WrittenResult {
    language: Option<String>,
}

#[derive(Deserialize)]
struct WrittenSegment {
    offsets: Offsets,
    text: Raw,
    #[serde(default)]
    tokens: Vec<WrittenToken>,
}

#[derive(Deserialize)]
struct WrittenToken {
    text: Raw,
    /// Absent when the program was told so by its build.
    offsets: Option<Offsets>,
}

/// In milliseconds.
#[derive(Clone, Copy, Deserialize)]
struct Offsets {
    from: i64,
    to: i64,
}

impl Offsets {
    fn seconds(self) -> (f64, f64) {
        let seconds = |ms: i64| std::time::Duration::from_millis(ms.try_into().unwrap_or(0));
        let start = seconds(self.from).as_secs_f64();
        (start, seconds(self.to).as_secs_f64().max(start))
    }
}

fn heard(mut text: Vec<u8>) -> Option<Heard> {
    // The program escapes quotes and backslashes, and no line breaks.
    for byte in text.iter_mut().filter(|byte| **byte < b' ') {
        *byte = b' ';
    }
    let written: Written = serde_json::from_slice(&text).ok()?;
    let mut heard = Heard {
        language: written.result.language.as_deref().and_then(primary),
        ..Heard::default()
    };
    let mut whole = Vec::new();
    for segment in written.transcription {
        whole.extend_from_slice(&segment.text.0);
        let text = segment.text.shown();
        let pieces: Vec<Piece> = segment.tokens.into_iter().filter_map(piece).collect();
        heard.words.extend(words(&text, &pieces));
        let (start, end) = segment.offsets.seconds();
        if !text.is_empty() {
            heard.segments.push(Segment { text, start, end });
        }
    }
    heard.text = Raw(whole).shown();
    Some(heard)
}

fn piece(token: WrittenToken) -> Option<Piece> {
    let bytes = token.text.0;
    // `[_BEG_]`, `[_TT_150]` and the like are not text.
    let is_mark = bytes.starts_with(b"[_") && bytes.ends_with(b"]");
    let (start, end) = token.offsets?.seconds();
    (!is_mark).then_some(Piece { bytes, start, end })
}

/// A string of bytes.
struct Raw(Vec<u8>);

impl Raw {
    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.0).trim().to_owned()
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Raw;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Raw, E> {
                Ok(Raw(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

#[cfg(test)]
mod tests;
