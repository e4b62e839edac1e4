//! `voice`: saying and understanding things from a shell, and looking at who does it.

use super::client::Client;
use super::globals::Globals;
use super::output::{Output, bad, field, good, line, note, warn};
use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::CommandFactory;
use clap::error::ErrorKind;
use serde_json::{Map, Value, json};
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// The longest audio that the server takes, and one byte more than that.
const MOST_READ: u64 = (25 << 20) + 1;
/// What can be asked for, and what files of it end with.
const FORMATS: [&str; 6] = ["mp3", "opus", "ogg", "aac", "pcm", "wav"];
/// What doctor has said and understood. A number follows, another one each time: what was spoken before would
/// come out of the cache, and nobody would have been tried.
const SENTENCE: &str = "The gate is open. Number";

/// `gatehouse voice …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Speak a text into a file
    Say(Box<Say>),
    /// Turn a recording into text
    Transcribe(Box<Transcribe>),
    /// List who can speak and who can listen
    Providers,
    /// Check what is configured; with --try, call it
    Doctor {
        /// Have every configured provider say or understand a sentence; vendors may charge for it
        #[arg(long)]
        r#try: bool,
    },
}

/// `gatehouse voice say`
#[derive(Debug, clap::Args)]
pub struct Say {
    /// The text; from standard input when left out
    text: Option<String>,
    /// Where the audio goes; - is standard output
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// mp3, opus, ogg, aac, pcm or wav; by the ending of --output when left out
    #[arg(long, value_parser = FORMATS)]
    format: Option<String>,
    /// Who speaks
    #[arg(long)]
    provider: Option<String>,
    /// In whose persona
    #[arg(long)]
    persona: Option<String>,
    /// Whose voice, by the provider's id of it
    #[arg(long)]
    voice: Option<String>,
    /// Which model
    #[arg(long)]
    model: Option<String>,
    /// 0.25 to 4
    #[arg(long)]
    speed: Option<f64>,
}

/// `gatehouse voice transcribe`
#[derive(Debug, clap::Args)]
pub struct Transcribe {
    /// The recording; - is standard input
    file: PathBuf,
    /// Its language, such as en
    #[arg(long)]
    language: Option<String>,
    /// Names and words that it may contain
    #[arg(long)]
    prompt: Option<String>,
    /// Who listens
    #[arg(long)]
    provider: Option<String>,
    /// What it is, where that cannot be seen: pcm
    #[arg(long)]
    format: Option<String>,
    /// Print subtitles instead of the text
    #[arg(long, value_parser = ["srt", "vtt"])]
    subtitles: Option<String>,
}

