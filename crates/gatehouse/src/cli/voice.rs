//! `voice`: speak and transcribe from a shell, and inspect the providers.

mod doctor;
mod say;

use super::client::Client;
use super::globals::Globals;
use super::output::{Output, field, line, note};
use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The server's limit on audio, plus one byte.
const MOST_READ: u64 = (25 << 20) + 1;

/// `gatehouse voice …`
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Speak a text into a file
    Say(Box<say::Say>),
    /// Transcribe a recording
    Transcribe(Box<Transcribe>),
    /// List the speech providers
    Providers,
    /// Check the configuration; with --try, call the providers
    Doctor {
        /// Let every configured provider speak or transcribe a sentence; vendors may charge for this
        #[arg(long)]
        r#try: bool,
    },
}

/// `gatehouse voice transcribe`
#[derive(Debug, clap::Args)]
pub struct Transcribe {
    /// The recording; - is standard input
    file: PathBuf,
    /// The language, such as en
    #[arg(long)]
    language: Option<String>,
    /// Names and words that the recording may contain
    #[arg(long)]
    prompt: Option<String>,
    /// The provider
    #[arg(long)]
    provider: Option<String>,
    /// The format, if it cannot be detected: pcm
    #[arg(long)]
    format: Option<String>,
    /// Print subtitles instead of the text
    #[arg(long, value_parser = ["srt", "vtt"])]
    subtitles: Option<String>,
}

/// Runs a `voice` command.
pub async fn run(globals: &Globals, out: &Output, command: Command) -> Result<ExitCode> {
    let layers = globals.layers()?;
    let client = Client::new(globals, &layers)?;
    match command {
        Command::Say(say) => return say::run(&client, out, *say).await,
        Command::Transcribe(asked) => transcribe(&client, out, *asked).await?,
        Command::Providers => providers(&client, out).await?,
        Command::Doctor { r#try } => return doctor::run(&client, out, r#try).await,
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds an object from the members that have a value.
fn params<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let given = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(given.collect::<Map<_, _>>())
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
            note("No speech was recognized.");
        }
        for part in text.lines() {
            line(super::output::plain(part));
        }
    })
}

/// Reads one byte more than the limit. The server then rejects a file that is too long.
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

/// Returns all providers, with the kind of each.
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
    out.table(&record, &head, rows.collect(), "No providers.")
}
