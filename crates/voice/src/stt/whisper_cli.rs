//! whisper.cpp's `whisper-cli` (<https://github.com/ggml-org/whisper.cpp>, `examples/cli/README.md`).
//!
//! The program reads a WAV file and writes a JSON file with the times of segments and tokens (`-ojf`). `-nt` is not
//! used, because it also removes the times from the JSON. `-tr` translates to English; English-only models ignore this
//! option. The hint can only be passed as an argument, which other users of the machine can read while the program
//! runs. If programs are kept between requests, [`kept`] calls a `whisper-server`. [`audio_context`] limits the audio
//! that both programs encode.

mod answer;
mod audio_context;
mod kept;
mod written;

use super::language::primary;
use super::translate::WITH_ITS_MODEL;
use super::{MAX_WAV_BYTES, SttCall, SttProvider, SttResult, only_wav};
use crate::VoiceError;
use crate::programs::{
    Command, Job, ProgramPermit, Programs, Protocol, absolute, in_time, not_found, open_own_file,
};
use crate::provider::{About, BINARY_PATH, LANGUAGE, ProviderSettings, Service, setting};
use crate::resources::{MAX_TEXT_ANSWER_BYTES, Resources};
use bytes::Bytes;
use futures_util::FutureExt;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tokio::io::AsyncReadExt;

const ID: &str = "stt_local_2";
/// The program that can be kept. It is installed with `whisper-cli`.
const SERVER: &str = "whisper-server";
const BINARY: &str = "voice.stt.stt_local_2.binary_path";
const MODEL: &str = "voice.stt.stt_local_2.model_path";
/// By default, OpenMP's threads wait for each other in busy loops
/// (<https://gcc.gnu.org/onlinedocs/libgomp/OMP_005fWAIT_005fPOLICY.html>). If other programs use the same processors,
/// such as a second transcription, busy loops make the work several times slower.
const VARIABLES: &[(&str, &str)] = &[("OMP_WAIT_POLICY", "passive")];
/// The input file name.
const AUDIO: &str = "audio.wav";
/// The output file name without its extension, as `-of` requires.
const RESULT: &str = "result";

pub(super) static PROVIDER: SttProvider = SttProvider {
    about: About {
        id: ID,
        alias: "whisper-cli",
        label: "whisper.cpp",
        about: "Runs locally; recordings never leave this machine. Needs whisper-cli and a model file.",
        service: Service::Program {
            model: "model_path",
            // The model file is checked when a request uses it.
            missing: |settings, programs| needs(settings, programs).err(),
        },
        settings: &[
            setting("model_path", "Model file"),
            BINARY_PATH,
            LANGUAGE,
            setting("fit_audio_context", "Fit context to recording").hint(
                "Transcribes short recordings faster. Without it, 30 seconds are always processed.",
            ),
        ],
    },
    accepts: only_wav,
    max_bytes: MAX_WAV_BYTES,
    takes_hints: true,
    translator: Some(WITH_ITS_MODEL),
    streaming: None,
    listen: |resources, call| listen(resources, call).boxed(),
};

async fn listen(resources: &Resources, call: &SttCall) -> Result<SttResult, VoiceError> {
    let (program, model) = needs(&call.settings, &resources.programs)?;
    if !tokio::fs::try_exists(&model).await.unwrap_or(false) {
        return Err(VoiceError::missing_file(MODEL));
    }
    let context = audio_context::fitting(call, &model).await;
    let permit = resources.programs.permit(ID).await?;
    let Some(command) = server(resources, call, &program, &model) else {
        return run(resources, permit, call, (program, &model), context).await;
    };
    let listening = kept::listen(resources, &command, (call, context), permit.until);
    let asked = in_time(permit.until, ID, async { Ok(listening.await) });
    let kept::Failed { is_new } = match asked.await? {
        Ok(recognized) => return Ok(recognized),
        Err(failed) => failed,
    };
    // The server may have failed because of the limited context, so this run uses the whole window.
    let recognized = run(resources, permit, call, (program, &model), 0).await?;
    if is_new {
        resources.programs.warm().give_up(command.program);
    }
    Ok(recognized)
}

/// Returns the command of the process that keeps running for later calls. Returns `None` if its program is not
/// installed, if processes are not kept running, or if the recording is too long for it.
fn server(resources: &Resources, call: &SttCall, program: &Path, model: &Path) -> Option<Command> {
    if call.audio.len() > kept::MAX_BYTES {
        return None;
    }
    let server = Programs::beside(program, SERVER)?;
    let command = Command {
        provider: ID,
        setting: BINARY,
        program: server,
        args: vec!["-m".into(), model.into()],
        // whisper-server serves the files in this directory. It is empty.
        directory_option: Some("--public"),
        protocol: Protocol::Http,
        variables: VARIABLES,
    };
    let keeps = resources.programs.warm().keeps(&command.program);
    keeps.then_some(command)
}

/// Runs the program for this call alone.
async fn run(
    resources: &Resources,
    permit: ProgramPermit,
    call: &SttCall,
    (program, model): (PathBuf, &Path),
    audio_context: usize,
) -> Result<SttResult, VoiceError> {
    let until = permit.until;
    let directory = in_time(until, ID, resources.programs.workspace(AUDIO, &call.audio));
    let directory = directory.await?;
    let job = Job {
        provider: ID,
        setting: BINARY,
        program,
        args: arguments(call, model, directory.path(), audio_context),
        variables: VARIABLES,
        stdin: Bytes::new(),
        most_output: MAX_TEXT_ANSWER_BYTES,
        with_stderr: false,
        directory: Some(directory.clone()),
    };
    resources.programs.run_at(permit, job).await?;
    let path = directory.path().join(RESULT).with_extension("json");
    let text = in_time(until, ID, read(&path)).await?;
    written::recognized(text).ok_or_else(nothing)
}

fn needs(
    settings: &ProviderSettings,
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

fn nothing() -> VoiceError {
    VoiceError::failed(ID, "returned no text", false)
}

/// Reads the program's output file, which is untrusted.
async fn read(path: &Path) -> Result<Vec<u8>, VoiceError> {
    let file = open_own_file(path).await.map_err(|_| nothing())?;
    let mut text = Vec::new();
    let most = MAX_TEXT_ANSWER_BYTES as u64;
    file.take(most).read_to_end(&mut text).await?;
    Ok(text)
}

fn arguments(
    call: &SttCall,
    model: &Path,
    directory: &Path,
    audio_context: usize,
) -> Vec<OsString> {
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
    if audio_context > 0 {
        arguments.extend(["-ac".into(), audio_context.to_string().into()]);
    }
    if call.translate {
        arguments.push("-tr".into());
    }
    // An option consumes the next argument as its value, even if that argument begins with a dash.
    let prompt = call.prompt.as_deref().map(without_nul);
    if let Some(prompt) = prompt.filter(|prompt| !prompt.is_empty()) {
        arguments.extend(["--prompt".into(), prompt.into()]);
    }
    arguments
}

/// Arguments cannot contain NUL.
fn without_nul(text: &str) -> String {
    text.replace('\0', " ")
}