/// Runs it.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let client = Client::new(globals, &layers)?;
    match command {
        Command::Say(say) => return say_to(&client, out, *say).await,
        Command::Transcribe(asked) => transcribe(&client, out, *asked).await?,
        Command::Providers => providers(&client, out).await?,
        Command::Doctor { r#try } => return doctor(&client, out, r#try).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// The members that were given.
fn params<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let given = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(Map::from_iter(given))
}

/// The line is looked at as a whole first: what is wrong with it is a usage error, as clap's own.
async fn say_to(client: &Client, out: &Output, mut say: Say) -> Result<ExitCode> {
    let wrong = if say.output.is_none() && !out.is_json() {
        let message = "name a file for the audio: --output speech.mp3 (or - for standard output)";
        Some((ErrorKind::MissingRequiredArgument, message.to_owned()))
    } else {
        let format = format_of(say.output.as_deref(), say.format.take());
        let checked = format.map(|format| say.format = format);
        checked
            .err()
            .map(|message| (ErrorKind::InvalidValue, message))
    };
    if let Some((kind, message)) = wrong {
        super::Cli::command().error(kind, message).print()?;
        return Ok(ExitCode::from(2));
    }
    speak(client, out, say).await?;
    Ok(ExitCode::SUCCESS)
}

/// The format that is asked for, or else that the file's ending names. Neither is no format: the server's.
fn format_of(output: Option<&Path>, asked: Option<String>) -> Result<Option<String>, String> {
    let ending = output.and_then(Path::extension).map(|ending| {
        let ending = ending.to_string_lossy().to_ascii_lowercase();
        // The registered ending of audio in Ogg (RFC 5334).
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
            // Both are Opus in Ogg.
            let is_ogg = |format: &str| matches!(format, "opus" | "ogg");
            if is_known && ending != asked && !(is_ogg(&ending) && is_ogg(&asked)) {
                warn(format!(
                    "the file will hold {asked}, though its name ends with .{ending}"
                ));
            }
            Ok(Some(asked))
        }
        None if is_known => Ok(Some(ending)),
        None => Err(format!(
            "no format ends with .{ending}: the endings are .{} and .oga; or say which by --format",
            FORMATS.join(", .")
        )),
    }
}

async fn speak(client: &Client, out: &Output, say: Say) -> Result<()> {
    let to_stdout = say.output.as_deref() == Some(Path::new("-"));
    let stdout = std::io::stdout();
    if to_stdout && (out.is_json() || stdout.is_terminal()) {
        bail!("standard output is no place for audio here: name a file with --output");
    }
    let text = match say.text {
        Some(text) => text,
        None => std::io::read_to_string(std::io::stdin()).context("no text on standard input")?,
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
        .context("no audio came")?;
    let audio = STANDARD.decode(audio).context("the audio cannot be read")?;
    if to_stdout {
        return Ok(stdout.lock().write_all(&audio)?);
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

async fn transcribe(client: &Client, out: &Output, asked: Transcribe) -> Result<()> {
    let audio = read(&asked.file)?;
    let heard = client
        .rpc(
            "stt.transcribe",
            params([
                ("audio", Some(json!(STANDARD.encode(audio)))),
                ("format", asked.format.map(Value::from)),
                ("language", asked.language.map(Value::from)),
                ("prompt", asked.prompt.map(Value::from)),
                ("provider", asked.provider.map(Value::from)),
                ("response_format", asked.subtitles.clone().map(Value::from)),
            ]),
        )
        .await?;
    let shown = if asked.subtitles.is_some() {
        "subtitles"
    } else {
        "text"
    };
    out.record(&heard, || {
        let text = heard.get(shown).and_then(Value::as_str).unwrap_or_default();
        if text.is_empty() {
            note("Nothing was said.");
        }
        for part in text.lines() {
            line(super::output::plain(part));
        }
    })
}

/// One byte more than is taken is enough to be refused.
fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin()
            .lock()
            .take(MOST_READ)
            .read_to_end(&mut bytes)?;
    } else {
        let cannot = || format!("cannot read {}", path.display());
        let file = std::fs::File::open(path).with_context(cannot)?;
        file.take(MOST_READ)
            .read_to_end(&mut bytes)
            .with_context(cannot)?;
    }
    Ok(bytes)
}

/// Everybody, with what they do.
async fn everybody(client: &Client) -> Result<Vec<(&'static str, Value)>> {
    let mut all = Vec::new();
    for (does, method) in [("speaks", "tts.providers"), ("listens", "stt.providers")] {
        let list = client.rpc(method, json!({})).await?;
        let list = list.as_array().cloned().unwrap_or_default();
        all.extend(list.into_iter().map(|one| (does, one)));
    }
    Ok(all)
}

fn is_configured(one: &Value) -> bool {
    one.get("configured") == Some(&Value::Bool(true))
}

async fn providers(client: &Client, out: &Output) -> Result<()> {
    let all = everybody(client).await?;
    let of = |wanted: &str| -> Vec<&Value> {
        let wanted = all.iter().filter(|(does, _)| *does == wanted);
        wanted.map(|(_, one)| one).collect()
    };
    let record = json!({ "tts": of("speaks"), "stt": of("listens") });
    let rows = all.iter().map(|(does, one)| {
        let configured = if is_configured(one) { "yes" } else { "no" };
        vec![
            field(one, "id"),
            field(one, "name"),
            (*does).to_owned(),
            configured.to_owned(),
        ]
    });
    let head = ["id", "name", "does", "configured"];
    out.table(&record, &head, rows.collect(), "There are none.")
}

/// What is set, and with `--try` whether it works. Fails when something configured does not.
async fn doctor(client: &Client, out: &Output, is_tried: bool) -> Result<ExitCode> {
    let mut checks = vec![chosen(client, "tts").await?, chosen(client, "stt").await?];
    if is_tried {
        checks.extend(tried(client).await?);
    }
    let fails = |check: &Value| check.get("ok") != Some(&Value::Bool(true));
    let failed = checks.iter().any(fails);
    out.record(&json!({ "checks": checks }), || {
        for check in &checks {
            let mark = if fails(check) {
                bad("✗")
            } else {
                good("✓")
            };
            line(format!("{mark} {}", field(check, "message")));
        }
    })?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// What came of having everybody speak, and of having everybody listen to what was spoken first.
async fn tried(client: &Client) -> Result<Vec<Value>> {
    let (mut checks, mut recording) = (Vec::new(), None);
    for id in usable(client, "tts").await? {
        let text = format!("{SENTENCE} {}.", std::process::id());
        let params = json!({ "text": text, "format": "wav", "provider": id });
        let (check, answer) = call(client, "tts.convert", params, &id).await;
        checks.push(check);
        recording =
            recording.or(answer.and_then(|mut answer| answer.get_mut("audio").map(Value::take)));
    }
    for id in usable(client, "stt").await? {
        let Some(recording) = &recording else {
            let message = format!("{id} was not tried: nobody spoke");
            checks.push(json!({ "id": id, "ok": true, "message": message }));
            continue;
        };
        let params = json!({ "audio": recording, "provider": id });
        checks.push(call(client, "stt.transcribe", params, &id).await.0);
    }
    Ok(checks)
}

/// Those that are configured, of those that are shown; and the chosen one, which may be hidden.
async fn usable(client: &Client, section: &str) -> Result<Vec<String>> {
    let list = client
        .rpc(&format!("{section}.providers"), json!({}))
        .await?;
    let status = client.rpc(&format!("{section}.status"), json!({})).await?;
    let shown = list.as_array().into_iter().flatten();
    let shown = shown.filter(|one| is_configured(one));
    let mut ids: Vec<String> = shown.map(|one| field(one, "id")).collect();
    let chosen = field(&status, "provider");
    if is_configured(&status) && !ids.contains(&chosen) {
        ids.push(chosen);
    }
    Ok(ids)
}

/// Who is chosen. That nobody is, or that it is off, is no failure: not everybody wants voice.
async fn chosen(client: &Client, section: &str) -> Result<Value> {
    let status = client.rpc(&format!("{section}.status"), json!({})).await?;
    let does = if section == "tts" {
        "speaks"
    } else {
        "listens"
    };
    let id = field(&status, "provider");
    let is_on = status.get("enabled") == Some(&Value::Bool(true));
    let (ok, message) = match (is_on, id.as_str()) {
        (false, _) => (true, format!("Nobody {does}: switched off")),
        (true, "") => (true, format!("Nobody {does}: no provider is configured")),
        (true, id) if is_configured(&status) => (true, format!("{id} {does}")),
        (true, id) => (
            false,
            format!("{id} is chosen, but what it needs is not set"),
        ),
    };
    Ok(json!({ "id": section, "ok": ok, "message": message }))
}

/// Calls a provider, and says how that went.
async fn call(client: &Client, method: &str, params: Value, id: &str) -> (Value, Option<Value>) {
    let begun = Instant::now();
    let answer = client.rpc(method, params).await;
    let seconds = begun.elapsed().as_secs_f64();
    match answer {
        Ok(answer) => {
            let heard = answer.get("text").and_then(Value::as_str);
            let heard = heard.map(|text| format!(": “{}”", super::output::plain(text)));
            let message = format!(
                "{id} answered in {seconds:.1} s{}",
                heard.unwrap_or_default()
            );
            (
                json!({ "id": id, "ok": true, "message": message }),
                Some(answer),
            )
        }
        Err(error) => {
            let message = format!("{id}: {error}");
            (json!({ "id": id, "ok": false, "message": message }), None)
        }
    }
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
            ("a.flac", None, Err(())),
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
