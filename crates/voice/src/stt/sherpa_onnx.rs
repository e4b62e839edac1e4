//! sherpa-onnx: `sherpa-onnx-offline` with a model directory
//! (<https://k2-fsa.github.io/sherpa/onnx/pretrained_models/index.html>).
//!
//! The files in the directory determine the model's options, see [`layout`]. The result is a line of JSON on
//! stdout; releases before 2 print it on stderr. The program ends after its files. If programs are kept between
//! requests, [`kept`] runs the library in Python.

mod kept;
mod layout;
mod metadata;

use super::language::primary;
use super::translate::WITH_ITS_MODEL;
use super::words::{Piece, words};
use super::{MAX_WAV_BYTES, SttCall, SttProvider, SttResult, only_wav};
use crate::VoiceError;
use crate::programs::{Job, ProgramPermit, Programs, absolute, in_time, not_found};
use crate::provider::{About, BINARY_PATH, LANGUAGE, ProviderSettings, Service, setting};
use crate::resources::{MAX_TEXT_ANSWER_BYTES, Resources};
use bytes::Bytes;
use futures_util::FutureExt;
use layout::Layout;
use serde::Deserialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

const ID: &str = "stt_local_3";
const BINARY: &str = "voice.stt.stt_local_3.binary_path";
const MODEL: &str = "voice.stt.stt_local_3.model_dir";
const AUDIO: &str = "audio.wav";
/// The maximum duration of a word after the start of its last token. Only a few models report the end.
const LAST_TOKEN_SECONDS: f64 = 0.5;
/// Size of the header of WAV files written here.
const WAV_HEADER_BYTES: usize = 44;

pub(super) static PROVIDER: SttProvider = SttProvider {
    about: About {
        id: ID,
        alias: "sherpa-onnx",
        label: "sherpa-onnx",
        about: "Runs locally; recordings never leave this machine. Needs sherpa-onnx-offline and a model folder.",
        service: Service::Program {
            model: "model_dir",
            // The content of the model directory is checked when a request uses it.
            missing: |settings, programs| needs(settings, programs).err(),
        },
        settings: &[setting("model_dir", "Model folder"), BINARY_PATH, LANGUAGE],
    },
    accepts: only_wav,
    max_bytes: MAX_WAV_BYTES,
    takes_hints: false,
    translator: Some(WITH_ITS_MODEL),
    streaming: None,
    listen: |resources, call| listen(resources, call).boxed(),
};

async fn listen(resources: &Resources, call: &SttCall) -> Result<SttResult, VoiceError> {
    let programs = &resources.programs;
    let (program, model) = needs(&call.settings, programs)?;
    let look = tokio::task::spawn_blocking(move || Layout::find(&model)).await;
    let layout = look
        .map_err(|_panic| VoiceError::Internal("the task that inspects a model panicked"))?
        .map_err(|hint| VoiceError::not_configured(MODEL, hint))?;
    if call.translate && !layout.translates() {
        let reason = "only a Whisper model translates; the configured model is not one";
        return Err(VoiceError::invalid("model", reason));
    }
    let options = options(&layout, call);
    let permit = programs.permit(ID).await?;
    let Some(command) = kept::command(programs, call, &program, &options) else {
        return run(programs, permit, call, (program, options)).await;
    };
    let listening = kept::listen(programs.warm(), &command, call, permit.until);
    let asked = in_time(permit.until, ID, async { Ok(listening.await) });
    let kept::Failed { is_new } = match asked.await? {
        Ok(recognized) => return Ok(recognized),
        Err(failed) => failed,
    };
    let recognized = run(programs, permit, call, (program, options)).await?;
    if is_new {
        programs.warm().give_up(command.program);
    }
    Ok(recognized)
}

/// Runs the program for this call alone.
async fn run(
    programs: &Programs,
    permit: ProgramPermit,
    call: &SttCall,
    (program, mut args): (PathBuf, Vec<OsString>),
) -> Result<SttResult, VoiceError> {
    let directory = programs.workspace(AUDIO, &call.audio);
    let directory = in_time(permit.until, ID, directory).await?;
    args.push(directory.path().join(AUDIO).into());
    let job = Job {
        provider: ID,
        setting: BINARY,
        program,
        args,
        variables: &[],
        stdin: Bytes::new(),
        most_output: MAX_TEXT_ANSWER_BYTES,
        with_stderr: true,
        directory: Some(directory),
    };
    let ran = programs.run_at(permit, job).await?;
    recognized(&ran.stdout, lasts(&call.audio))
        .ok_or_else(|| VoiceError::failed(ID, "returned no text", false))
}

