//! Piper: a program that reads lines of text and streams raw samples.
//!
//! Two programs have this name: the older one in C++ (<https://github.com/rhasspy/piper>) and its successor in Python
//! (<https://github.com/OHF-Voice/piper1-gpl>, `docs/CLI.md`). Both accept the options below in this spelling,
//! `--output_raw` and `--length_scale` with underscores. With raw output, each line is an utterance, without gaps in
//! between. The text is passed only on stdin, because the successor also speaks unknown arguments, and arguments are
//! not secret. If programs are kept between requests, [`kept`] uses the running process.

mod described;
mod kept;

use super::{Encoding, Speech, TtsCall, TtsProvider};
use crate::VoiceError;
use crate::programs::{Command, Job, Programs, Protocol, Rest, absolute, not_found};
use crate::provider::{About, BINARY_PATH, ProviderSettings, Service, setting};
use crate::resources::{MAX_ANSWER_BYTES, Resources};
use bytes::Bytes;
use described::Described;
use futures_util::FutureExt;
use futures_util::stream::BoxStream;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ID: &str = "tts_local_1";
const BINARY: &str = "voice.tts.tts_local_1.binary_path";
const MODEL: &str = "voice.tts.tts_local_1.model_path";

/// Without this variable, the successor reads its input in the locale's encoding.
const VARIABLES: &[(&str, &str)] = &[("PYTHONUTF8", "1")];

pub(super) static PROVIDER: TtsProvider = TtsProvider {
    about: About {
        id: ID,
        alias: "piper",
        label: "Piper",
        about: "Runs locally; text never leaves this machine. Needs the piper program and a voice file.",
        service: Service::Program {
            model: "model_path",
            // The files are checked when a request uses them.
            missing: |settings, programs| needs(settings, programs).err(),
        },
        settings: &[
            setting("model_path", "Voice file"),
            setting("config_path", "Voice description file")
                .hint("Defaults to the .json file next to the voice."),
            BINARY_PATH,
            setting("speaker_id", "Speaker"),
            setting("length_scale", "Length").hint("0.1 to 10; lower is faster."),
        ],
    },
    // Piper streams raw samples at the rate of its voice.
    native: &[],
    max_characters: 4096,
    max_bytes: usize::MAX,
    streams: true,
    speed: Some(0.25..=4.0),
    // A Piper model has one language, and one voice or numbered speakers.
    parameters: &[],
    voices: None,
    speak: |resources, call| speak(resources, call).boxed(),
    ignores: |_| Vec::new(),
};

async fn speak(resources: &Resources, call: &TtsCall) -> Result<Speech, VoiceError> {
    let settings = &call.settings;
    let (program, model) = needs(settings, &resources.programs)?;
    if !tokio::fs::try_exists(&model).await.unwrap_or(false) {
        return Err(VoiceError::missing_file(MODEL));
    }
    let config = settings.config_path.as_deref().map(absolute);
    let config = config.unwrap_or_else(|| beside(&model));
    let described = Described::read(&config).await?;
    let rate = described.audio.sample_rate;
    let arguments = arguments(call, &model, &config, &described);
    let programs = &resources.programs;
    let text = lines(&call.text);
    let body = if programs.warm().keeps(&program) {
        let command = Command {
            provider: ID,
            setting: BINARY,
            program,
            args: arguments,
            directory_option: Some("--output_dir"),
            protocol: Protocol::Lines,
            variables: VARIABLES,
        };
        spoken_by_kept(programs, command, kept::sentences(&text), rate).await?
    } else {
        programs.stream(job(program, arguments, text)).await?
    };
    let encoding = Encoding::Samples { rate };
    Ok(Speech { encoding, body })
}

/// Sends the lines to the kept process. If it fails, a new process speaks the remaining lines.
async fn spoken_by_kept(
    programs: &Programs,
    command: Command,
    lines: Arc<[String]>,
    rate: u32,
) -> Result<BoxStream<'static, Result<Bytes, VoiceError>>, VoiceError> {
    let warm = programs.warm().clone();
    let count = lines.len();
    let work = |pieces, until| async move {
        let to = (pieces, until);
        let unspoken = kept::speak(&warm, &command, Arc::clone(&lines), rate, to).await?;
        Ok(unspoken.map(|unspoken| {
            let rest = lines.get(unspoken.spoken..).unwrap_or_default().concat();
            let Command { program, args, .. } = command;
            Rest {
                job: job(program, args, rest),
                is_new: unspoken.is_new,
            }
        }))
    };
    programs.stream_after(ID, count, work).await
}

/// Speaks one text.
fn job(program: PathBuf, mut args: Vec<OsString>, text: String) -> Job {
    args.push("--output_raw".into());
    Job {
        provider: ID,
        setting: BINARY,
        program,
        args,
        variables: VARIABLES,
        stdin: text.into(),
        most_output: MAX_ANSWER_BYTES,
        with_stderr: false,
        directory: None,
    }
}

fn needs(
    settings: &ProviderSettings,
    programs: &Programs,
) -> Result<(PathBuf, PathBuf), VoiceError> {
    let model = settings
        .model_path
        .as_deref()
        .ok_or_else(|| VoiceError::not_configured(MODEL, "Set it to the voice's .onnx file."))?;
    let program = programs
        .find(settings.binary_path.as_deref(), "piper")
        .ok_or_else(|| not_found(BINARY, "piper"))?;
    Ok((program, absolute(model)))
}

/// Returns the default config path of both programs: the model's name with `.json` appended.
fn beside(model: &Path) -> PathBuf {
    let mut name = model.as_os_str().to_owned();
    name.push(".json");
    name.into()
}

/// Returns the arguments except those for the output.
fn arguments(call: &TtsCall, model: &Path, config: &Path, described: &Described) -> Vec<OsString> {
    let settings = &call.settings;
    let mut arguments: Vec<OsString> = vec![
        "--model".into(),
        model.into(),
        "--config".into(),
        config.into(),
    ];
    if let Some(speaker) = settings.speaker_id {
        arguments.extend(["--speaker".into(), speaker.to_string().into()]);
    }
    let speed = call.speed.filter(|speed| speed.is_finite() && *speed > 0.0);
    if settings.length_scale.is_some() || speed.is_some() {
        let usual = settings.length_scale.or(described.inference.length_scale);
        let scale = usual.unwrap_or(1.0) / speed.unwrap_or(1.0);
        arguments.extend(["--length_scale".into(), format!("{scale:.4}").into()]);
    }
    arguments
}

/// Returns one line per paragraph. Line breaks inside a paragraph and control characters become
/// spaces.
fn lines(text: &str) -> String {
    let mut lines = String::with_capacity(text.len() + 1);
    let mut ended = true;
    for line in text.lines() {
        let mut words = line
            .split(|letter: char| letter.is_whitespace() || letter.is_control())
            .filter(|word| !word.is_empty())
            .peekable();
        if words.peek().is_none() && !ended {
            lines.push('\n');
            ended = true;
        }
        for word in words {
            if !ended {
                lines.push(' ');
            }
            lines.push_str(word);
            ended = false;
        }
    }
    if !ended {
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests;
