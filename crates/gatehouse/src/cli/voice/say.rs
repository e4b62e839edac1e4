//! `voice say`: speaks a text into a file.

use super::params;
use crate::cli::client::Client;
use crate::cli::output::{Output, field, line, note, until_closed, warn};
use crate::cli::usage;
use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The formats, which are also the file extensions.
const FORMATS: [&str; 7] = ["mp3", "opus", "ogg", "aac", "pcm", "wav", "flac"];

/// `gatehouse voice say`
#[derive(Debug, clap::Args)]
pub struct Say {
    /// The text; read from standard input when omitted
    text: Option<String>,
    /// The output file; - is standard output
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// mp3, opus, ogg, aac, pcm, wav or flac; from the extension of --output when omitted
    #[arg(long, value_parser = FORMATS)]
    format: Option<String>,
    /// The provider
    #[arg(long)]
    provider: Option<String>,
    /// The persona
    #[arg(long)]
    persona: Option<String>,
    /// The voice, by its ID at the provider
    #[arg(long)]
    voice: Option<String>,
    /// The model
    #[arg(long)]
    model: Option<String>,
    /// Speed, 0.25 to 4
    #[arg(long)]
    speed: Option<f64>,
}

/// Writes the speech to the file or to standard output. Checks the arguments before it calls the server.
pub(super) async fn run(client: &Client, out: &Output, mut say: Say) -> Result<ExitCode> {
    usage::ensure(
        say.output.is_some() || out.is_json(),
        "set a file for the audio: --output speech.mp3 (or - for standard output)",
    )?;
    let format = format_of(say.output.as_deref(), say.format.take());
    say.format = format.map_err(usage::wrong)?;
    let to_stdout = say.output.as_deref() == Some(Path::new("-"));
    let is_refused = to_stdout && (out.is_json() || std::io::stdout().is_terminal());
    usage::ensure(
        !is_refused,
        "audio cannot be written to standard output here: set a file with --output",
    )?;
    speak(client, out, say).await?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the requested format, otherwise the format of the file extension, or `None` if the server chooses.
fn format_of(output: Option<&Path>, asked: Option<String>) -> Result<Option<String>, String> {
    let ending = output.and_then(Path::extension).map(|ending| {
        let ending = ending.to_string_lossy().to_ascii_lowercase();
        // The registered extension for audio in Ogg (RFC 5334).
        if ending == "oga" {
            "ogg".to_owned()
        } else {
            ending
        }
    });
    let Some(ending) = ending else {
        return Ok(asked);
    };
    let is_known = FORMATS.contains(&ending.as_str());
    match asked {
        Some(asked) => {
            // `opus` and `ogg` both mean Opus in Ogg.
            let is_ogg = |format: &str| matches!(format, "opus" | "ogg");
            if is_known && ending != asked && !(is_ogg(&ending) && is_ogg(&asked)) {
                warn(format!(
                    "the file will contain {asked}, although its name ends with .{ending}"
                ));
            }
            Ok(Some(asked))
        }
        None if is_known => Ok(Some(ending)),
        None => Err(format!(
            "unknown extension .{ending}: use .{} or .oga, or set --format",
            FORMATS.join(", .")
        )),
    }
}

async fn speak(client: &Client, out: &Output, say: Say) -> Result<()> {
    let text = if let Some(text) = say.text {
        text
    } else {
        if std::io::stdin().is_terminal() {
            note("Enter the text; end with Ctrl-D:");
        }
        std::io::read_to_string(std::io::stdin())
            .context("standard input cannot be read as text")?
    };
    let mut made = client
        .rpc(
            "tts.convert",
            params([
                ("text", Some(json!(text))),
                ("format", say.format.map(Value::from)),
                ("provider", say.provider.map(Value::from)),
                ("persona", say.persona.map(Value::from)),
                ("voiceId", say.voice.map(Value::from)),
                ("model", say.model.map(Value::from)),
                ("speed", say.speed.map(Value::from)),
            ]),
        )
        .await?;
    let Some(path) = say.output else {
        return out.record(&made, || ());
    };
    let audio = made
        .as_object_mut()
        .and_then(|record| record.remove("audio"));
    let audio = audio
        .as_ref()
        .and_then(Value::as_str)
        .context("the response contains no audio")?;
    let audio = STANDARD
        .decode(audio)
        .context("the audio cannot be decoded")?;
    if path == Path::new("-") {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(&audio).and_then(|()| stdout.flush());
        return until_closed(written.map_err(Into::into))
            .context("the audio cannot be written to standard output");
    }
    tokio::fs::write(&path, audio)
        .await
        .with_context(|| format!("cannot write {}", path.display()))?;
    if made.get("warning").is_some_and(Value::is_string) {
        warn(field(&made, "warning"));
    }
    out.record(&made, || {
        let seconds = made
            .get("durationMs")
            .and_then(Value::as_f64)
            .unwrap_or_default()
            / 1000.0;
        let by = field(&made, "provider");
        line(format!(
            "Wrote {} ({seconds:.1} s, by {by}).",
            path.display()
        ));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_s_ending_names_the_format() {
        for (output, asked, expected) in [
            ("a.mp3", None, Ok(Some("mp3"))),
            ("a.OGA", None, Ok(Some("ogg"))),
            ("a.b.Wav", None, Ok(Some("wav"))),
            ("speech", None, Ok(None)),
            ("-", None, Ok(None)),
            ("-", Some("wav"), Ok(Some("wav"))),
            ("a.raw", Some("pcm"), Ok(Some("pcm"))),
            ("a.mp3", Some("wav"), Ok(Some("wav"))),
            ("a.flac", None, Ok(Some("flac"))),
            ("a.aiff", None, Err(())),
        ] {
            let found = format_of(Some(Path::new(output)), asked.map(str::to_owned));
            let found = found.map_err(|message| assert!(message.contains(".oga"), "{message}"));
            assert_eq!(
                found,
                expected.map(|format| format.map(str::to_owned)),
                "{output}"
            );
        }
    }
}