fn needs(
    settings: &ProviderSettings,
    programs: &Programs,
) -> Result<(PathBuf, PathBuf), VoiceError> {
    let model = settings.model_path.as_deref().ok_or_else(|| {
        VoiceError::not_configured(MODEL, "Set it to a directory with a sherpa-onnx model.")
    })?;
    let program = programs
        .find(settings.binary_path.as_deref(), "sherpa-onnx-offline")
        .ok_or_else(|| not_found(BINARY, "sherpa-onnx-offline"))?;
    Ok((program, absolute(model)))
}

/// Returns the arguments except the recording. Each option and its value form one argument.
fn options(layout: &Layout, call: &SttCall) -> Vec<OsString> {
    let option = |name: &str, value: &Path| {
        let mut argument = OsString::from(format!("--{name}="));
        argument.push(value);
        argument
    };
    let mut options = vec![option("tokens", &layout.tokens)];
    let files = layout.files.iter();
    options.extend(files.map(|(name, file)| option(name, file)));
    let language = call.language.as_deref().and_then(primary);
    if let Some((name, language)) = layout.language.zip(language) {
        options.push(format!("--{name}={language}").into());
    }
    if call.translate {
        options.push("--whisper-task=translate".into());
    }
    options
}

/// The fields of the program's output that are used.
#[derive(Deserialize)]
struct Output {
    text: String,
    /// `en` or `<|en|>`, if the model reports it.
    #[serde(default)]
    lang: String,
    /// The start of each token, in seconds.
    #[serde(default)]
    timestamps: Vec<f64>,
    /// The duration of each token in seconds, if the model reports it.
    #[serde(default)]
    durations: Vec<f64>,
    #[serde(default)]
    tokens: Vec<String>,
}

/// Duration in seconds of WAV audio converted for recognizers: 16-bit samples, 16,000 per second.
fn lasts(wav: &Bytes) -> f64 {
    let bytes = wav.len().saturating_sub(WAV_HEADER_BYTES);
    let ms = u64::try_from(bytes / 32).unwrap_or_default();
    Duration::from_millis(ms).as_secs_f64()
}

/// Parses the last line that is a result. Other lines contain file names and messages.
fn recognized(output: &[u8], lasts: f64) -> Option<SttResult> {
    let mut lines = output.split(|byte| *byte == b'\n').rev();
    let said = lines.find_map(|line| {
        let line = line.trim_ascii();
        let is_object = line.starts_with(b"{");
        is_object.then(|| serde_json::from_slice::<Output>(line).ok())?
    })?;
    let text = said.text.trim().to_owned();
    let mark: &[char] = &['<', '|', '>', ' '];
    Some(SttResult {
        words: words(&text, &pieces(&said, lasts)),
        language: primary(said.lang.trim_matches(mark)),
        text,
        ..SttResult::default()
    })
}

/// Returns the pieces. The result is empty if the timestamps do not match the tokens. Whisper has
/// none.
fn pieces(said: &Output, lasts: f64) -> Vec<Piece> {
    if said.tokens.len() != said.timestamps.len() {
        return Vec::new();
    }
    let is_mark = |token: &str| token.starts_with("<|") && token.ends_with("|>");
    let next = said.timestamps.iter().skip(1);
    let next = next.copied().map(Some).chain([None]);
    let durations = said.durations.iter().copied().map(Some);
    let durations = durations.chain(std::iter::repeat(None));
    let all = said
        .tokens
        .iter()
        .zip(&said.timestamps)
        .zip(next)
        .zip(durations);
    let texts = all.filter(|(((token, _), _), _)| !is_mark(token));
    texts
        .map(|(((token, start), next), duration)| {
            let start = start.max(0.0);
            let last = start + LAST_TOKEN_SECONDS;
            let end =
                duration.map_or_else(|| next.map_or(last, |next| next.min(last)), |d| start + d);
            // "▁" (SentencePiece) starts a word. "@@" (subword-nmt) means that the word continues
            // in the next token.
            let token = token.replace('\u{2581}', " ");
            let token = token.strip_suffix("@@").unwrap_or(&token);
            Piece {
                bytes: token.as_bytes().to_vec(),
                start,
                end: end.min(lasts).max(start),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
